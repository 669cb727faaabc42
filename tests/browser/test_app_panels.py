"""What a person sees and does of a running app: its source, its size, its console."""

from pathlib import Path

import pytest

from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

NOISY = """<!doctype html>
<title>Noisy</title>
<p>here</p>
<script>
webMcp.registerTool({
  name: "say",
  description: "Say something to the console",
  parameters: { type: "object", properties: { how: { type: "string" } }, required: ["how"] },
  execute: ({ how }) => {
    if (how === "error") console.error("broken", { at: 7 }, new TypeError("no wheel"));
    if (how === "warn") console.warn("careful");
    if (how === "log") console.log("not a line");
    if (how === "throw") setTimeout(() => { throw new RangeError("too far"); });
    if (how === "reject") Promise.reject(new Error("promised"));
    if (how === "often") for (let i = 0; i < 500; i += 1) console.error(`line ${i}`);
    return "said";
  },
});
</script>
"""
RUNS = "window.__ran ?? document.querySelectorAll('main h6').length"


@pytest.fixture
def noisy(room: RoomPage, apps: Path) -> RoomPage:
    """A room where the app runs."""
    (apps / "noisy.html").write_text(NOISY)
    room.card("app_noisy").wait_for()
    room.start("app_noisy", "say")
    return room


def say(room: RoomPage, *how: str) -> None:
    """Let the app say these things, one after the other."""
    for one in how:
        assert room.relay.call("say", {"how": one})["result"] == "said"


def test_the_source_is_shown_as_text_and_copied(room: RoomPage, apps: Path) -> None:
    html = "<!doctype html><title>Plain</title><h6>x</h6><script>top.__ran = 7;</script>"
    (apps / "plain.html").write_text(html)
    room.context.grant_permissions(["clipboard-read", "clipboard-write"])
    source = room.card("app_plain").get_by_role("button", name="View source")
    source.click()
    dialog = room.page.get_by_role("dialog", name="Source of Plain")
    assert dialog.locator("pre").text_content() == html
    assert dialog.locator("pre *").count() == 0
    assert room.page.evaluate(RUNS) == 0
    dialog.get_by_role("button", name="Copy").click()
    dialog.get_by_text("in the clipboard").wait_for()
    assert room.page.evaluate("navigator.clipboard.readText()") == html
    room.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert source.evaluate("button => button === document.activeElement")
    assert room.errors == []


def test_a_source_that_is_gone_is_told(room: RoomPage, apps: Path) -> None:
    (apps / "brief.html").write_text("<title>Brief</title>")
    source = room.card("app_brief").get_by_role("button", name="View source")
    source.wait_for()
    room.page.route("**/api/mini-apps?id=*", lambda route: route.abort())
    source.click()
    room.page.get_by_role("alert").filter(has_text="source of Brief did not load").wait_for()


def test_an_app_has_three_sizes_and_keeps_running(noisy: RoomPage) -> None:
    panel = noisy.panel("app_noisy")
    noisy.start("app_slow", "never")
    noisy.inner("app_noisy").evaluate("window.mark = 7")
    small = panel.bounding_box()
    panel.get_by_role("button", name="Wide").click()
    wide = panel.bounding_box()
    assert small is not None
    assert wide is not None
    assert wide["width"] > small["width"]
    full = panel.get_by_role("button", name="Full")
    full.click()
    covering = panel.bounding_box()
    mic = noisy.page.locator("#mic").bounding_box()
    assert covering is not None
    assert mic is not None
    assert covering["height"] == 900
    assert mic["x"] + mic["width"] < covering["x"]  # the microphone is never covered
    assert full.get_attribute("aria-pressed") == "true"
    assert noisy.panel("app_slow").evaluate("panel => panel.inert")
    noisy.page.keyboard.press("Escape")
    assert panel.get_attribute("data-size") == "normal"
    assert full.evaluate("button => button === document.activeElement")
    assert not noisy.panel("app_slow").evaluate("panel => panel.inert")
    assert noisy.inner("app_noisy").evaluate("window.mark") == 7  # it was never loaded anew
    assert noisy.popups == []


