"""What was reported of other products, where it takes more than one file and its row in `cases`."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scripts.attack_lab.lab import ATTACK, Lab
from scripts.attack_lab.room_tab import RoomTab
from scripts.browser_lab.chromium import chromium
from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage

pytestmark = pytest.mark.browser

LAUNCHES = 50
QUICK = b"""<title>Quick</title>
<script>webMcp.registerTool({ name: "at_once", description: "x", execute: () => 1 })</script>
"""
PAGE = "page_listed"
PAGE_HTML = """<!doctype html>
<title>Listed</title>
<script>webMcp.registerTool({ name: "of_a_page", description: "x", execute: () => 1 })</script>
"""
OPAQUE = {"sandbox": "allow-scripts", "allow": "", "src": None, "srcdoc": True}


def inner_frame(room: RoomTab, app_id: str) -> Any:
    """The attributes of the frame in which the app's document runs."""
    panel = json.dumps(f"#mini-app-container > [data-app-id={app_id}] iframe")
    return room.evaluate(
        f"""(() => {{
          const bridge = document.querySelector({panel})?.contentDocument;
          const inner = bridge?.getElementById("inner-app");
          return inner && {{
            sandbox: inner.getAttribute("sandbox"),
            allow: inner.getAttribute("allow"),
            src: inner.getAttribute("src"),
            srcdoc: inner.srcdoc.startsWith("<!doctype html>"),
          }};
        }})()"""
    )


@pytest.fixture
def listed_page(lab: Lab) -> Iterator[str]:
    """A page in the workspace, which is no app; its id."""
    file = lab.workspace / "listed.html"
    file.write_text(PAGE_HTML, encoding="utf-8")
    yield PAGE
    file.unlink()


def test_the_frame_is_opaque_on_every_way_to_launch(lab: Lab) -> None:
    def launched(room: RoomTab) -> None:
        room.wait_for(lambda: "at_once" in lab.relay.tools(), "the app's tool")

    def launch_each_way(room: RoomTab) -> dict[str, Any]:
        launched(room)
        seen = {"card": inner_frame(room, ATTACK)}
        room.press(ATTACK, "Restart")
        room.wait_until("document.querySelector('#mini-app-container > [data-app-id=app_attack]')")
        launched(room)
        seen["restart"] = inner_frame(room, ATTACK)
        room.stop(ATTACK)
        room.wait_for(lambda: "at_once" not in lab.relay.tools(), "the end of the app")
        lab.relay.call("launch_mini_app", {"name": ATTACK})
        launched(room)
        return seen | {"model": inner_frame(room, ATTACK)}

    report = lab.run(QUICK, act=launch_each_way)
    assert report.contained()
    assert report.result == dict.fromkeys(("card", "restart", "model"), OPAQUE)


def test_a_page_that_is_only_listed_offers_no_tools(lab: Lab, listed_page: str) -> None:
    def open_it(room: RoomTab) -> dict[str, Any]:
        row = f"document.querySelector('#page-list > [data-app-id={listed_page}]')"
        room.wait_until(f"{row} !== null")
        before = "of_a_page" in lab.relay.tools()
        room.evaluate(f"{row}.querySelector('[aria-label^=Open]').click()")
        room.wait_for(lambda: "of_a_page" in lab.relay.tools(), "the page's tool")
        frame = inner_frame(room, listed_page)
        room.stop(listed_page)
        room.wait_for(lambda: "of_a_page" not in lab.relay.tools(), "the end of the page's tool")
        return {"before": before, "frame": frame}

    report = lab.run(b"<p>beside it", act=open_it)
    assert report.result == {"before": False, "frame": OPAQUE}


def test_rights_that_an_app_declares_are_not_granted_and_the_card_says_so(lab: Lab) -> None:
    html = (Path(__file__).parent / "apps/declares-rights.html").read_bytes()
    card = f"document.querySelector('#tray > [data-app-id={ATTACK}] .card-source').textContent"
    report = lab.run(html, act=lambda room: room.evaluate(card))
    assert report.contained()
    assert str(report.result).endswith("network: none")


def test_no_launch_fetches_the_sdk_or_a_script(lab: Lab) -> None:
    lab.run(b"<p>the room is open")
    before = len(lab.paths())
    lab.run(b"<p>hi")
    fetched = [path.partition("?")[0] for path in lab.paths()[before:]]
    assert "/mini-app-bridge.html" in fetched
    assert [path for path in fetched if path.endswith(".js")] == []


