"""Pictures of the page's main states for the documents, light and dark.

python -m scripts.browser_lab.pictures docs/images
"""

import random
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize

from scripts.browser_lab.chromium import chromium
from scripts.browser_lab.palette import with_few_colours
from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage

SIZE = ViewportSize(width=1280, height=860)
PHONE = ViewportSize(width=390, height=844)
DASHBOARD_SIZE = ViewportSize(width=1280, height=1130)
WORK_S = 45.0
REFUSED_SHARE = 0.3
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main(folder: Path) -> None:
    """Write each picture into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for scheme in SCHEMES:
            with RelayProcess.by_cli() as relay:
                relay.wait_for(lambda: relay.ask("GET", "/api/health")["provider"]["ready"], 90)
                take(browser, relay, scheme, folder)
                take_on_a_phone(browser, relay, scheme, folder)


def take(
    browser: Browser, relay: RelayProcess, scheme: Literal["light", "dark"], folder: Path
) -> None:
    """The room at first, the room with an app that was moved, the dashboard."""
    room = RoomPage(browser, relay, viewport=SIZE, color_scheme=scheme)
    with closing(room):
        room.open()
        shoot(room.page, folder / f"first-visit-{scheme}.png")
        room.start("app_scoreboard", "set_score")
        for text in ("add three points to the home team", "add two points to the away team"):
            room.page.get_by_label("Type what you want done").fill(text)
            room.page.keyboard.press("Enter")
            room.page.wait_for_timeout(4_000)  # the answer is spoken meanwhile
        relay.call("hash", {"input": "hello"})
        relay.call("set_score", {"team": "nobody", "points": 1})
        room.page.locator("#tool-log .log-code").wait_for()
        room.page.get_by_label("Type what you want done").blur()
        room.page.evaluate("document.querySelector('#mini-app-container').scrollIntoView()")
        shoot(room.page, folder / f"app-moved-{scheme}.png")
        work(relay)
        room.page.set_viewport_size(DASHBOARD_SIZE)
        room.page.goto(f"{relay.url}/dashboard?range=1m")
        room.page.wait_for_selector("#figures-rows > tr")
        shoot(room.page, folder / f"dashboard-{scheme}.png")


def work(relay: RelayProcess) -> None:
    """Calls for most of a minute, so that the dashboard has something to show."""
    draw = random.Random(7)  # noqa: S311 - the same picture again
    until = time.monotonic() + WORK_S
    while time.monotonic() < until:
        relay.call("set_score", {"team": draw.choice(["home", "away"]), "points": 1})
        lines = draw.randrange(1, 1_500)
        relay.call("hash", {"input": "hello\n" * lines})
        relay.call("diff", {"a": "one\ntwo\n" * lines, "b": "one\nthree\n" * lines})
        if draw.random() < REFUSED_SHARE:
            relay.call(draw.choice(["hash", "nowhere"]), {})
        time.sleep(draw.random())


def take_on_a_phone(
    browser: Browser, relay: RelayProcess, scheme: Literal["light", "dark"], folder: Path
) -> None:
    """The sheet of apps, with one that was moved."""
    room = RoomPage(browser, relay, viewport=PHONE, color_scheme=scheme)
    with closing(room):
        room.open()
        room.start("app_scoreboard", "set_score")
        relay.call("set_score", {"team": "home", "points": 3})
        shoot(room.page, folder / f"phone-{scheme}.png")


def shoot(page: Page, file: Path) -> None:
    """One picture of what is on the screen."""
    page.wait_for_timeout(500)
    file.write_bytes(with_few_colours(page.screenshot(animations="disabled", caret="hide")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
