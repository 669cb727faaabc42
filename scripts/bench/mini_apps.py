#!/usr/bin/env python3
"""How long a full workspace takes to list, and what that costs everybody else.

    python scripts/bench/mini_apps.py                 10,000 pages
    python scripts/bench/mini_apps.py --files 1000    fewer
    python scripts/bench/mini_apps.py --json FILE     the same facts as JSON, too

The first listing reads the head of every file, later ones read none. The lag is the longest time
for which the event loop did not run; it is told beside the lag of a loop that does nothing, which
is the machine's own.
"""

import argparse
import asyncio
import gc
import json
import resource
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from relay.miniapps.collection import MiniApps  # noqa: E402 - the path comes first
from relay.miniapps.places import Places  # noqa: E402
from relay.protocol.limits import LIMITS  # noqa: E402
from relay.server.json import json_response  # noqa: E402
from relay.server.miniapp_routes import listed  # noqa: E402

ROUNDS = 30
TICK_S = 0.001
PAGE = "<!doctype html><title>Page {}</title>" + "<p>some text</p>" * 200


def make_files(folder: Path, count: int) -> None:
    """Fill a folder with pages."""
    for number in range(count):
        (folder / f"page-{number}.html").write_text(PAGE.format(number), encoding="utf-8")


def memory_mib() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def lags_ms(until: asyncio.Event) -> list[float]:
    """By how much the event loop was late, turn by turn."""
    late = []
    while not until.is_set():
        before = perf_counter()
        await asyncio.sleep(TICK_S)
        late.append((perf_counter() - before - TICK_S) * 1000)
    return late


async def list_once(mini_apps: MiniApps) -> tuple[float, int, int]:
    """One answer of GET /api/mini-apps: ms, entries, bytes."""
    before = perf_counter()
    body = await mini_apps.look(listed)
    size = len(json_response(body).body or b"")
    return (perf_counter() - before) * 1000, int(str(body["count"])), size


async def measure(root: Path) -> dict[str, float]:
    """List again and again, then do nothing for as long."""
    none = root / "none"
    places = Places(workspace=root, shelf=none, sandbox_homes=none, examples=none)
    mini_apps = MiniApps(places=places, limits=LIMITS)
    first_ms, files, size = await list_once(mini_apps)
    await list_once(mini_apps)
    gc.collect()  # what the first listing left is not the later ones' work
    memory = memory_mib()
    over = asyncio.Event()
    watching = asyncio.ensure_future(lags_ms(over))
    cpu = process_time()
    warm_ms = [(await list_once(mini_apps))[0] for _ in range(ROUNDS)]
    cpu_ms = (process_time() - cpu) * 1000 / ROUNDS
    over.set()
    busy = await watching
    idle = asyncio.Event()
    watching = asyncio.ensure_future(lags_ms(idle))
    await asyncio.sleep(sum(warm_ms) / 1000)
    idle.set()
    return {
        "files": files,
        "answer_kib": size // 1024,
        "first_ms": round(first_ms, 1),
        "warm_p50_ms": round(median(warm_ms), 1),
        "warm_max_ms": round(max(warm_ms), 1),
        "warm_cpu_ms": round(cpu_ms, 1),
        "lag_p99_ms": round(quantiles(busy, n=100)[-1], 1),
        "lag_max_ms": round(max(busy), 1),
        "idle_lag_max_ms": round(max(await watching), 1),
        "memory_mib": round(memory, 1),
        "memory_growth_mib": round(memory_mib() - memory, 1),
    }


def main() -> None:
    """Print the facts, and write them where they are wanted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), args.files)
        facts = asyncio.run(measure(Path(folder)))
    for name, value in facts.items():
        print(f"{name:20} {value:>10,}")
    if args.json is not None:
        args.json.write_text(json.dumps(facts, indent=2), encoding="utf-8")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
