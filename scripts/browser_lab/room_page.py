"""The room's page as a test or a bench drives it, and what happens to it meanwhile."""

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Frame, Locator, Page

from scripts.browser_lab.relay_process import RelayProcess

HEARTBEAT = """
if (window === window.top) {
  window.__maxGapMs = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.__maxGapMs = Math.max(window.__maxGapMs, now - last);
    last = now;
  }, 20);
}
"""
FORGET = """
window.__maxGapMs = 0;
for (const id of ["messages", "toasts"]) document.getElementById(id).replaceChildren();
"""
STOP_ALL = """
for (const stop of document.querySelectorAll(".app [aria-label^=Stop]")) stop.click();
"""
WAIT_MS = 30_000
POLL_MS = 25


class RoomPage:
    """One tab on the room."""

    def __init__(self, browser: Browser, relay: RelayProcess, **context: Any) -> None:
        self.relay = relay
        self.context = browser.new_context(**context)
        self.page: Page = self.context.new_page()
        self.dialogs: list[str] = []
        self.popups: list[str] = []
        self.downloads: list[str] = []
        self.errors: list[str] = []
        self.crashed = False
        self._watch()

    def _watch(self) -> None:
        self.page.add_init_script(HEARTBEAT)
        self.page.on("popup", lambda page: self.popups.append(page.url))
        self.page.on("download", lambda download: self.downloads.append(download.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("crash", self._crash)
        self.page.on("dialog", self._dialog)

    def _crash(self, _: Page) -> None:
        """One of the page's processes ended, the room's own or an app's."""
        self.crashed = True

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.type)
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def close(self) -> None:
        """Stop the apps, so that none outlives the page by its grace, and close the tab."""
        if self.relay.url in self.page.url:
            self.page.evaluate(STOP_ALL)
            self.page.wait_for_timeout(POLL_MS)
        self.context.close()

    def die(self) -> None:
        """Close the tab without a word, as a crash does."""
        self.context.close()

    def open(self, link: str | None = None) -> None:
        """Load the room by its link and wait for the relay."""
        self.page.goto(link or self.relay.link)
        self.page.wait_for_selector("#connection[data-state=open]")
        self.page.wait_for_selector("#tray > li")

    def card(self, app_id: str) -> Locator:
        """The card of an app."""
        return self.page.locator(f'#tray > [data-app-id="{app_id}"]')

    def panel(self, app_id: str) -> Locator:
        """The panel of a running app."""
        return self.page.locator(f'#mini-app-container > [data-app-id="{app_id}"]')

    def show_apps(self) -> None:
        """Open the apps' sheet, where the screen is narrow enough for one and it is closed."""
        handle = self.page.locator("#apps-handle[aria-expanded=false]")
        if handle.is_visible():
            handle.click()

    def launch(self, app_id: str) -> None:
        """Press the card's Launch button."""
        self.show_apps()
        self.card(app_id).get_by_role("button", name="Launch").click()

    def stop(self, app_id: str) -> None:
        """Press the panel's Stop button and wait until the panel is gone."""
        self.panel(app_id).get_by_role("button", name="Stop").click()
        self.panel(app_id).wait_for(state="detached")

    def wait_for_state(self, app_id: str, *states: str, timeout_ms: float = WAIT_MS) -> None:
        """Wait until the app's panel shows one of the states."""
        shown = ", ".join(
            f'#mini-app-container > [data-app-id="{app_id}"][data-state="{state}"]'
            for state in states
        )
        self.page.wait_for_selector(shown, timeout=timeout_ms)

    def start(self, app_id: str, *tools: str) -> None:
        """Launch; wait until the app runs and the relay knows its tools."""
        self.launch(app_id)
        self.wait_for_state(app_id, "running")
        self.wait_for(lambda: set(tools) <= set(self.relay.app_tools()))

    def wait_for(self, holds: Callable[[], bool], timeout_ms: float = WAIT_MS) -> None:
        """Ask until it holds, while the page lives on. Raises: TimeoutError."""
        until = time.monotonic() + timeout_ms / 1000
        while not holds():
            if time.monotonic() > until:
                raise TimeoutError("what the test waits for did not happen")
            self.page.wait_for_timeout(POLL_MS)

    def state(self, app_id: str) -> str:
        """What the app's panel shows; empty without a panel."""
        panel = self.panel(app_id)
        return (panel.get_attribute("data-state") or "") if panel.count() else ""

    def inner(self, app_id: str) -> Frame:
        """The frame in which the app's own document runs."""
        outer = self.panel(app_id).locator("iframe").element_handle().content_frame()
        assert outer is not None
        handle = outer.wait_for_selector("#inner-app", state="attached")
        inner = handle.content_frame() if handle else None
        assert inner is not None
        return inner

    def toasts(self) -> list[str]:
        """Every notice since the page was opened or `forget` was called, newest first."""
        items = self.page.locator("#messages > li")
        return list(items.evaluate_all("items => items.map((item) => item.lastChild.textContent)"))

    def max_gap_ms(self) -> float:
        """The longest time in which the room's page did nothing at all."""
        return float(self.page.evaluate("window.__maxGapMs"))

    def forget(self) -> None:
        """Take what happened so far as seen: notices, dialogs, errors, the longest gap."""
        for seen in (self.dialogs, self.popups, self.downloads, self.errors):
            seen.clear()
        self.page.evaluate(FORGET)
