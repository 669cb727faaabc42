"""A worker process that lies, started by the tests: it reads nothing it need not read.

python -I liar.py ROOT LIE
"""

import os
import signal
import sys
import time

sys.path.append(sys.argv[1])

from relay.shelf.job import ReplyKind, pack_reply

MIB = 1024 * 1024
HONEST = pack_reply(ReplyKind.ANSWER, b"\7" * 32, 32)


def say(data: bytes) -> None:
    """Write everything."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def head(kind: int, size: int) -> bytes:
    """A reply's head whose body may never come."""
    return pack_reply(ReplyKind.ANSWER, b"", 32).replace(
        b"\1\0\0\0\0\0\0\0", bytes([kind, 0, 0, 0]) + size.to_bytes(4, "little"), 1
    )


def drip() -> None:
    """One byte now and then, for longer than anybody waits."""
    for byte in HONEST:
        say(bytes([byte]))
        time.sleep(0.05)
    time.sleep(60)


def go_on() -> None:
    """A right answer, and then more without end."""
    while True:
        say(HONEST)


def close_and_spin() -> None:
    """Hang up and live on."""
    os.close(1)
    time.sleep(60)


LIES = {
    "none": lambda: say(HONEST),
    "a head of 3 MB": lambda: (say(head(1, 3 * MIB)), time.sleep(60)),
    "a body that never comes": lambda: (say(head(1, 32)), time.sleep(60)),
    "one byte at a time": drip,
    "more after the reply": go_on,
    "an artefact": lambda: say(pack_reply(ReplyKind.ARTEFACT, b"x" * MIB)),
    "an answer": lambda: say(HONEST),
    "an unknown kind": lambda: say(head(9, 0)),
    "a refusal of 5 kB": lambda: say(head(2, 5_000)),
    "a code that is the host's": lambda: say(pack_reply(ReplyKind.REFUSAL, b"digest-mismatch\0x")),
    "a code that there is not": lambda: say(pack_reply(ReplyKind.REFUSAL, b"you-lose\0x")),
    "a refusal of nothing": lambda: say(pack_reply(ReplyKind.REFUSAL, b"")),
    "terminal codes": lambda: say(
        pack_reply(ReplyKind.REFUSAL, b"wasm-trap\0\x1b[2J\n" + b"\xff" * 3_000)
    ),
    "half a head": lambda: say(HONEST[:5]),
    "silence": lambda: time.sleep(60),
    "hang up": close_and_spin,
    "exit 0": lambda: sys.exit(0),
    "exit 3": lambda: sys.exit(3),
    **{
        name: lambda name=name: os.kill(os.getpid(), getattr(signal, name))
        for name in ("SIGSEGV", "SIGSYS", "SIGALRM", "SIGXCPU", "SIGABRT", "SIGKILL")
    },
    "a signal without a name": lambda: os.kill(os.getpid(), 40),
}

if __name__ == "__main__":
    LIES[sys.argv[2]]()
