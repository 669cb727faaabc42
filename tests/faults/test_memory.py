"""Memory that runs out: a code for the call, and the others live."""

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.conftest import SLACK, StartVictim, Victim, eventually
from tests.shelf.hostile.modules import hashing
from tests.shelf.shelves import Shelf

pytestmark = pytest.mark.timeout(120)

MIB = 1024 * 1024
DROPPED = "the connection"  # where not even its bytes could be kept
GROW = hashing(
    "(loop $on (drop (memory.grow (i32.const 16)))"
    " (memory.fill (i32.const 0) (i32.const 7) (i32.shl (memory.size) (i32.const 16)))"
    " (br $on)) (i32.const 32)"
)


def memory_of(victim: Victim) -> int:
    """Address space of the relay, in bytes."""
    pages = int(Path(f"/proc/{victim.process.pid}/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def squeeze(victim: Victim, spare: int) -> None:
    """Leave the relay's own process this much more than it has."""
    bound = memory_of(victim) + spare
    resource.prlimit(victim.process.pid, resource.RLIMIT_AS, (bound, resource.RLIM_INFINITY))


def release(victim: Victim) -> None:
    bounds = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(victim.process.pid, resource.RLIMIT_AS, bounds)


def test_a_module_that_takes_all_it_can_is_refused_and_the_others_answer(
    start: StartVictim, tmp_path: Path
) -> None:
    shelf = Shelf(tmp_path / "shelf")
    shelf.put_shipped("hash")
    shelf.put("grow", GROW)
    victim = start("--provider", "script", VOICEBOX_WASM_SHELF_DIR=str(shelf.folder))
    with victim.unharmed(), ThreadPoolExecutor(8) as pool:
        call = {"name": "grow", "args": {"input": "x"}}
        greedy = [pool.submit(victim.ask, "POST", "/api/call", call) for _ in range(4)]
        others = [pool.submit(victim.hash) for _ in range(20)]
        assert all(one.result()["ok"] for one in others)
        assert {one.result()["refused"] for one in greedy} <= {"time-exceeded", "resource-exceeded"}


def test_a_relay_that_gets_no_memory_refuses_and_then_goes_on(victim: Victim) -> None:
    with victim.unharmed():
        for spare in (MIB // 4, MIB, 2 * MIB):
            squeeze(victim, spare)
            told = {save(victim, f"{spare}-{number}") for number in range(SLACK)}
            assert told <= {"saved", "server-full", "store-unavailable", DROPPED}
            assert eventually(lambda: answers(victim))
            release(victim)
        assert eventually(lambda: save(victim, "last") == "saved")


def answers(victim: Victim) -> bool:
    try:
        return bool(victim.hash()["ok"])
    except OSError:
        return False


def save(victim: Victim, title: str) -> str:
    """Save a page of nearly a megabyte; what became of it."""
    html = f"<title>{title}</title>" + "x" * 900_000
    try:
        told = victim.told("POST", "/api/mini-apps", {"html": html})
    except OSError:
        return DROPPED
    return "saved" if told["ok"] else str(told["refused"])
