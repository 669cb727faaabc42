"""Confinement of a worker process: each step by name, applied before any foreign code.

A step that this machine does not offer is left out and `available` says so; a step that is
offered and then fails ends the worker. Reads no job and runs no module.
"""

import ctypes
import os
import platform
import signal
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from relay.shelf import seccomp
from relay.shelf.job import Bounds, Work

# Imported before anything is dropped: nobody may not be able to read the standard library.
if sys.platform != "win32":
    import resource

    _LIBC = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_DESCRIPTORS_MAX = 8
_NICENESS_OF_COMPILING = 10
NOBODY = 65_534

PARENT_DEATH = "parent-death-signal"
NO_NEW_PRIVILEGES = "no-new-privileges"
NOT_DUMPABLE = "not-dumpable"
RESOURCE_LIMITS = "resource-limits"
DATA_LIMIT = "data-limit"
TIMER = "watchdog-timer"
SECCOMP = "seccomp"
STEPS = (
    PARENT_DEATH,
    NO_NEW_PRIVILEGES,
    NOT_DUMPABLE,
    RESOURCE_LIMITS,
    DATA_LIMIT,
    TIMER,
    SECCOMP,
)


class Confinement(NamedTuple):
    """What one worker gets.

    `base_bytes` is the data segment that it is born with, `channel` the one descriptor that
    it may write to.
    """

    steps: frozenset[str]
    work: Work
    bounds: Bounds
    base_bytes: int
    parent: int
    channel: int


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def offered(left_out: Iterable[str]) -> frozenset[str]:
    """Steps that this kind of machine has; whether they work, a probe must show."""
    steps = {RESOURCE_LIMITS, TIMER} if os.name == "posix" else set()
    if sys.platform == "linux":
        steps |= {PARENT_DEATH, NO_NEW_PRIVILEGES, NOT_DUMPABLE, DATA_LIMIT}
        if platform.machine() in seccomp.ARCHITECTURES:
            steps.add(SECCOMP)
    return frozenset(steps.difference(left_out))


def available(confinement: Confinement) -> frozenset[str]:
    """Try each step in this process, which must end afterwards; return those that worked.

    Raises: ProcessLookupError when the parent is gone.
    """
    return frozenset(
        step for step in STEPS if step in confinement.steps and _works(step, confinement)
    )


def confine(confinement: Confinement) -> None:
    """Take every right that loading a module does not need. Raises: OSError, ValueError."""
    for step in STEPS:
        if step in confinement.steps:
            _APPLY[step](confinement)


def last_step(confinement: Confinement) -> Callable[[], None]:
    """Make ready what takes away all that only loading needed; call it before foreign code.

    The result raises: OSError.
    """
    if SECCOMP not in confinement.steps:
        return lambda: None
    return _installer(seccomp.running(platform.machine(), confinement.channel))


def arm_watchdog(confinement: Confinement) -> None:
    """Let the kernel end this process in time, also from inside native code."""
    if TIMER in confinement.steps:
        signal.setitimer(signal.ITIMER_REAL, _watchdog_ms(confinement) / 1_000)


def drop_root() -> bool:
    """Become nobody where this process is root; whether it is unprivileged now."""
    if os.name != "posix" or os.geteuid() != 0:
        return False
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    return True


def make_filters(channel: int) -> None:
    """Do before a fork what needs to be done once only."""
    if platform.machine() in seccomp.ARCHITECTURES:
        seccomp.loading(platform.machine(), channel)
        seccomp.running(platform.machine(), channel)


def data_bytes() -> int:
    """The data segment of this process (what RLIMIT_DATA counts); 0 where unknown."""
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - no pathlib before a fork
            line = next(line for line in status if line.startswith(b"VmData:"))
    except (OSError, StopIteration):
        return 0
    return int(line.split()[1]) * 1_024


def _works(step: str, confinement: Confinement) -> bool:
    try:
        _APPLY[step](confinement)
    except ProcessLookupError:  # no step that is missing here, but the parent
        raise
    except (OSError, ValueError):
        return False
    return True


def _set_parent_death(confinement: Confinement) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != confinement.parent:
        raise ProcessLookupError("the parent is gone already")


def _set_no_new_privileges(_confinement: Confinement) -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _set_not_dumpable(_confinement: Confinement) -> None:
    _prctl(_PR_SET_DUMPABLE, 0)


def _set_resource_limits(confinement: Confinement) -> None:
    # The second bound after the timer: what the process has used before counts here as well
    seconds = -(-_watchdog_ms(confinement) // 1_000) + 1
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_NOFILE, _DESCRIPTORS_MAX, _DESCRIPTORS_MAX),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
    ):
        _lower(kind, soft, hard)


def _lower(kind: int, soft: int, hard: int) -> None:
    """Set a limit, or leave what is lower already."""
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def _set_data_limit(confinement: Confinement) -> None:
    bounds = confinement.bounds
    extra = (
        bounds.compile_bytes
        if confinement.work is Work.COMPILE
        else bounds.memory_bytes + bounds.worker_bytes
    )
    if not confinement.base_bytes:
        raise OSError("the data segment's size is unknown")
    most = confinement.base_bytes + extra
    _lower(resource.RLIMIT_DATA, most, most)


def _set_timer(confinement: Confinement) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if confinement.work is Work.COMPILE:
        os.nice(_NICENESS_OF_COMPILING)


def _set_seccomp(confinement: Confinement) -> None:
    _installer(seccomp.loading(platform.machine(), confinement.channel))()


_APPLY: dict[str, Callable[[Confinement], None]] = {
    PARENT_DEATH: _set_parent_death,
    NO_NEW_PRIVILEGES: _set_no_new_privileges,
    NOT_DUMPABLE: _set_not_dumpable,
    RESOURCE_LIMITS: _set_resource_limits,
    DATA_LIMIT: _set_data_limit,
    TIMER: _set_timer,
    SECCOMP: _set_seccomp,
}


def _watchdog_ms(confinement: Confinement) -> int:
    bounds = confinement.bounds
    if confinement.work is Work.COMPILE:
        return bounds.compile_watchdog_ms
    return bounds.run_watchdog_ms


def _installer(filtering: bytes) -> Callable[[], None]:
    """Make everything ready, so that nothing but the system call is left."""
    program = seccomp.for_process(filtering, os.getpid())
    what = ctypes.pointer(_Filter(len(program) // 8, program))
    zero, option, mode = map(ctypes.c_ulong, (0, seccomp.PR_SET_SECCOMP, _SECCOMP_MODE_FILTER))

    def install() -> None:
        _checked(_LIBC.prctl(option, mode, what, zero, zero))

    return install


def _prctl(option: int, value: int) -> None:
    _checked(_LIBC.prctl(*map(ctypes.c_ulong, (option, value, 0, 0, 0))))


def _checked(answer: int) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
