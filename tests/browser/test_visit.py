"""What a person meets who opens the page: first sight, wrong links, keyboard, phone, restart."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

PLACES_MAX = 200
WIDTHS = {"phone": 320, "tablet": 768, "desk": 1280, "wall": 3840}


def test_the_first_screen_explains_itself(room: RoomPage) -> None:
    text = room.page.locator("main").inner_text()
    assert "add three points to the home team" in text
    assert "goes to the relay on this computer" in text
    assert room.page.locator("#tray > li").count() >= 3
    assert (
        room.page.get_by_role("button", name="Microphone").get_attribute("aria-pressed") == "false"
    )
    assert room.errors == []


def test_the_token_leaves_the_address_bar(room: RoomPage) -> None:
    assert "token" not in room.page.url
    room.page.reload()
    room.page.wait_for_selector("#connection[data-state=open]")


def test_without_the_link_the_page_says_where_it_is(browser: Browser, relay: RelayProcess) -> None:
    room = RoomPage(browser, relay)
    room.page.goto(relay.url)
    alert = room.page.get_by_role("alert")
    assert "the link that the relay printed" in (alert.text_content() or "")
    room.close()


def test_a_wrong_token_is_said_clearly_and_forgotten(browser: Browser, relay: RelayProcess) -> None:
    room = RoomPage(browser, relay)
    room.page.goto(f"{relay.url}/#token=vbx_{'0' * 48}")
    room.page.wait_for_selector("#connection[data-state=refused]")
    room.page.get_by_role("alert").filter(has_text="does not know this page's token").wait_for()
    assert room.page.evaluate("localStorage.length") == 0
    room.close()


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(open_room: OpenRoom, name: str, scheme: str, tmp_path: Path) -> None:
    room = open_room(viewport={"width": WIDTHS[name], "height": 900}, color_scheme=scheme)
    room.start("app_slow", "never")
    widths = room.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    small = room.page.evaluate(SMALL_TARGETS)
    assert small == []
    room.page.screenshot(path=tmp_path / f"{name}-{scheme}.png", full_page=True)


# What can be pressed must be at least 24 by 24 CSS pixels (WCAG 2.2, 2.5.8)
SMALL_TARGETS = """
[...document.querySelectorAll("button, input, summary")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24)
  .map(([one]) => one.outerHTML.slice(0, 80))
"""


def test_everything_is_reached_by_keyboard(room: RoomPage) -> None:
    page = room.page
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to typing"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "say-text"
    reached = set()
    for _ in range(PLACES_MAX):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "say-text":
            break  # once round
        reached.add(focused(page))
    assert {"Microphone", "Dashboard", "Send"} <= reached
    assert any(name.startswith("Launch") for name in reached)


def test_an_app_is_launched_and_left_by_keyboard(room: RoomPage) -> None:
    room.card("app_slow").get_by_role("button", name="Launch").focus()
    room.page.keyboard.press("Enter")
    room.wait_for_state("app_slow", "running")
    room.panel("app_slow").get_by_role("button", name="Stop").focus()
    room.page.keyboard.press("Enter")
    room.panel("app_slow").wait_for(state="detached")
    assert focused(room.page).startswith("Launch")


def focused(page: Page) -> str:
    """The name of what has the keyboard."""
    script = "(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()"
    return str(page.evaluate(script))


def test_every_control_and_region_has_a_name(room: RoomPage) -> None:
    room.start("app_slow", "never")
    tree = room.page.locator("body").aria_snapshot()
    for wanted in (
        'button "Microphone"',
        'textbox "Type what you want done"',
        'heading "Apps"',
        'heading "Tool calls"',
        'button "Stop Slow"',
        'region "Slow"',
    ):
        assert wanted in tree, tree
    assert "- button:" not in tree
    assert "- textbox:" not in tree


def test_the_microphone_that_is_refused_is_told_with_a_remedy(room: RoomPage) -> None:
    room.page.get_by_role("button", name="Microphone").click()
    room.page.get_by_role("alert").first.wait_for()
    assert room.page.locator("#mic-state").text_content() == "Can't hear you"
    assert "press again" in (room.page.get_by_role("alert").first.text_content() or "").lower()


def test_the_room_survives_a_restart_of_the_relay(browser: Browser) -> None:
    with RelayProcess.by_cli("--provider", "script") as relay:
        room = RoomPage(browser, relay)
        room.open()
        room.start("app_scoreboard", "set_score")
        relay.call("set_score", {"team": "home", "points": 2})
        relay.stop()
        room.page.wait_for_selector("#connection[data-state=waiting]")
        relay.start()
        room.page.wait_for_selector("#connection[data-state=open]")
        room.wait_for(lambda: "set_score" in relay.tools())
        assert relay.call("set_score", {"team": "home", "points": 1})["result"] == {
            "ok": True,
            "currentScore": 3,
        }
        room.close()


def test_the_shelf_shows_its_tools_and_how_their_last_call_went(room: RoomPage) -> None:
    tool = room.page.locator('#shelf > li[data-tool="hash"]')
    tool.wait_for()
    assert "Callable now" in (tool.text_content() or "")
    assert "buffer-abi/1" in (tool.text_content() or "")
    outcome = room.relay.call("hash", {"input": "hello"})
    assert outcome["ok"] is True, outcome
    room.page.locator('#shelf .shelf-last[data-state="ok"]').wait_for()
    assert "last run ok" in (tool.text_content() or "")
