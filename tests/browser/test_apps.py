"""Launch, restart, stop: what the person sees, and what a model can call meanwhile."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

EXAMPLES = {
    "scoreboard": (
        ["reset_scores", "set_score"],
        ("set_score", {"team": "home", "points": 3}),
        {"ok": True, "currentScore": 3},
    ),
    "timer": (
        ["start_timer", "stop_timer"],
        ("start_timer", {"minutes": 5, "label": "Tea"}),
        {"ok": True, "seconds": 300, "label": "Tea"},
    ),
    "lights": (
        ["set_brightness", "set_light"],
        ("set_light", {"room": "kitchen", "on": True}),
        {"ok": True, "room": "kitchen", "on": True, "percent": 80},
    ),
}


def id_of(room: RoomPage, file: str) -> str:
    """The id of the example whose card names that file."""
    found = room.relay.ask("GET", "/api/mini-apps")["miniApps"]
    return str(next(app["appId"] for app in found if app["fileName"] == f"{file}.html"))


@pytest.mark.parametrize("file", EXAMPLES)
def test_an_example_is_launched_restarted_and_stopped(room: RoomPage, file: str) -> None:
    tools, call, result = EXAMPLES[file]
    app = id_of(room, file)
    room.start(app, *tools)
    assert room.relay.app_tools(app) == tools
    assert room.relay.call(*call)["result"] == result

    room.panel(app).get_by_role("button", name="Restart").click()
    room.wait_for_state(app, "running")
    room.wait_for(lambda: room.relay.app_tools(app) == tools)
    assert room.panel(app).count() == 1
    assert room.relay.call(*call)["result"] == result

    room.stop(app)
    room.wait_for(lambda: room.relay.app_tools(app) == [])
    assert room.relay.call(*call)["refused"] in {"tool-withdrawn", "unknown-tool"}
    assert room.errors == []


def test_a_call_moves_the_app_and_stands_in_the_log(room: RoomPage) -> None:
    app = id_of(room, "scoreboard")
    room.start(app, "set_score")
    room.relay.call("set_score", {"team": "home", "points": 3})
    room.relay.call("set_score", {"team": "nobody", "points": 3})
    assert room.inner(app).locator("#home-score").text_content() == "3"
    rows = room.page.locator("#tool-log > li")
    rows.nth(1).wait_for()
    ok, refused = rows.nth(1).text_content() or "", rows.nth(0).text_content() or ""
    assert "Scoreboard" in ok
    assert "set_score" in ok
    assert ok.endswith(" ms")
    assert "invalid-argument-enum" in refused


def test_the_inner_frame_may_run_scripts_and_nothing_else(room: RoomPage) -> None:
    app = id_of(room, "scoreboard")
    room.start(app)
    outer = room.panel(app).locator("iframe").element_handle().content_frame()
    assert outer is not None
    inner = outer.locator("#inner-app")
    assert inner.get_attribute("sandbox") == "allow-scripts"
    assert inner.get_attribute("allow") == ""
    assert room.inner(app).evaluate("[self.origin, document.compatMode]") == ["null", "CSS1Compat"]


def test_a_model_launches_and_closes_an_app(room: RoomPage) -> None:
    app = id_of(room, "timer")
    assert room.relay.call("launch_mini_app", {"name": "timer"})["ok"] is True
    room.wait_for_state(app, "running")
    assert room.relay.call("close_mini_app", {"name": "timer"})["ok"] is True
    room.panel(app).wait_for(state="detached")


def test_an_app_that_is_saved_appears_and_one_that_is_deleted_goes(room: RoomPage) -> None:
    html = "<!doctype html><title>Brand new</title><p>hello"
    saved = room.relay.ask("POST", "/api/mini-apps", {"html": html, "title": "Brand new"})
    app = saved["miniApp"]["appId"]
    room.card(app).wait_for()
    room.launch(app)
    assert room.inner(app).locator("p").text_content() == "hello"
    assert room.relay.ask("DELETE", f"/api/mini-apps?id={app}")["ok"] is True
    room.card(app).wait_for(state="detached")


def test_the_hint_that_a_tool_destroys_comes_through_the_sandbox(
    room: RoomPage, apps: Path
) -> None:
    declare = (
        "({name, annotations: {destructiveHint: true, title: 'x'}, description: 'd',"
        " inputSchema: {type: 'object'}, execute: () => 1})"
    )
    (apps / "eraser.html").write_text(
        f"<title>Eraser</title><script>const tool = (name) => {declare};"
        "webMcp.registerTool(tool('erase_one'));"
        "document.modelContext.registerTool(tool('erase_two'));"
        "webMcp.registerTool({...tool('keep'), annotations: {readOnlyHint: true}});</script>"
    )
    app = "app_eraser"
    room.card(app).wait_for()
    room.start(app, "erase_one")
    room.wait_for(lambda: len(room.relay.app_tools(app)) == 3)
    tools = room.relay.ask("GET", "/api/tools")["tools"]
    told = {tool["name"]: tool.get("destructive") for tool in tools if tool.get("appId") == app}
    assert told == {"erase_one": True, "erase_two": True, "keep": None}


@pytest.mark.timeout(120)
def test_fifty_launches_leave_nothing_behind(room: RoomPage, apps: Path) -> None:
    first_script = "webMcp.registerTool({name:'at_once',description:'x',execute:()=>1})"
    (apps / "quick.html").write_text(f"<title>Quick</title><script>{first_script}</script>")
    app = "app_quick"
    room.card(app).wait_for()
    for _ in range(50):
        room.start(app, "at_once")
        room.stop(app)
        room.wait_for(lambda: room.relay.app_tools() == [])
    assert room.page.locator("iframe").count() == 0
    assert len(room.page.frames) == 1
    assert room.toasts() == []


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_room_works_under_each_name_of_this_machine(open_room: OpenRoom, name: str) -> None:
    room = open_room()
    room.open(room.relay.link.replace("127.0.0.1", name))
    room.start(id_of(room, "scoreboard"), "set_score")
    assert room.errors == []


def test_a_page_that_dies_during_a_call_refuses_it_and_the_conversation_lives_on(
    open_room: OpenRoom, browser: Browser, relay: RelayProcess
) -> None:
    talking = open_room()
    running = RoomPage(browser, relay)
    running.open()
    running.start("app_slow", "never")
    talking.page.get_by_label("Type what you want done").fill("go")
    talking.page.keyboard.press("Enter")
    row = talking.page.locator('#tool-log > li[data-tool="never"]')
    row.wait_for()
    running.die()
    talking.page.wait_for_selector('#tool-log > li[data-tool="never"][data-state="refused"]')
    assert "mini-app-unreachable" in (row.text_content() or "")
    captions = talking.page.locator(".caption-assistant")
    captions.first.wait_for()
    say_again(talking)
    captions.nth(1).wait_for()


def say_again(room: RoomPage) -> None:
    """The conversation answers another turn."""
    room.page.get_by_label("Type what you want done").fill("again")
    room.page.keyboard.press("Enter")


def test_two_pages_of_a_room_offer_each_their_own_app(open_room: OpenRoom) -> None:
    first, second = open_room(), open_room()
    first.start(id_of(first, "scoreboard"), "set_score")
    second.start(id_of(second, "timer"), "start_timer")
    outcomes: list[dict[str, Any]] = []
    calls = [("set_score", {"team": "away", "points": 1}), ("start_timer", {"minutes": 1})]
    threads = [
        threading.Thread(target=lambda call=call: outcomes.append(first.relay.call(*call)))
        for call in calls
    ]
    for thread in threads:
        thread.start()
    first.wait_for(lambda: len(outcomes) == 2)
    assert all(outcome["ok"] for outcome in outcomes), json.dumps(outcomes)
