"""The room's smaller tools: the log and its filter, shortcuts, captions to take along."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import scripted

pytestmark = pytest.mark.browser

# A conversation: any typed turn is answered at length, so that the next one cuts it off
TALKATIVE = {
    "steps": [
        {"hear": {"text": ""}},
        {"user": "A typed turn."},
        {"assistant": "A long answer."},
        {"tone": {"hz": 330, "ms": 8000}},
        {"end": True},
        {"repeat": True},
    ]
}


@pytest.fixture(scope="module")
def relay(apps: Path) -> Iterator[RelayProcess]:
    with scripted(apps, TALKATIVE) as started:
        yield started


def say(room: RoomPage, text: str) -> None:
    """Type a turn."""
    room.page.get_by_label("Type what you want done").fill(text)
    room.page.keyboard.press("Enter")


def test_the_log_says_refusals_in_words_and_is_filtered(room: RoomPage) -> None:
    room.start("app_scoreboard", "set_score")
    room.relay.call("set_score", {"team": "home", "points": 3})
    room.relay.call("reset_scores", {})
    room.relay.call("set_score", {"team": "nobody", "points": 3})
    rows = room.page.locator("#tool-log > li")
    refused = room.page.locator("#tool-log .log-code", has_text="invalid-argument-enum")
    refused.wait_for()
    assert "Refused: " in (rows.first.text_content() or "")
    found = room.page.get_by_label("Filter")
    found.fill("SCORE enum")
    assert rows.locator("visible=true").first.text_content() == rows.first.text_content()
    assert [row.is_visible() for row in rows.all()][:3] == [True, False, False]
    found.fill("no such tool")
    assert room.page.get_by_text("No call matches.").is_visible()
    room.relay.call("set_score", {"team": "home", "points": 1})
    room.wait_for(lambda: rows.first.get_attribute("data-state") == "ok")
    assert not rows.first.is_visible()
    found.fill("")
    assert rows.first.is_visible()
    assert room.errors == []


def test_a_call_spins_until_its_outcome_stands(room: RoomPage) -> None:
    room.start("app_slow", "never")
    call = """fetch("/api/call", {method: "POST", headers: {"Content-Type": "application/json",
      Authorization: `Bearer ${localStorage.getItem("voicebox.token")}`},
      body: JSON.stringify({name: "never", args: {}})}); null"""
    room.page.evaluate(call)
    row = room.page.locator('#tool-log > li[data-tool="never"]').first
    row.wait_for()
    spins = "row => getComputedStyle(row.querySelector('.log-outcome'), '::before').animationName"
    assert row.evaluate(spins) == "turn"
    room.stop("app_slow")
    room.wait_for(lambda: row.get_attribute("data-state") == "refused")
    assert row.evaluate(spins) == "none"


def test_the_question_mark_opens_the_shortcuts_and_escape_closes_them(room: RoomPage) -> None:
    page = room.page
    dialog = page.get_by_role("dialog", name="Shortcuts")
    page.get_by_role("button", name="Send").focus()
    page.keyboard.press("?")
    dialog.wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "Send"
    field = page.get_by_label("Type what you want done")
    field.press("?")
    assert field.input_value() == "?"
    assert not dialog.is_visible()


def test_single_keys_can_be_turned_off_for_good(room: RoomPage) -> None:
    page = room.page
    dialog = page.get_by_role("dialog", name="Shortcuts")
    page.get_by_role("button", name="Shortcuts").click()
    dialog.get_by_label("Single keys").uncheck()
    dialog.get_by_role("button", name="Close").click()
    page.reload()
    page.wait_for_selector("#connection[data-state=open]")
    page.keyboard.press("?")
    assert not dialog.is_visible()
    page.get_by_role("button", name="Shortcuts").click()
    dialog.wait_for()


def test_escape_leaves_an_apps_controls_for_its_card(room: RoomPage) -> None:
    room.start("app_slow", "never")
    room.panel("app_slow").get_by_role("button", name="Restart").focus()
    room.page.keyboard.press("Escape")
    button = room.card("app_slow").locator(".launch")
    assert button.evaluate("button => button === document.activeElement")
    assert room.state("app_slow") == "running"


def test_captions_mark_what_was_cut_off_and_can_be_taken_along(room: RoomPage) -> None:
    room.context.grant_permissions(["clipboard-read", "clipboard-write"])
    say(room, "hello")
    room.page.locator(".caption-assistant").wait_for()
    room.page.wait_for_selector("#mic[data-state=Speaking]")
    say(room, "stop")
    room.page.get_by_text("(interrupted)").wait_for()
    room.page.locator(".caption-assistant").nth(1).wait_for()
    wanted = ["You: A typed turn.", "Voicebox: A long answer. (interrupted)"]
    room.page.get_by_role("button", name="Copy").click()
    room.page.locator(".toast", has_text="in the clipboard").wait_for()
    copied = str(room.page.evaluate("navigator.clipboard.readText()"))
    assert copied.splitlines()[:2] == wanted
    with room.page.expect_download() as saved:
        room.page.get_by_role("button", name="Save as text").click()
    assert saved.value.suggested_filename == "captions.txt"
    assert Path(saved.value.path()).read_text().splitlines()[:2] == wanted


TAKES_BACK = """async () => {
  const { Captions } = await import("/static/ui/captions.js");
  const [list, empty, tools] = ["div", "p", "p"].map((name) => document.createElement(name));
  const captions = new Captions(list, empty, tools);
  const said = { role: "user", turnId: "turn_1" };
  const seen = [];
  for (const [text, final] of [["stop the", false], ["stop the tide", false], ["", true]]) {
    captions.show({ ...said, text, final });
    seen.push([captions.text(), list.querySelectorAll(".caption-interim").length]);
  }
  captions.show({ ...said, text: "", final: true });
  captions.show({ role: "user", turnId: "turn_2", text: "hello", final: true });
  return [...seen, [captions.text(), list.querySelectorAll(".caption-interim").length]];
}"""


def test_words_that_are_shown_too_early_can_be_taken_back(room: RoomPage) -> None:
    assert room.page.evaluate(TAKES_BACK) == [
        ["You: stop the\n", 1],
        ["You: stop the tide\n", 1],
        ["", 0],
        ["You: hello\n", 0],
    ]


def test_a_shelf_tool_is_tried_by_a_form_made_from_its_schema(room: RoomPage) -> None:
    page = room.page
    page.get_by_text("Try hash").click()
    form = page.get_by_role("form", name="Try hash")
    form.get_by_role("textbox").fill("hello")
    form.get_by_role("button", name="Run").click()
    outcome = form.locator("output")
    outcome.filter(has_text="2cf24dba5fb0a30e26e83b2ac5b9e29e").wait_for()
    page.locator('#shelf > [data-tool="hash"] .shelf-last[data-state="ok"]').wait_for()
    last = page.locator('#shelf > [data-tool="hash"] .shelf-last').text_content() or ""
    assert last.startswith("last run ok just now, ")
    assert last.endswith(" ms")
    page.get_by_text("confined by: ").filter(has_not_text="after the first call").wait_for()
    form.get_by_role("textbox").fill("x" * 9_000)
    form.get_by_role("button", name="Run").click()
    form.locator("output .log-code").wait_for()
    assert (outcome.text_content() or "").startswith("Refused: ")
    assert room.errors == []
