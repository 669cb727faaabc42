"""A host on a machine that lacks something: the system refuses it here. Started by the tests.

python handicapped.py FOLDER HANDICAP [nofork]: prints the answer of hash and the status
"""

import asyncio
import ctypes
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import structlog

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT))

from relay.protocol.limits import Limits  # noqa: E402 - the path comes first
from relay.shelf import seccomp  # noqa: E402
from relay.shelf.host import make_source  # noqa: E402
from tests.shelf.shelves import ask, serving, until  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
EPERM = 0x00050000 | 1
ALLOW = 0x7FFF0000
# (number on x86_64, number on aarch64), first argument that is refused or None for all
REFUSED = {
    "no filters": [((157, 167), 22), ((317, 277), None)],
    "no limits": [((302, 261), None), ((160, 164), None)],
    "no parent-death signal": [((157, 167), 1)],
    "nothing": [],
}


def refuse(calls: list[tuple[tuple[int, int], int | None]]) -> None:
    """Let the system answer EPERM from here on, to this process and all that it starts."""
    code = []
    for numbers, argument in calls:
        number = numbers[0 if platform.machine() == "x86_64" else 1]
        test = [] if argument is None else [(0x20, 0, 0, 16), (0x15, 0, 1, argument)]
        skip = len(test) + 1
        code += [(0x20, 0, 0, 0), (0x15, 0, skip, number), *test, (0x06, 0, 0, EPERM)]
    code.append((0x06, 0, 0, ALLOW))
    program = b"".join(seccomp._INSTRUCTION.pack(*step) for step in code)

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))

    zero = ctypes.c_ulong(0)
    assert LIBC.prctl(38, ctypes.c_ulong(1), zero, zero, zero) == 0
    own = ctypes.pointer(Filter(len(code), program))
    assert LIBC.prctl(22, ctypes.c_ulong(2), own, zero, zero) == 0


async def main() -> dict[str, Any]:
    _, folder, handicap, *how = sys.argv
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    if handicap == "nobody":
        os.setgroups([])
        os.setresgid(65_534, 65_534, 65_534)
        os.setresuid(65_534, 65_534, 65_534)
    else:
        refuse(REFUSED[handicap])
    limits = Limits()
    source = make_source(limits=limits, fork="nofork" not in how)
    async with serving(Path(folder), limits=limits, source=source) as host:
        answer = await ask(host, "hash", input="abc")
        await until(lambda: source.confinement() is not None)
        return {"answer": answer, "worker": (await host.status())["worker"]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main())))
