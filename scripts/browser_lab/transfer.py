"""What a page costs its first visitor: bytes on the wire, headers included, and times."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, CDPSession

VENDORED = "/static/vendor/"
TIMES = """() => {
  const [visit] = performance.getEntriesByType("navigation");
  const { domInteractive, domContentLoadedEventEnd, loadEventEnd } = visit;
  return { domInteractive, domContentLoadedEventEnd, loadEventEnd };
}"""


@dataclass
class Visit:
    """One load of a page by a browser that has seen nothing of it; times in ms from its start."""

    bytes_of: dict[str, int] = field(default_factory=dict)
    times_ms: dict[str, float] = field(default_factory=dict)

    def transferred_bytes(self, *, vendored: bool) -> int:
        """Everything, or everything but what is vendored."""
        return sum(
            size for address, size in self.bytes_of.items() if vendored or VENDORED not in address
        )


def first_visit(browser: Browser, link: str, ready: str) -> Visit:
    """Load the link until the selector is there, and the page has nothing left to ask for."""
    context = browser.new_context()
    page = context.new_page()
    visit = Visit()
    _count(context.new_cdp_session(page), visit.bytes_of)
    page.goto(link)
    page.wait_for_selector(ready)
    visit.times_ms["ready"] = float(page.evaluate("performance.now()"))
    page.wait_for_load_state("networkidle")
    visit.times_ms |= page.evaluate(TIMES)
    context.close()
    return visit


def _count(session: CDPSession, bytes_of: dict[str, int]) -> None:
    addresses: dict[str, str] = {}

    def asked(event: dict[str, Any]) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def arrived(event: dict[str, Any]) -> None:
        address = addresses.get(event["requestId"], event["requestId"])
        bytes_of[address] = bytes_of.get(address, 0) + int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", asked)
    session.on("Network.loadingFinished", arrived)
    session.send("Network.enable")
