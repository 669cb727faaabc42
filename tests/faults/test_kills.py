"""kill -9 in each state of a call: it is refused once, with its code, and the next one works."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from relay.protocol.limits import LIMITS
from tests.cli.conftest import TOKEN
from tests.faults.conftest import SLACK, StartVictim, Victim, eventually, kill
from tests.faults.peers import Peer
from tests.shelf.hostile.modules import hashing
from tests.shelf.shelves import Shelf

ZYGOTE = "relay.shelf.zygote"
SCORE = {"name": "set_score", "args": {"team": "home", "points": 3}}
HASH = {"name": "hash", "args": {"input": "abc"}}
SPIN = {"name": "spin", "args": {"input": "x"}}
# A kill that is not ours is mostly the kernel's, for memory
KILLED = "resource-exceeded"
GONE = {KILLED, "worker-lost", "shelf-unavailable", "shelf-busy"}

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def score(victim: Victim) -> dict[str, Any]:
    return victim.ask("POST", "/api/call", SCORE)


def offers(victim: Victim) -> int:
    """How many pages offer the tool; one that is gone does for a while."""
    return sum("set_score" in tool["name"] for tool in victim.ask("GET", "/api/tools")["tools"])


def began(
    victim: Victim, pool: ThreadPoolExecutor, body: dict[str, Any]
) -> "Future[dict[str, Any]]":
    """Begin a call, and see that dispatch has it."""
    calls = len(victim.ends())
    call = pool.submit(victim.ask, "POST", "/api/call", body)
    assert eventually(lambda: len(victim.ends()) > calls)
    return call


def test_a_page_that_is_killed_costs_its_call_only(
    victim: Victim, pool: ThreadPoolExecutor
) -> None:
    with victim.unharmed():
        for state in ("dispatched", "running", "answering"):
            with Peer("page.py", victim.url, TOKEN, state) as page:
                page.says("registered")
                assert eventually(lambda: offers(victim) == 1)
                if state == "dispatched":  # the call lies in its socket, and nobody reads it
                    page.process.send_signal(signal.SIGSTOP)
                call = began(victim, pool, SCORE)
                if state != "dispatched":
                    page.says("called")
                page.kill()
                assert call.result()["refused"] == "mini-app-unreachable"
                assert eventually(lambda: offers(victim) == 0)
        with Peer("page.py", victim.url, TOKEN, "answers") as page:
            page.says("registered")
            assert score(victim)["ok"]


@pytest.fixture
def spinning(start: StartVictim, tmp_path: Path) -> Victim:
    """A relay with one place for calls of the shelf, and a tool that never ends."""
    shelf = Shelf(tmp_path / "shelf")
    shelf.put_shipped("hash")
    shelf.put("spin", hashing("(loop $on (br $on)) (i32.const 32)"))
    return start(
        "--provider",
        "script",
        VOICEBOX_WASM_SHELF_DIR=str(shelf.folder),
        VOICEBOX_WASM_RUNNING_MAX="1",
    )


def workers(victim: Victim) -> list[int]:
    """The workers; the fork server is the oldest of its name."""
    return victim.processes_of(ZYGOTE)[1:]


def busy(victim: Victim) -> list[int]:
    """The workers that have computed for a while."""
    return [pid for pid in workers(victim) if processor_ticks(pid) > 10]


def processor_ticks(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0


def spin(victim: Victim, pool: ThreadPoolExecutor) -> "Future[dict[str, Any]]":
    """Begin a call that never ends, and see it run."""
    call = pool.submit(victim.ask, "POST", "/api/call", SPIN)
    assert eventually(lambda: busy(victim))
    return call


def test_a_worker_that_is_killed_costs_its_call_and_the_one_that_waits_runs(
    spinning: Victim, pool: ThreadPoolExecutor
) -> None:
    with spinning.unharmed():
        for _ in range(SLACK + 1):
            running = spin(spinning, pool)
            queued = began(spinning, pool, HASH)
            for pid in busy(spinning):
                kill(pid)
            assert running.result()["refused"] == KILLED
            assert queued.result()["ok"]


def test_a_worker_that_is_killed_before_it_began_costs_its_call(
    spinning: Victim, pool: ThreadPoolExecutor
) -> None:
    with spinning.unharmed():
        for _ in range(SLACK + 1):
            spares = workers(spinning)
            for pid in spares:
                os.kill(pid, signal.SIGSTOP)
            call = began(spinning, pool, HASH)
            for pid in spares:
                kill(pid)
            told = call.result()
            assert told["ok"] or told["refused"] in GONE
            assert eventually(lambda: spinning.hash()["ok"])


def test_workers_that_are_killed_while_they_wait_are_let_go_and_replaced(
    spinning: Victim,
) -> None:
    assert eventually(lambda: spinning.hash()["ok"])
    for _ in range(SLACK + 1):
        assert eventually(lambda: len(workers(spinning)) >= LIMITS.wasm_spares_min)
        waiting = workers(spinning)
        for pid in waiting:
            kill(pid)
        assert eventually(lambda killed=waiting: not set(killed) & set(workers(spinning)))
        assert eventually(lambda: spinning.forgotten() <= 1)  # one may wait with its module
    assert spinning.hash()["ok"]


def test_a_fork_server_that_is_killed_costs_what_ran_and_what_waits_is_answered(
    spinning: Victim, pool: ThreadPoolExecutor
) -> None:
    with spinning.unharmed():
        for _ in range(SLACK + 1):
            running = spin(spinning, pool)
            queued = began(spinning, pool, HASH)
            kill(spinning.processes_of(ZYGOTE)[0])
            assert running.result()["refused"] in GONE
            told = queued.result()
            assert told["ok"] or told["refused"] in GONE
            assert eventually(lambda: spinning.hash()["ok"])


def test_a_fork_server_that_hangs_and_is_killed_is_replaced_for_the_call_that_waits(
    spinning: Victim, pool: ThreadPoolExecutor
) -> None:
    with spinning.unharmed():
        for _ in range(SLACK + 1):
            server, *spares = spinning.processes_of(ZYGOTE)
            os.kill(server, signal.SIGSTOP)
            for pid in spares:
                kill(pid)
            call = began(spinning, pool, HASH)
            kill(server)
            told = call.result()
            assert told["ok"] or told["refused"] in GONE
            assert eventually(lambda: spinning.hash()["ok"])
