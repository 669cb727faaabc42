"""What the host says to workers and to the fork server, and what they answer. Pure.

To a worker: a code part (its size; a module to COMPILE or an artefact to RUN, as bytes or
as a descriptor) and, to RUN, a call part (ABI, sizes, inputs), perhaps much later. To the
host: one reply. To the fork server, one packet a message: `F`
work count warm; back: `H` JSON (what works here), `W` work pid with a socket and a pidfd, `X` pid
status, `E` work errno (a fork that failed).

Both ends are ours, but a worker that ran foreign code may lie: whoever reads a reply checks
its kind and its length before taking more.
"""

import json
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class Work(IntEnum):
    """What a worker is made for; it decides its bounds before the job comes."""

    RUN = 1
    COMPILE = 2


class ReplyKind(IntEnum):
    """ANSWER to a RUN, ARTEFACT to a COMPILE, REFUSAL to either."""

    ANSWER = 1
    REFUSAL = 2
    ARTEFACT = 3


class ReplyHead(NamedTuple):
    """`body_bytes` follow: output, `code NUL detail`, or the artefact."""

    kind: int
    body_bytes: int
    returned: int


class Bounds(NamedTuple):
    """What a worker may use; travels to the worker side as one JSON argument."""

    memory_bytes: int
    worker_bytes: int
    compile_bytes: int
    run_watchdog_ms: int
    compile_watchdog_ms: int
    left_out: tuple[str, ...]

    def to_json(self) -> str:
        """Write for a command line."""
        return json.dumps(self._asdict())

    @classmethod
    def from_json(cls, text: str) -> "Bounds":
        """Read what `to_json` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "left_out": tuple(fields["left_out"])})


REFUSAL_MAX_BYTES = 4_096
PROBE = "PROBE"  # what a spawned process is asked instead of a kind of work
CHANNEL = 3  # the descriptor that a forked worker talks through

FORK = struct.Struct("<cBB?")
BORN = struct.Struct("<cBI")
DIED = struct.Struct("<cIi")
FAILED = struct.Struct("<cBi")
PACKET_MAX_BYTES = 4_096

_CODE = struct.Struct("<I?")
_CALL = struct.Struct("<24sII")
_REPLY = struct.Struct("<BxxxIq")
CODE_HEAD_BYTES = _CODE.size
CALL_HEAD_BYTES = _CALL.size
REPLY_HEAD_BYTES = _REPLY.size


def pack_code(size: int, code: bytes = b"", *, has_start: bool = False) -> bytes:
    """Write a code part; without `code`, its bytes are in a descriptor."""
    return _CODE.pack(size, has_start) + code


def unpack_code(data: bytes) -> tuple[int, bool]:
    """Read a head of CODE_HEAD_BYTES: the size, and whether a start function would run."""
    size, has_start = _CODE.unpack(data)
    return size, has_start


def pack_call(abi: str, inputs: Sequence[bytes]) -> bytes:
    """Write a call part of one or two inputs."""
    first, second = (*map(len, inputs), 0)[:2]
    return b"".join((_CALL.pack(abi.encode(), first, second), *inputs))


def unpack_call(data: bytes) -> tuple[str, tuple[int, int]]:
    """Read a head of CALL_HEAD_BYTES: the ABI's name and the inputs' sizes."""
    abi, first, second = _CALL.unpack(data)
    return abi.rstrip(b"\0").decode(), (first, second)


def pack_reply(kind: ReplyKind, body: bytes, returned: int = 0) -> bytes:
    """Write a whole reply."""
    return _REPLY.pack(kind, len(body), returned) + body


def unpack_reply(data: bytes) -> ReplyHead:
    """Read a head of REPLY_HEAD_BYTES."""
    return ReplyHead(*_REPLY.unpack(data))
