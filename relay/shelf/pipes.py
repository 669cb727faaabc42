"""A worker that is a process of its own and talks through its standard input and output."""

import asyncio
import asyncio.subprocess
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import cast

from relay.shelf.launch import surroundings

_UNREAD_MAX_BYTES = 1_048_576
_INPUT, _OUTPUT = 0, 1


class PipeWorker(asyncio.SubprocessProtocol):
    """A `Worker`; see `start`."""

    takes_descriptors = False

    def __init__(self) -> None:
        self._transport: asyncio.SubprocessTransport | None = None
        self._received = bytearray()
        self._at_end = False
        self._news = asyncio.Event()
        self._ended = asyncio.Event()
        self._disposed = False

    @classmethod
    async def start(cls, command: Sequence[str]) -> "PipeWorker":
        """Start a process. Raises: OSError."""
        loop = asyncio.get_running_loop()
        _, worker = await loop.subprocess_exec(
            cls, *command, stderr=asyncio.subprocess.DEVNULL, **surroundings()
        )
        return worker

    # ---- what the event loop says -----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: D102
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: D102
        self._received += data
        if len(self._received) > _UNREAD_MAX_BYTES:
            self._output.pause_reading()
        self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: D102
        if fd == _OUTPUT:
            self._at_end = True
            self._news.set()

    def process_exited(self) -> None:  # noqa: D102
        self._ended.set()
        if self._disposed:
            self._close()

    # ---- what the host asks -----------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        """Whether no end has been heard of yet."""
        return not self._ended.is_set()

    async def give(self, data: bytes, descriptor: int | None = None) -> None:  # noqa: D102
        assert descriptor is None
        self._input.write(data)

    async def take(self, count: int) -> bytes:  # noqa: D102
        while len(self._received) < count:
            if self._at_end:
                raise EOFError
            self._news.clear()
            self._output.resume_reading()
            await self._news.wait()
        data = bytes(self._received[:count])
        del self._received[:count]
        return data

    async def ended(self) -> int | None:  # noqa: D102
        await self._ended.wait()
        assert self._transport is not None
        return self._transport.get_returncode()

    def dispose(self) -> None:  # noqa: D102
        if self._disposed:
            return
        self._disposed = True
        self._input.close()
        self._output.close()
        assert self._transport is not None
        if self.is_alive:
            _kill(self._transport)
        else:
            self._close()

    def _close(self) -> None:
        """Give the transport up; before its process has ended, that would wait for it."""
        assert self._transport is not None
        self._transport.close()

    @property
    def _input(self) -> asyncio.WriteTransport:
        assert self._transport is not None
        return cast("asyncio.WriteTransport", self._transport.get_pipe_transport(_INPUT))

    @property
    def _output(self) -> asyncio.ReadTransport:
        assert self._transport is not None
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(_OUTPUT))


def _kill(transport: asyncio.SubprocessTransport) -> None:
    """Kill without asking first whether it lives: that would take the loop's news away."""
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            transport.kill()
        else:
            os.kill(transport.get_pid(), signal.SIGKILL)
