"""Each way of a person through the room, to its end, without an error on the console.

Pictures of the steps go to the folder `artefacts`, for people to look at. How an app crashes
stands in `test_crash.py`, which needs another driver.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from scripts.browser_lab.chromium import beside
from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom, Shoot, scripted

pytestmark = pytest.mark.browser

SIZE = {"width": 1280, "height": 860}
# A model that moves the scoreboard at any turn, typed or spoken
MOVES = {
    "steps": [
        {"hear": {"text": "", "audioMs": 400}},
        {"user": "add three points to the home team"},
        {"call": {"name": "set_score", "args": {"team": "home", "points": 3}}},
        {"assistant": "Three points for the home team."},
        {"tone": {"ms": 200}},
        {"end": True},
        {"repeat": True},
    ]
}
BEEPING = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
SHY = ["--use-fake-device-for-media-stream"]  # nobody is there to allow it
DEAF = ["--use-fake-ui-for-media-stream"]
AWAY = "ERR_CONNECTION_REFUSED"
MOVED = '#tool-log > li[data-tool="set_score"][data-state="ok"]'
NAME = "(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()"


@pytest.fixture(scope="module")
def relay(apps: Path) -> Iterator[RelayProcess]:
    with scripted(apps, MOVES) as started:
        yield started


@contextmanager
def room_with(relay: RelayProcess, browser: Browser, *flags: str) -> Iterator[RoomPage]:
    """A room in a browser of its own, started with these flags."""
    with beside(browser, flags) as own:
        room = RoomPage(own, relay, viewport=SIZE)
        room.open()
        yield room
        room.close()


def score(room: RoomPage) -> str:
    return room.inner("app_scoreboard").locator("#home-score").text_content() or ""


def say(room: RoomPage, text: str) -> None:
    room.page.get_by_label("Type what you want done").fill(text)
    room.page.keyboard.press("Enter")


def test_first_visit(open_room: OpenRoom, shoot: Shoot) -> None:
    room = open_room(viewport=SIZE)
    assert room.page.get_by_role("button", name="Microphone").is_visible()
    assert room.page.get_by_text("goes to the relay on this computer").is_visible()
    assert room.page.locator("#tray > li").count() >= 3
    shoot(room)
    assert room.errors == []


def test_type(open_room: OpenRoom, shoot: Shoot) -> None:
    room = open_room(viewport=SIZE)
    room.start("app_scoreboard", "set_score")
    say(room, "add three points to the home team")
    room.page.locator(MOVED).wait_for()
    assert score(room) == "3"
    room.page.get_by_text("Three points for the home team.").wait_for()
    shoot(room)
    assert room.errors == []


def test_speak(relay: RelayProcess, browser: Browser, shoot: Shoot) -> None:
    with room_with(relay, browser, *BEEPING) as room:
        room.start("app_scoreboard", "set_score")
        room.page.get_by_role("button", name="Microphone").click()
        room.page.locator(MOVED).first.wait_for()
        assert int(score(room)) >= 3
        shoot(room)
        room.page.get_by_role("button", name="Microphone").click()
        room.page.wait_for_selector("#mic[data-state=Off]")
        assert room.errors == []


def test_microphone_refused(relay: RelayProcess, browser: Browser, shoot: Shoot) -> None:
    with room_with(relay, browser, *SHY) as room:
        room.page.get_by_role("button", name="Microphone").click()
        room.page.get_by_role("alert").filter(has_text="Allow the microphone").wait_for()
        assert room.page.locator("#mic-state").text_content() == "Can't hear you"
        shoot(room)
        assert room.errors == []


def test_no_device(relay: RelayProcess, browser: Browser, shoot: Shoot) -> None:
    with room_with(relay, browser, *DEAF) as room:
        room.page.get_by_role("button", name="Microphone").click()
        room.page.get_by_role("alert").filter(has_text="No microphone was found").wait_for()
        assert room.page.locator("#mic-state").text_content() == "Can't hear you"
        shoot(room)
        room.start("app_scoreboard", "set_score")
        say(room, "add three points to the home team")  # as the notice says
        room.page.locator(MOVED).wait_for()
        assert room.errors == []


def test_server_restart(browser: Browser, shoot: Shoot) -> None:
    with RelayProcess.by_cli("--provider", "script") as relay:
        room = RoomPage(browser, relay, viewport=SIZE)
        room.open()
        room.start("app_scoreboard", "set_score")
        relay.stop()
        room.page.wait_for_selector("#connection[data-state=waiting]")
        shoot(room)
        relay.start()
        room.page.wait_for_selector("#connection[data-state=open]")
        room.wait_for(lambda: "set_score" in relay.tools())
        assert room.state("app_scoreboard") == "running"
        shoot(room)
        assert [error for error in room.errors if AWAY not in error] == []
        room.close()


def test_token_missing(browser: Browser, relay: RelayProcess, shoot: Shoot) -> None:
    room = RoomPage(browser, relay, viewport=SIZE)
    room.page.goto(relay.url)
    room.page.get_by_role("alert").filter(has_text="the link that the relay printed").wait_for()
    shoot(room)
    room.page.goto("about:blank")
    room.open()
    assert room.page.locator("#connection").text_content() == "Connected"
    assert room.errors == []
    room.close()


def test_two_tabs(open_room: OpenRoom, shoot: Shoot) -> None:
    first, second = open_room(viewport=SIZE), open_room(viewport=SIZE)
    first.start("app_scoreboard", "set_score")
    say(second, "add three points to the home team")
    for room in (first, second):
        room.page.locator(MOVED).wait_for()
        shoot(room)
        assert "Scoreboard" in (room.page.locator(MOVED).text_content() or "")
    assert score(first) == "3"
    assert [*first.errors, *second.errors] == []


def test_mobile_size(open_room: OpenRoom, shoot: Shoot) -> None:
    room = open_room(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    shoot(room)
    room.page.locator("#apps-handle").tap()
    room.card("app_scoreboard").get_by_role("button", name="Launch").tap()
    room.wait_for_state("app_scoreboard", "running")
    shoot(room)
    room.page.locator("#apps-handle").tap()
    say(room, "add three points to the home team")
    room.page.locator(MOVED).wait_for()
    assert score(room) == "3"
    shoot(room)
    assert room.errors == []


def test_keyboard_only(open_room: OpenRoom, shoot: Shoot) -> None:
    room = open_room(viewport=SIZE)
    page = room.page
    press_at(page, "Launch", "Scoreboard")
    room.wait_for_state("app_scoreboard", "running")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Shortcuts").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Skip to typing").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("add three points to the home team")
    page.keyboard.press("Enter")
    page.locator(MOVED).wait_for()
    shoot(room)
    press_at(page, "Run again: set_score")
    page.get_by_role("dialog", name="Run set_score again").wait_for()
    shoot(room)
    page.keyboard.press("Escape")
    assert page.evaluate(NAME) == "Run again: set_score"
    press_at(page, "Stop Scoreboard")
    room.panel("app_scoreboard").wait_for(state="detached")
    assert page.evaluate(NAME) == "Launch"
    assert room.errors == []


def press_at(page: Page, name: str, within: str = "") -> None:
    """Go there by Tab, and press Enter; `within` is what its card says."""
    for _ in range(200):
        page.keyboard.press("Tab")
        card = "document.activeElement.closest('.card')?.textContent ?? ''"
        if page.evaluate(NAME) == name and within in page.evaluate(card):
            return page.keyboard.press("Enter")
    raise AssertionError(f"{name} is not reached by Tab")
