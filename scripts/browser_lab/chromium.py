"""Debian's Chromium under Playwright, with the flags that the product's pages are tried with."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserType, sync_playwright


def microphone(wav: Path) -> list[str]:
    """Flags of a microphone that says the file once; begin and end it with silence."""
    return [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={wav}%noloop",
        "--autoplay-policy=no-user-gesture-required",
    ]


@contextmanager
def chromium(flags: Sequence[str] = ()) -> Iterator[Browser]:
    """A headless browser. Raises: RuntimeError if it is not installed."""
    with sync_playwright() as playwright, closing(_launched(playwright.chromium, flags)) as browser:
        yield browser


def beside(browser: Browser, flags: Sequence[str]) -> AbstractContextManager[Browser]:
    """One more, with flags of its own; it ends with the block, `browser` stays."""
    return closing(_launched(browser.browser_type, flags))


def _launched(kind: BrowserType, flags: Sequence[str]) -> Browser:
    program = shutil.which("chromium")
    if program is None:
        raise RuntimeError("chromium is not installed: apt-get install chromium")
    return kind.launch(executable_path=program, args=list(flags))