def test_on_a_tablet_full_size_leaves_the_microphone_free(open_room: OpenRoom) -> None:
    room = open_room(viewport={"width": 768, "height": 900})
    room.start("app_slow", "never")
    room.panel("app_slow").get_by_role("button", name="Full").click()
    for scrolled in (0, 600):
        room.page.evaluate(f"scrollTo(0, {scrolled})")
        mic = room.page.locator("#mic").bounding_box()
        covering = room.panel("app_slow").bounding_box()
        assert mic is not None
        assert covering is not None
        assert 0 <= mic["y"] < mic["y"] + mic["height"] < covering["y"]


def test_the_app_beside_one_of_full_size_still_draws(noisy: RoomPage) -> None:
    noisy.start("app_slow", "never")
    noisy.panel("app_slow").get_by_role("button", name="Full").click()
    drawn = "new Promise((done) => requestAnimationFrame(() => done(true)))"
    assert noisy.inner("app_noisy").evaluate(drawn) is True


def test_stopping_an_app_of_full_size_uncovers_the_rest(noisy: RoomPage) -> None:
    noisy.panel("app_noisy").get_by_role("button", name="Full").click()
    assert noisy.page.locator("#tray").evaluate("tray => tray.inert")
    noisy.stop("app_noisy")
    assert not noisy.page.locator("#tray").evaluate("tray => tray.inert")


def test_errors_and_warnings_of_an_app_stand_in_its_panel(noisy: RoomPage) -> None:
    panel = noisy.panel("app_noisy")
    assert not panel.locator(".app-console").is_visible()
    say(noisy, "error", "warn", "log", "throw", "reject")
    count = panel.locator(".app-console .count")
    noisy.wait_for(lambda: count.text_content() == "4")
    panel.get_by_text("Console").click()
    panel.get_by_role("listitem").nth(3).wait_for()
    shown = panel.locator(".console-line > :not(time)").all_text_contents()
    assert [f"{kind}: {text}" for kind, text in zip(shown[::2], shown[1::2], strict=True)] == [
        "Uncaught: Error: promised",
        "Uncaught: RangeError: too far (line 13)",
        "Warning: careful",
        'Error: broken {"at":7} TypeError: no wheel',
    ]
    assert "4 lines in its console" in (noisy.card("app_noisy").text_content() or "")
    assert len([toast for toast in noisy.toasts() if "has an error" in toast]) == 1


def test_more_lines_than_are_kept_are_counted(noisy: RoomPage) -> None:
    say(noisy, "often")
    panel = noisy.panel("app_noisy")
    noisy.wait_for(lambda: panel.locator(".count").text_content() == "500")
    panel.get_by_text("Console").click()
    panel.get_by_role("listitem").first.wait_for()
    shown = panel.get_by_role("listitem").count()
    assert 20 <= shown <= 100  # more than one second's, if the machine was slow
    panel.get_by_text(f"{500 - shown} more were too many").wait_for()
    noisy.panel("app_noisy").get_by_role("button", name="Restart").click()
    noisy.wait_for_state("app_noisy", "running")
    assert not panel.locator(".app-console").is_visible()


def test_the_card_says_how_the_app_is_doing(noisy: RoomPage, open_room: OpenRoom) -> None:
    card = noisy.card("app_noisy")
    noisy.wait_for(lambda: "Running · Tools: say" in (card.text_content() or ""))
    noisy.inner("app_noisy").evaluate("location.reload(); null")
    noisy.wait_for_state("app_noisy", "lost")
    assert "Lost its connection" in (card.text_content() or "")
    card.get_by_role("button", name="Launch").click()
    noisy.wait_for_state("app_noisy", "running")
    assert open_room().card("app_noisy").get_by_role("button", name="Launch").is_visible()
