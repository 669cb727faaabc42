"""How much the pages transfer at a first visit, and how soon they can be used, on loopback.

.venv/bin/python scripts/bench/first_visit.py [VISITS]

Each visit is a browser context that has seen nothing. Bytes are those on the wire, headers
included. At `domContentLoadedEventEnd` the page's scripts have run and it can be used; at `ready`
the room lists its apps, or the dashboard its first figures, as seen from outside.
"""

import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.browser_lab.chromium import chromium  # noqa: E402 - it must be this checkout's
from scripts.browser_lab.relay_process import RelayProcess  # noqa: E402
from scripts.browser_lab.transfer import Visit, first_visit  # noqa: E402

PAGES = {"/": "#tray > li", "/dashboard": "#figures-rows > tr"}
TIMES = ("domInteractive", "domContentLoadedEventEnd", "ready")


def main(visits: int) -> None:
    """Print one row for each page."""
    print("| page | requests | bytes | without vendored | " + " | ".join(TIMES) + " |")
    print("| --- " * (4 + len(TIMES)) + "|")
    with RelayProcess.by_cli("--provider", "script") as relay, chromium() as browser:
        relay.call("hash", {"input": "hello"})
        for page, ready in PAGES.items():
            link = relay.link.replace("/#", f"{page}#")
            print(row(page, [first_visit(browser, link, ready) for _ in range(visits)]))


def row(page: str, visits: list[Visit]) -> str:
    """The first visit's bytes; of the times the median, and the range."""
    first = visits[0]
    sizes = [first.transferred_bytes(vendored=vendored) for vendored in (True, False)]
    cells = [page, str(len(first.bytes_of)), *(f"{size:,}" for size in sizes)]
    for name in TIMES:
        times = [visit.times_ms[name] for visit in visits]
        median = statistics.median(times)
        cells.append(f"{median:.0f} ms ({min(times):.0f} to {max(times):.0f})")
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
