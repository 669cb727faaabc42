"""Follows a room's frames for a person at a terminal: draws a table anew, and reconnects."""

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from rich.console import Console
from rich.live import Live

from relay.cli.connection import Connection
from relay.cli.error import CommandError, UnreachableError
from relay.cli.frame_figures import FrameFigures
from relay.cli.frames_table import FramesTable
from relay.cli.show import printable
from relay.protocol import codec, messages

_DRAWN_EVERY_S = 0.5
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 8.0


class Watch:
    """One table on one terminal. Ends with the task that runs it."""

    def __init__(self, connection: Connection, *, console: Console, last: int) -> None:
        self._connection = connection
        self._console = console
        self._last = last
        self._live = Live(console=console, screen=True, auto_refresh=False)
        self._figures = FrameFigures()
        self._drawn = 0.0
        self._state = "connecting"

    async def run(self) -> None:
        """Follow for good. Raises: CommandError if refused, or if no relay answers at first."""
        attempt = 0
        try:
            while True:
                try:
                    async with self._connected() as socket:
                        attempt = 0
                        await self._follow(socket)
                except UnreachableError:
                    if not self._drawn:
                        raise
                self._figures.interrupt()
                attempt += 1
                await self._wait(pause_s(attempt, random.random()))  # noqa: S311 - no secret
        finally:
            self._live.stop()

    def print_last(self) -> None:
        """Leave the figures on the terminal, once its own screen is back."""
        if self._drawn:
            self._console.print(self._table())

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        async with self._connection.socket("/frames", last=self._last) as socket:
            self._state = "connected"
            yield socket

    async def _follow(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Until the relay ends it."""
        while True:
            if time.monotonic() - self._drawn >= _DRAWN_EVERY_S:
                self._draw()
            try:
                message = await socket.receive(timeout=_DRAWN_EVERY_S)
            except TimeoutError:
                continue
            if message.type is aiohttp.WSMsgType.TEXT:
                self._take(codec.decode_frames_server(message.data))
            elif message.type is not aiohttp.WSMsgType.BINARY:
                return

    def _take(self, told: messages.FramesServerMessage) -> None:
        match told:
            case messages.ToolFrame():
                self._figures.add(told, now=time.time())
            case messages.Dropped():
                self._figures.lost += told.count
            case messages.Refused():
                raise CommandError(f"refused ({told.refused}): {printable(told.why)}")

    async def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._state = f"relay not reachable, trying again in {left:.0f} s"
            self._draw()
            await asyncio.sleep(min(left, _DRAWN_EVERY_S))

    def _draw(self) -> None:
        self._live.start()  # the terminal is left alone until a relay has answered
        self._live.update(self._table(), refresh=True)
        self._drawn = time.monotonic()

    def _table(self) -> FramesTable:
        place = f"{self._connection.url} room {self._connection.room}"
        return FramesTable(self._figures, place=place, state=self._state, now=time.time())


def pause_s(attempt: int, chance: float) -> float:
    """How long to wait after so many tries in a row that failed, from 1; `chance` is 0 to 1."""
    longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10))
    return longest * (0.5 + chance / 2)


async def _until_told(shown: Watch) -> None:
    """Give the terminal back at a SIGTERM too."""
    watching = asyncio.current_task()
    assert watching is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, watching.cancel)
    await shown.run()


def watch(connection: Connection, *, last: int) -> None:
    """Show the table until Ctrl-C or a SIGTERM. Raises: CommandError, KeyboardInterrupt."""
    shown = Watch(connection, console=Console(), last=last)
    try:
        asyncio.run(_until_told(shown))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        shown.print_last()
