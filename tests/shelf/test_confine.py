"""What confinement asks the system for; `hostile/` shows what the system makes of it."""

import ctypes
import errno
import os
import platform
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest

from relay.shelf import confine, seccomp
from relay.shelf.confine import STEPS, Confinement
from relay.shelf.job import Bounds, Work

if sys.platform == "win32":
    pytest.skip("there is nothing of this on Windows", allow_module_level=True)

import resource

MIB = 1024 * 1024
BOUNDS = Bounds(64 * MIB, 16 * MIB, 512 * MIB, 6_000, 31_000, ())
BASE = 10 * MIB


class System:
    """Writes down what it is asked for; refuses the options in `refused`."""

    def __init__(self) -> None:
        self.options: list[int] = []
        self.limits: dict[int, tuple[int, int]] = {}
        self.timers: list[float] = []
        self.users: list[int] = []
        self.niceness = 0
        self.refused: set[int] = set()
        self.most = resource.RLIM_INFINITY

    def prctl(self, option: Any, *_: object) -> int:
        self.options.append(option.value)
        ctypes.set_errno(errno.EPERM)
        return -1 if option.value in self.refused else 0

    def getrlimit(self, kind: int) -> tuple[int, int]:
        return self.most, self.most

    def setrlimit(self, kind: int, limits: tuple[int, int]) -> None:
        self.limits[kind] = limits

    def setitimer(self, which: int, seconds: float) -> None:
        assert which == signal.ITIMER_REAL
        self.timers.append(seconds)

    def nice(self, niceness: int) -> None:
        self.niceness = niceness

    def become(self, *ids: int) -> None:
        self.users += ids


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    system = System()
    monkeypatch.setattr(confine, "_LIBC", system)
    monkeypatch.setattr(resource, "getrlimit", system.getrlimit)
    monkeypatch.setattr(resource, "setrlimit", system.setrlimit)
    monkeypatch.setattr(signal, "setitimer", system.setitimer)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "nice", system.nice)
    for name in ("setresuid", "setresgid"):
        monkeypatch.setattr(os, name, system.become, raising=False)
    monkeypatch.setattr(os, "setgroups", lambda groups: system.become(*groups))
    return system


def worker(work: Work = Work.RUN, *without: str, **more: Any) -> Confinement:
    steps = frozenset(STEPS).difference(without)
    return Confinement(steps, work, BOUNDS, BASE, os.getppid(), 3)._replace(**more)


needs_filters = pytest.mark.skipif(
    platform.machine() not in seccomp.ARCHITECTURES, reason="no filter for this processor"
)


@needs_filters
def test_a_worker_is_confined_step_by_step_and_filtered_last(system: System) -> None:
    confine.confine(worker())
    # parent-death signal, no new privileges, not dumpable, system-call filter
    assert system.options == [1, 38, 4, 22]
    assert system.limits == {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_NPROC: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_NOFILE: (8, 8),
        resource.RLIMIT_CPU: (7, 8),
        resource.RLIMIT_DATA: (BASE + 80 * MIB, BASE + 80 * MIB),
    }
    assert system.niceness == 0


def test_a_compiler_has_more_memory_and_time_and_steps_back(system: System) -> None:
    confine.confine(worker(Work.COMPILE, confine.SECCOMP))
    assert system.limits[resource.RLIMIT_DATA] == (BASE + 512 * MIB, BASE + 512 * MIB)
    assert system.limits[resource.RLIMIT_CPU] == (32, 33)
    assert system.niceness > 0


def test_a_step_that_is_left_out_is_not_taken(system: System) -> None:
    confine.confine(worker(Work.RUN, *STEPS))
    assert (system.options, system.limits) == ([], {})


def test_a_limit_that_is_lower_already_is_not_raised(system: System) -> None:
    system.most = 4
    confine.confine(worker(Work.RUN, confine.SECCOMP))
    assert system.limits[resource.RLIMIT_NOFILE] == (4, 4)
    assert system.limits[resource.RLIMIT_CPU] == (4, 4)
    assert system.limits[resource.RLIMIT_CORE] == (0, 0)


@needs_filters
@pytest.mark.parametrize(
    ("option", "step"),
    [(1, confine.PARENT_DEATH), (38, confine.NO_NEW_PRIVILEGES), (4, confine.NOT_DUMPABLE),
     (22, confine.SECCOMP)],
)  # fmt: skip
def test_what_the_system_refuses_is_found_out(system: System, option: int, step: str) -> None:
    assert confine.available(worker()) == set(STEPS)
    system.refused = {option}
    assert confine.available(worker()) == set(STEPS) - {step}
    with pytest.raises(PermissionError):
        confine.confine(worker())


