"""When the host dies, all that it started dies, whatever it is doing."""

import asyncio
import asyncio.subprocess
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.forkserver import ForkServer
from relay.shelf.host import make_source
from relay.tools.tool import Waiting
from tests.shelf.hostile.modules import hashing
from tests.shelf.shelves import LIMITS, Shelf, ask, serving, until

HERE = Path(__file__).resolve().parent
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def lives(pid: int) -> bool:
    """Whether a process runs (a dead one that nobody buried does not)."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


@linux_only
@pytest.mark.parametrize("how", ["fork", "nofork"])
async def test_a_killed_host_leaves_nothing_behind(shelf: Shelf, how: str) -> None:
    shelf.put("loop", hashing("(loop $on (br $on)) (i32.const 32)"))
    shelf.put_shipped("hash")
    host = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "orphan.py"), str(shelf.folder), how,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert host.stdout is not None
    try:
        started = [int(pid) for pid in (await host.stdout.readline()).split()]
        living = sum(map(lives, started))
    finally:
        host.kill()
        await host.wait()
    assert living >= 2  # the one that loops, and a spare; others may have ended by themselves
    await until(lambda: not any(map(lives, started)))


@linux_only
async def test_a_fork_server_that_dies_is_replaced(shelf: Shelf) -> None:
    shelf.put("loop", hashing("(loop $on (br $on)) (i32.const 32)"))
    shelf.put_shipped("hash")
    source = make_source(limits=LIMITS)
    assert isinstance(source, ForkServer)
    others = _children()
    async with serving(shelf.folder, source=source) as host:
        await host.prove()
        waiting = Waiting()
        call = asyncio.create_task(ask(host, "loop", waiting, input=""))
        await until(lambda: waiting.queued_ms > 0)  # a worker has it
        (zygote,) = _children() - others
        os.kill(zygote, signal.SIGKILL)
        with pytest.raises(Refusal) as refused:
            await call
        assert refused.value.code is RefusalCode.WORKER_LOST
        assert (await ask(host, "hash", input="abc"))["returned"] == 32
        assert zygote not in _children()
        assert _children() - others


def _children() -> set[int]:
    own = os.getpid()
    return {int(pid) for pid in Path(f"/proc/{own}/task/{own}/children").read_text().split()}
