"""What a person does about a call in the log: end it while it runs, run it again."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator

from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

# One tool of every kind of field; the other ends only when it is told to, and says so
APP = """<!doctype html>
<title>Calls</title>
<p id="ended"></p>
<script>
const text = (description) => ({ type: "string", description });
webMcp.registerTool({
  name: "order",
  description: "Order something",
  parameters: {
    type: "object",
    properties: {
      dish: text("What"),
      note: text("More"),
      size: { type: "string", enum: ["small", "large"] },
      count: { type: "integer" },
      hot: { type: "boolean" },
      with: { type: "array", items: { type: "string" } },
    },
    required: ["dish"],
  },
  execute: (args) => args,
});
webMcp.registerTool({
  name: "wait",
  description: "Wait until told to end",
  execute: (args, { signal }) => new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      document.getElementById("ended").textContent = signal.reason.message;
      resolve("late");
    });
  }),
});
</script>
"""
ORDER = {"dish": "soup", "size": "large", "count": 2, "hot": False, "with": ["bread"]}


@pytest.fixture
def calls(room: RoomPage, apps: Path) -> RoomPage:
    """A room where the app runs."""
    (apps / "calls.html").write_text(APP)
    room.card("app_calls").wait_for()
    room.start("app_calls", "order", "wait")
    return room


def row(room: RoomPage, tool: str) -> Locator:
    """The newest call of the tool."""
    return room.page.locator(f'#tool-log > li[data-tool="{tool}"]').first


def begun(room: RoomPage, relay: RelayProcess, pool: ThreadPoolExecutor) -> Future[dict[str, Any]]:
    """A call from elsewhere that goes on until it is ended."""
    calling = pool.submit(relay.call, "wait", {})
    row(room, "wait").wait_for()
    assert row(room, "wait").get_attribute("data-state") == "running"
    return calling


def test_a_running_call_is_ended_by_hand_and_all_who_asked_are_told(
    calls: RoomPage, relay: RelayProcess
) -> None:
    with ThreadPoolExecutor() as pool:
        calling = begun(calls, relay, pool)
        cancel = row(calls, "wait").get_by_role("button", name="Cancel")
        cancel.focus()
        calls.page.keyboard.press("Enter")
        outcome = calling.result()
    assert (outcome["refused"], outcome["why"]) == (
        "cancelled",
        "the call was cancelled: the person at the page ended it",
    )
    row(calls, "wait").locator(".log-code", has_text="cancelled").wait_for()
    assert cancel.count() == 0
    again = row(calls, "wait").get_by_role("button", name="Run again")
    assert again.evaluate("button => button === document.activeElement")
    ended = calls.inner("app_calls").locator("#ended")
    calls.wait_for(lambda: ended.text_content() == "the person at the page ended it")
    assert calls.errors == []


def test_a_call_that_another_page_runs_has_no_cancel_here(
    calls: RoomPage, open_room: OpenRoom, relay: RelayProcess
) -> None:
    elsewhere = open_room()
    with ThreadPoolExecutor() as pool:
        calling = begun(calls, relay, pool)
        row(elsewhere, "wait").wait_for()
        assert row(elsewhere, "wait").get_by_role("button").count() == 0
        row(calls, "wait").get_by_role("button", name="Cancel").click()
        assert calling.result()["refused"] == "cancelled"
    row(elsewhere, "wait").get_by_role("button", name="Run again").wait_for()


def test_a_call_is_run_again_with_what_it_was_given(calls: RoomPage, relay: RelayProcess) -> None:
    page = calls.page
    assert relay.call("order", ORDER)["result"] == ORDER
    assert '"dish":"soup"' in (row(calls, "order").locator(".log-args").text_content() or "")
    row(calls, "order").get_by_role("button", name="Run again").click()
    dialog = page.get_by_role("dialog", name="Run order again")
    assert dialog.get_by_label("dish").input_value() == "soup"
    assert dialog.get_by_label("note").input_value() == ""
    assert dialog.get_by_label("with").input_value() == '["bread"]'
    dialog.get_by_label("dish").fill("stew")
    dialog.get_by_role("button", name="Run").click()
    told = dialog.locator("output[data-state=ok]")
    told.wait_for()
    assert relay.frames()[-1]["name"] == "order"
    assert '"dish": "stew"' in (told.text_content() or "")
    assert '"hot": false' in (told.text_content() or "")
    assert "note" not in (told.text_content() or "")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert focused_in(row(calls, "order").locator("xpath=following-sibling::li[1]"))
    assert '"dish":"stew"' in (row(calls, "order").locator(".log-args").text_content() or "")
    assert calls.errors == []


def focused_in(place: Locator) -> bool:
    """Whether the keyboard is there."""
    return bool(place.evaluate("place => place.contains(document.activeElement)"))


def test_a_call_from_the_form_is_ended_there(calls: RoomPage, relay: RelayProcess) -> None:
    with ThreadPoolExecutor() as pool:
        calling = begun(calls, relay, pool)
        row(calls, "wait").get_by_role("button", name="Cancel").click()
        calling.result()
    row(calls, "wait").get_by_role("button", name="Run again").click()
    dialog = calls.page.get_by_role("dialog", name="Run wait again")
    dialog.get_by_role("button", name="Run").click()
    dialog.get_by_role("button", name="Cancel").click()
    dialog.locator("output .log-code", has_text="cancelled").wait_for()
    calls.wait_for(lambda: relay.frames()[-1]["state"] == "done")
    assert relay.frames()[-1]["refused"] == "cancelled"
    ended = calls.inner("app_calls").locator("#ended")
    calls.wait_for(lambda: ended.text_content() == "cancelled")


def test_arguments_that_nobody_told_are_left_open(calls: RoomPage, relay: RelayProcess) -> None:
    relay.call("hash", {"input": "hello"})
    row(calls, "hash").get_by_role("button", name="Run again").click()
    dialog = calls.page.get_by_role("dialog", name="Run hash again")
    dialog.get_by_text("are not known to this page").wait_for()
    assert dialog.get_by_role("textbox").input_value() == ""


def test_what_nobody_offers_any_more_is_not_run_again(calls: RoomPage, relay: RelayProcess) -> None:
    relay.call("order", ORDER)
    row(calls, "order").get_by_role("button", name="Run again").wait_for()
    calls.stop("app_calls")
    calls.wait_for(lambda: "order" not in relay.tools())
    row(calls, "order").get_by_role("button", name="Run again").click()
    calls.page.get_by_role("alert").filter(has_text="Nothing offers order now").wait_for()
    assert calls.page.get_by_role("dialog").count() == 0