@needs_filters
def test_a_worker_that_was_left_alone_meanwhile_does_not_go_on(system: System) -> None:
    orphan = worker(parent=1 if os.getppid() != 1 else 2)
    for begin in (confine.available, confine.confine):
        with pytest.raises(ProcessLookupError):
            begin(orphan)


@needs_filters
def test_without_its_own_size_memory_can_not_be_bounded(system: System) -> None:
    assert confine.DATA_LIMIT not in confine.available(worker(base_bytes=0))


def test_the_watchdog_has_the_time_of_its_work(system: System) -> None:
    confine.arm_watchdog(worker())
    confine.arm_watchdog(worker(Work.COMPILE))
    confine.arm_watchdog(worker(Work.RUN, confine.TIMER))
    assert system.timers == [6.0, 31.0]


@needs_filters
def test_the_last_step_is_one_call_made_ready_before(system: System) -> None:
    shut = confine.last_step(worker())
    assert system.options == []
    shut()
    assert system.options == [22]
    confine.last_step(worker(Work.RUN, confine.SECCOMP))()
    assert system.options == [22]
    system.refused = {22}
    with pytest.raises(PermissionError):
        confine.last_step(worker())()


@pytest.mark.parametrize(("euid", "dropped"), [(0, True), (1_000, False)])
def test_root_becomes_nobody_for_good(
    system: System, monkeypatch: pytest.MonkeyPatch, euid: int, *, dropped: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: euid)
    assert confine.drop_root() is dropped
    assert system.users == ([confine.NOBODY] * 6 if dropped else [])


@pytest.mark.parametrize("machine", ["x86_64", "riscv64"])
def test_filters_are_made_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    confine.make_filters(3)
    assert (confine.SECCOMP in confine.offered(())) == (
        machine in seccomp.ARCHITECTURES and sys.platform == "linux"
    )


def test_the_size_is_unknown_where_the_system_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", missing)
    assert confine.data_bytes() == 0


def runs(program: bytes, number: int, arguments: tuple[int, ...] = ()) -> bool:
    """Interpret a filter as the kernel does; whether it lets a call of this machine pass."""
    steps = list(seccomp._INSTRUCTION.iter_unpack(program))
    data = {0: number, 4: seccomp.ARCHITECTURES["x86_64"].audit}
    data |= {16 + 8 * place: value for place, value in enumerate(arguments)}
    at = accumulator = 0
    tests: dict[int, Callable[[int, int], bool]] = {
        0x15: lambda a, k: a == k,
        0x35: lambda a, k: a >= k,
        0x45: lambda a, k: bool(a & k),
    }
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x20:
            accumulator = data.get(operand, 0)
        elif code == 0x06:
            return bool(operand == 0x7FFF0000)
        else:
            at += if_true if tests[code](accumulator, operand) else if_false


@pytest.mark.parametrize(
    ("call", "arguments", "loading", "running"),
    [
        ("read", (3,), True, False),
        ("write", (3,), True, True),
        ("write", (2,), True, False),
        ("write", (1,), False, False),
        ("sendto", (4,), False, False),
        ("recvmsg", (3,), True, False),
        ("mmap", (0, 4096, 3), True, True),
        ("mmap", (0, 4096, 5), True, False),
        ("mprotect", (0, 4096, 4), True, False),
        ("mprotect", (0, 4096, 1), True, True),
        ("prctl", (22,), True, False),
        ("prctl", (1,), False, False),
        ("tgkill", (77, 77, 6), True, True),
        ("tgkill", (78, 78, 6), False, False),
        ("setitimer", (0,), True, False),
        ("exit_group", (0,), True, True),
    ],
)
def test_a_filter_lets_these_pass(
    call: str, arguments: tuple[int, ...], *, loading: bool, running: bool
) -> None:
    number = seccomp.ARCHITECTURES["x86_64"].calls[call]
    for stage, passes in ((seccomp.loading, loading), (seccomp.running, running)):
        program = seccomp.for_process(stage("x86_64", 3), 77)
        assert runs(program, number, arguments) is passes


def test_a_filter_lets_nothing_else_pass() -> None:
    known = set(seccomp.ARCHITECTURES["x86_64"].calls.values())
    for stage in (seccomp.loading, seccomp.running):
        program = seccomp.for_process(stage("x86_64", 3), 77)
        assert not any(runs(program, number, (3,)) for number in range(600) if number not in known)
        assert not any(runs(program, 0x40000000 + number, (3,)) for number in known)
