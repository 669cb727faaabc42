"""What escaped code can't do from inside a worker, shown by trying it there."""

import asyncio
import asyncio.subprocess
import os
import platform
import signal
import sys
from pathlib import Path

import pytest

from relay.shelf import confine, seccomp
from relay.shelf.confine import SECCOMP
from relay.shelf.launch import surroundings

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
WORKED, REFUSED = 0, 7
# In both stages, and then only once foreign code may run
FORBIDDEN = [
    "open", "list", "stat", "unlink", "make a folder", "socket", "connect", "exec", "fork",
    "thread", "signal the parent", "signal a thread of the parent", "trace the parent",
    "read the parent's memory", "make a file in memory", "write to another descriptor",
    "send a descriptor", "raise its limits", "let go of its parent", "become another user", "ring",
    "personality", "a call of another ABI",
]  # fmt: skip
FORBIDDEN_LATER = [
    "map executable memory", "make memory executable", "receive", "stop its timer", "complain",
]  # fmt: skip

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in seccomp.ARCHITECTURES,
    reason="system-call filters are Linux's, on x86_64 and aarch64",
)


async def attempt(stage: str, name: str, left_out: str = "") -> int:
    """Run one attempt; its exit status, negative for a signal."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", str(HERE / "attempt.py"), str(ROOT), stage, name, left_out,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        **surroundings(),
    )  # fmt: skip
    return await process.wait()


@pytest.mark.parametrize("stage", ["loading", "running"])
@pytest.mark.parametrize("name", FORBIDDEN)
async def test_a_worker_that_tries_is_killed(name: str, stage: str) -> None:
    assert await attempt(stage, name) == -signal.SIGSYS


@pytest.mark.parametrize("name", FORBIDDEN_LATER)
async def test_a_worker_that_runs_foreign_code_is_killed_for_what_loading_needed(name: str) -> None:
    assert await attempt("loading", name) != -signal.SIGSYS
    assert await attempt("running", name) == -signal.SIGSYS


async def test_without_the_filter_the_same_attempts_are_not_killed() -> None:
    """The control: it is the filter that kills, not the attempt itself."""
    for name in ("stat", "signal the parent", "map executable memory"):
        assert await attempt("running", name, SECCOMP) == WORKED


async def test_without_the_filter_other_limits_still_hold() -> None:
    assert await attempt("running", "open", SECCOMP) in (WORKED, REFUSED)  # 8 descriptors
    assert await attempt("running", "use memory", SECCOMP) == REFUSED


async def test_a_worker_that_does_nothing_wrong_ends_well() -> None:
    assert await attempt("running", "nothing") == WORKED


async def test_memory_is_bounded_by_the_kernel() -> None:
    assert await attempt("running", "use memory") == REFUSED
    assert await attempt("running", "use memory", confine.DATA_LIMIT) == WORKED


async def test_the_timer_ends_what_spins_even_in_native_code() -> None:
    assert await attempt("running", "spin") == -signal.SIGALRM


async def test_processor_time_is_bounded_where_there_is_no_timer() -> None:
    assert await attempt("running", "spin", confine.TIMER) in (-signal.SIGXCPU, -signal.SIGKILL)


async def test_a_worker_may_abort_itself() -> None:
    assert await attempt("running", "abort") == -signal.SIGABRT


def test_a_step_that_is_left_out_is_not_offered() -> None:
    every = confine.offered(())
    assert every >= {confine.RESOURCE_LIMITS, confine.TIMER}
    assert confine.offered([SECCOMP, confine.TIMER]) == every - {SECCOMP, confine.TIMER}


def test_both_architectures_know_every_call() -> None:
    x86, arm = (seccomp.ARCHITECTURES[name] for name in ("x86_64", "aarch64"))
    assert x86.calls.keys() == arm.calls.keys()
    assert len(set(x86.calls.values())) == len(x86.calls)
    assert len(set(arm.calls.values())) == len(arm.calls)


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_a_filter_is_short_enough_and_knows_its_process(machine: str) -> None:
    for stage in (seccomp.loading(machine, 3), seccomp.running(machine, 3)):
        program = seccomp.for_process(stage, os.getpid())
        assert len(program) % 8 == 0
        assert len(program) // 8 <= 4_096
        assert os.getpid().to_bytes(4, "little") in program