def alive_in_the_end(room: RoomTab, before: dict[str, int]) -> dict[str, int]:
    """What is left once no more is than before, or once that was waited for in vain."""
    left = room.alive()

    def is_swept() -> bool:
        nonlocal left
        left = room.alive()
        return all(left[kind] <= before[kind] for kind in before)

    with suppress(TimeoutError):
        room.wait_for(is_swept)
    return left


@pytest.mark.timeout(180)
def test_fifty_launches_register_at_once_and_leave_nothing_behind(lab: Lab) -> None:
    def launch_again_and_again(room: RoomTab) -> tuple[int, dict[str, int], dict[str, int]]:
        registered, first = 0, {}
        for count in range(LAUNCHES):
            if count:
                room.launch(ATTACK)
            room.wait_for(lambda: "at_once" in lab.relay.tools(), "the first script's tool")
            registered += 1
            room.stop(ATTACK)
            room.wait_for(lambda: "at_once" not in lab.relay.tools(), "the end of the app")
            if count == LAUNCHES // 10:
                room.wait(1.0)
                first = room.alive()
        return registered, first, alive_in_the_end(room, first)

    report = lab.run(QUICK, act=launch_again_and_again)
    registered, first, last = report.result
    assert report.contained()
    assert registered == LAUNCHES
    assert all(last[kind] <= first[kind] for kind in first), (first, last)
    assert report.toasts == []


def test_an_app_launched_twice_runs_once(lab: Lab) -> None:
    def press_twice(room: RoomTab) -> int:
        for _ in range(2):
            lab.relay.call("launch_mini_app", {"name": ATTACK})
        panels = f"document.querySelectorAll('#mini-app-container > [data-app-id={ATTACK}]')"
        return int(room.evaluate(f"{panels}.length"))

    report = lab.run(QUICK, act=press_twice)
    assert report.result == 1
    assert report.tools == ["at_once"]


def test_a_model_that_launches_an_app_takes_no_keyboard_from_who_writes(lab: Lab) -> None:
    """The app grabs from its first moment; who was writing gets the keyboard back each time."""
    html = (Path(__file__).parent / "apps/steal-the-keyboard.html").read_bytes()

    def write_meanwhile(room: RoomTab) -> str:
        room.stop(ATTACK)
        room.click("say-text")
        room.type_text("hello", 0.01)
        lab.relay.call("launch_mini_app", {"name": ATTACK})
        for _ in range(300):
            if room.state(ATTACK) == "stopped":
                break
            room.type_text("x", 0.03)
        return room.state(ATTACK)

    report = lab.run(html, act=write_meanwhile)
    assert report.result == "stopped"
    assert "stopped: it kept taking the keyboard" in " | ".join(report.toasts)


def test_a_press_in_the_room_takes_the_keyboard_back_also_if_the_browser_does_not(lab: Lab) -> None:
    """An app that grabs at the moment of the press can win the race for it; so does a default that
    is prevented, but each time."""
    fills_its_frame = b"<input style='position: fixed; inset: 0; width: 100%; height: 100%'>"
    frame = f"document.querySelector('#mini-app-container > [data-app-id={ATTACK}] iframe')"
    lose = "addEventListener('mousedown', (e) => e.preventDefault(), { capture: true, once: true })"

    def go_there_and_back(room: RoomTab) -> str:
        room.evaluate(f"{frame}.id = 'attack-frame'")
        room.click("attack-frame")
        room.wait_until(f"document.activeElement === {frame}")
        room.evaluate(lose)
        room.click("say-text")
        room.wait_until("document.activeElement.id === 'say-text'")
        room.type_text("words", 0.01)
        return str(room.evaluate("document.getElementById('say-text').value"))

    report = lab.run(fills_its_frame, act=go_there_and_back)
    assert report.app_state == "running"
    assert report.result.endswith("words")


def test_the_room_works_under_the_ipv6_name_of_this_machine() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    started = RelayProcess.by_cli("--provider", "script", "--host", "::1")
    with started as relay, chromium() as browser:
        room = RoomPage(browser, relay)
        room.open()
        app = next(a for a in relay.ask("GET", "/api/mini-apps")["miniApps"] if a["kind"] == "app")
        room.launch(app["appId"])
        room.wait_for_state(app["appId"], "running")
        assert room.errors == []
        room.close()
