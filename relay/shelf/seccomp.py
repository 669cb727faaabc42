"""The two system-call filters of a worker, as classic BPF programs. Pure data; installs nothing.

LOADING lets a worker receive its job and make native code of an artefact; RUNNING, which is
on before any foreign code runs, lets it compute, answer and end. Everything else kills it.

Source: seccomp(2), linux/seccomp.h, linux/audit.h, asm/unistd.h of both architectures.
"""

import functools
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

PROT_EXEC = 4
PR_SET_SECCOMP = 22
_STANDARD_ERROR = 2

_LOAD = 0x20  # A = word at offset k of seccomp_data
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_BITS = 0x45
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_KILL = 0x80000000  # the whole process, with SIGSYS
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_INSTRUCTION = struct.Struct("<HBBI")
_OWN_PID = b"\xfe\xca\xfe\x7f"  # larger than any process's number


class Architecture(NamedTuple):
    """An audit number, and the numbers of the calls that a worker may need."""

    audit: int
    calls: Mapping[str, int]
    foreign_from: int | None = None  # numbers from here on belong to another ABI (x32)


class Rule(NamedTuple):
    """Allow a call; with `argument`, only if its low word is one of, or has none of the bits."""

    call: str
    argument: int | None = None
    one_of: tuple[int, ...] = ()
    without_bits: int = 0


# call: (number on x86_64, number on aarch64)
_NUMBERS = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "brk": (12, 214),
    "madvise": (28, 233),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "pread64": (17, 67),
    "recvmsg": (47, 212),
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "futex": (202, 98),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "tgkill": (234, 131),
    "clock_gettime": (228, 113),
    "getrandom": (318, 278),
    "sched_yield": (24, 124),
    "prctl": (157, 167),
    "setitimer": (38, 103),
    "membarrier": (324, 283),
}
ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": Architecture(
        0xC000003E, {name: x86 for name, (x86, _) in _NUMBERS.items()}, foreign_from=0x40000000
    ),
    "aarch64": Architecture(0xC00000B7, {name: arm for name, (_, arm) in _NUMBERS.items()}),
}

_COMPUTING = (
    *("munmap", "mremap", "brk", "madvise", "futex", "rt_sigprocmask", "rt_sigreturn"),
    *("sigaltstack", "clock_gettime", "getrandom", "sched_yield", "getpid", "gettid"),
    *("exit", "exit_group", "close"),
)
_RECEIVING = (*("read", "recvmsg", "recvfrom", "pread64", "setitimer", "membarrier"),)


@functools.cache
def loading(machine: str, channel: int) -> bytes:
    """Filter from a worker's birth until its artefact is loaded; see `for_process`."""
    rules = [
        *map(Rule, (*_RECEIVING, "mmap", "mprotect")),
        Rule("prctl", argument=0, one_of=(PR_SET_SECCOMP,)),
        # the engine complains of a lack of memory before it aborts; nobody hears it
        *_shared(channel, _STANDARD_ERROR),
    ]
    return program(ARCHITECTURES[machine], rules)


@functools.cache
def running(machine: str, channel: int) -> bytes:
    """Filter while foreign code runs: nothing comes in, no new memory is executable."""
    rules = [
        Rule("mmap", argument=2, without_bits=PROT_EXEC),
        Rule("mprotect", argument=2, without_bits=PROT_EXEC),
        *_shared(channel),
    ]
    return program(ARCHITECTURES[machine], rules)


def for_process(filtering: bytes, pid: int) -> bytes:
    """Let a filter's process signal itself; filters are made once, before processes are."""
    return filtering.replace(_OWN_PID, pid.to_bytes(4, "little"))


def _shared(channel: int, *also_written: int) -> Iterable[Rule]:
    yield Rule("write", argument=0, one_of=(channel, *also_written))
    yield Rule("sendto", argument=0, one_of=(channel,))
    # abort() signals its own process
    yield Rule("tgkill", argument=0, one_of=(int.from_bytes(_OWN_PID, "little"),))
    yield from map(Rule, _COMPUTING)


def program(architecture: Architecture, rules: Iterable[Rule]) -> bytes:
    """Assemble: another architecture or an unlisted call is the end of the process."""
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture.foreign_from is not None:
        code += [(_JUMP_AT_LEAST, 0, 1, architecture.foreign_from), (_RETURN, 0, 0, _KILL)]
    for rule in rules:
        block = _block(rule)
        code += [(_JUMP_EQUAL, 0, len(block), architecture.calls[rule.call]), *block]
    code.append((_RETURN, 0, 0, _KILL))
    return b"".join(_INSTRUCTION.pack(*step) for step in code)


def _block(rule: Rule) -> Sequence[tuple[int, int, int, int]]:
    """What follows once the number matched; the number is not needed after an argument."""
    if rule.argument is None:
        return [(_RETURN, 0, 0, _ALLOW)]
    load = (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument)  # the low word: both are little endian
    if rule.one_of:
        last = len(rule.one_of) - 1
        tests = [
            (_JUMP_EQUAL, last - at, int(at == last), value)  # to the end of the tests, or on
            for at, value in enumerate(rule.one_of)
        ]
    else:
        tests = [(_JUMP_BITS, 1, 0, rule.without_bits)]
    return [load, *tests, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
