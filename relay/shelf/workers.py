"""Worker processes as the host sees them: give bytes, take bytes, kill, learn how it ended.

Starting them is `relay.shelf.forkserver` and `relay.shelf.spawned`; what is said to them is
`relay.shelf.runner`.
"""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Sequence
from typing import Protocol

from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.job import Work

_READ_FEW_BYTES = 65_536
_READ_MANY_BYTES = 1_048_576


class Worker(Protocol):
    """One single-use process; whoever takes it ends it with `dispose`.

    Raises: EOFError, ConnectionError where it is gone.
    """

    takes_descriptors: bool
    """Whether `give` may carry a descriptor."""

    @property
    def is_alive(self) -> bool:
        """Whether no end has been heard of yet."""
        ...

    async def give(self, data: bytes, descriptor: int | None = None) -> None:
        """Send everything; a descriptor goes with the first byte."""
        ...

    async def take(self, count: int) -> bytes:
        """Receive exactly `count` bytes."""
        ...

    async def ended(self) -> int | None:
        """Wait for the exit status (negative: a signal); None where nobody knows it."""
        ...

    def dispose(self) -> None:
        """Kill it, whatever it does, and close what the host holds of it."""
        ...


class WorkerSource(Protocol):
    """A place where workers come from."""

    async def start(self) -> None:
        """Begin to make spares; returns at once."""
        ...

    async def stop(self) -> None:
        """End every worker and whatever makes them."""
        ...

    async def take(self, work: Work) -> Worker:
        """Return a fresh worker. Waits for one as long as the caller lets it."""
        ...

    def take_spare(self) -> Worker | None:
        """Return a fresh worker for RUN if one is waiting."""
        ...

    def refill(self) -> None:
        """A job is done: now is the time to make spares."""
        ...

    def confinement(self) -> list[str] | None:
        """Names of the steps that are active; None before it is known."""
        ...


class ForkedWorker:
    """A child of the fork server; the kernel's pidfd names it without any race."""

    takes_descriptors = True

    def __init__(self, channel: int, pidfd: int) -> None:
        self._pidfd = pidfd
        self._loop = asyncio.get_running_loop()
        self._status: asyncio.Future[int | None] = self._loop.create_future()
        self._received = bytearray()
        self._disposed = False
        self._channel = socket.socket(fileno=channel)  # last: what fails before it owns nothing
        self._channel.setblocking(False)

    @classmethod
    def adopt(cls, descriptors: Sequence[int]) -> "ForkedWorker | None":
        """Take over a channel and a pidfd.

        None where this process had no descriptor or memory left for them: what came is closed,
        by which the child learns it.
        """
        if len(descriptors) == 2:
            with contextlib.suppress(MemoryError):
                return cls(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        return None

    @property
    def is_alive(self) -> bool:
        """Whether no end has been heard of yet."""
        return not self._status.done()

    def report(self, status: int | None) -> None:
        """Take the fork server's word on how it ended."""
        if not self._status.done():
            self._status.set_result(status)

    async def give(self, data: bytes, descriptor: int | None = None) -> None:  # noqa: D102
        if descriptor is not None:
            sent = socket.send_fds(self._channel, [data], [descriptor])
            data = data[sent:]
        if data:
            await self._loop.sock_sendall(self._channel, data)

    async def take(self, count: int) -> bytes:  # noqa: D102
        while len(self._received) < count:
            most = min(max(_READ_FEW_BYTES, count - len(self._received)), _READ_MANY_BYTES)
            piece = await self._loop.sock_recv(self._channel, most)
            if not piece:
                raise EOFError
            self._received += piece
        data = bytes(self._received[:count])
        del self._received[:count]
        return data

    async def ended(self) -> int | None:  # noqa: D102
        return await asyncio.shield(self._status)

    def dispose(self) -> None:  # noqa: D102
        if self._disposed:
            return
        self._disposed = True
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        self._channel.close()


def no_worker(why: str) -> Refusal:
    """The one refusal of a source that can't give a worker."""
    return Refusal(RefusalCode.WORKER_LOST, f"no worker could be started: {why}")
