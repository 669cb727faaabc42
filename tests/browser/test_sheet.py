"""The apps on a narrow screen: a sheet from the bottom edge that leaves the microphone free."""

from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page

from scripts.browser_lab.room_page import RoomPage
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

PHONES: list[dict[str, Any]] = [
    {"viewport": {"width": 320, "height": 640}},
    {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
]
DRAWN = "new Promise((done) => requestAnimationFrame(() => done(true)))"


@pytest.fixture(params=PHONES, ids=["320", "390"])
def phone(request: pytest.FixtureRequest, open_room: OpenRoom) -> RoomPage:
    return open_room(**request.param)


@pytest.fixture
def small(open_room: OpenRoom) -> RoomPage:
    return open_room(**PHONES[0])


def handle(page: Page) -> Locator:
    """What opens and closes the sheet."""
    return page.locator("#apps-handle")


def is_open(page: Page) -> bool:
    return handle(page).get_attribute("aria-expanded") == "true"


def box(place: Locator) -> FloatRect:
    found = place.bounding_box()
    assert found is not None
    return found


def test_the_sheet_leaves_the_microphone_free_wherever_the_page_is(phone: RoomPage) -> None:
    page = phone.page
    assert not is_open(page)
    phone.start("app_slow", "never")
    assert is_open(page)
    panel, mic = phone.panel("app_slow"), page.get_by_role("button", name="Microphone")
    for size in ("normal", "full"):
        if size == "full":
            panel.get_by_role("button", name="Full").click()
        for scrolled in (0, 400, 10_000):
            page.evaluate(f"scrollTo(0, {scrolled})")
            seen, top = box(mic), box(page.locator("#apps"))["y"]
            assert seen["y"] >= 0
            assert seen["y"] + seen["height"] <= min(top, box(panel)["y"]), (size, scrolled)
    mic.click()  # nothing lies over it
    phone.wait_for(lambda: page.locator("#mic-state").text_content() != "Off")
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]


def test_an_app_runs_on_behind_a_closed_sheet_and_cannot_be_reached(small: RoomPage) -> None:
    small.start("app_slow", "never")
    handle(small.page).click()
    assert not is_open(small.page)
    assert small.inner("app_slow").evaluate(DRAWN) is True
    assert small.page.locator("#apps-body").evaluate("body => body.inert")
    send = small.page.get_by_role("button", name="Send")
    send.scroll_into_view_if_needed()
    send.click()  # the sheet is not in the way
    assert small.page.locator("#apps-note").text_content() == "1 open"


def test_escape_closes_the_sheet_and_gives_the_keyboard_back(small: RoomPage) -> None:
    page = small.page
    handle(page).focus()
    page.keyboard.press("Enter")
    assert is_open(page)
    page.keyboard.press("Tab")
    assert page.locator("#apps-body").evaluate("body => body.contains(document.activeElement)")
    page.keyboard.press("Escape")
    assert not is_open(page)
    assert handle(page).evaluate("one => one === document.activeElement")


def test_a_model_that_launches_an_app_does_not_take_the_keyboard(small: RoomPage) -> None:
    page = small.page
    field = page.get_by_label("Type what you want done")
    field.focus()
    assert small.relay.call("launch_mini_app", {"name": "timer"})["ok"] is True
    small.wait_for_state("app_timer", "running")
    assert is_open(page)
    assert field.evaluate("one => one === document.activeElement")
    small.panel("app_timer").get_by_role("button", name="Restart").focus()
    page.keyboard.press("Escape")
    assert field.evaluate("one => one === document.activeElement")


def test_going_elsewhere_by_keyboard_closes_the_sheet(small: RoomPage) -> None:
    handle(small.page).click()
    small.page.get_by_label("Filter").focus()
    assert not is_open(small.page)


def test_the_handle_is_dragged_too(small: RoomPage) -> None:
    page = small.page
    for wanted, by in ((True, -80), (False, 80)):
        at = box(handle(page))
        x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + by)
        page.mouse.up()
        assert is_open(page) is wanted


def test_a_wider_screen_has_no_sheet(small: RoomPage) -> None:
    small.start("app_slow", "never")
    handle(small.page).click()
    small.page.set_viewport_size({"width": 900, "height": 700})
    handle(small.page).wait_for(state="hidden")
    small.wait_for(lambda: not small.page.locator("#apps-body").evaluate("body => body.inert"))
    small.page.set_viewport_size({"width": 320, "height": 700})
    handle(small.page).wait_for()
    assert small.state("app_slow") == "running"
