"""A host process that is killed in the middle of a call. Started by the tests.

python orphan.py FOLDER [nofork]: prints one process id a line once the module runs
"""

import asyncio
import os
import sys
from pathlib import Path

import structlog

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT))

from relay.protocol.limits import Limits  # noqa: E402 - the path comes first
from relay.shelf.host import make_source  # noqa: E402
from relay.tools.tool import Waiting  # noqa: E402
from tests.shelf.shelves import ask, serving, until  # noqa: E402

# None of the worker's own bounds may be what ends it.
LIMITS = Limits(wasm_call_deadline_ms=600_000, wasm_child_watchdog_ms=600_000)
FAMILY_MIN = 3  # the one that runs, and spares


def descendants(pid: int) -> list[int]:
    """Every process under this one."""
    own = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in map(int, own) for one in (child, *descendants(child))]


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    spawns = "nofork" in sys.argv
    source = make_source(limits=LIMITS, fork=not spawns)
    async with serving(Path(sys.argv[1]), limits=LIMITS, source=source) as host:
        await host.prove()
        await ask(host, "hash", input="")
        waiting = Waiting()
        call = asyncio.create_task(ask(host, "loop", waiting, input=""))
        await until(lambda: waiting.queued_ms > 0)
        found = workers = list[int]()
        while len(workers) < FAMILY_MIN:
            found = await asyncio.to_thread(descendants, os.getpid())
            workers = found if spawns else found[1:]  # the fork server is the oldest
        sys.stdout.write(" ".join(map(str, found)) + "\n")
        sys.stdout.flush()
        await call


if __name__ == "__main__":
    asyncio.run(main())
