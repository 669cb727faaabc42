"""The WebSockets that are open now, so that a stop of the relay can end them in good order."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aiohttp import web

_GOODBYE_S = 1.0


class OpenSockets:
    """Sockets enter and leave by themselves; those of voice sessions end when `stopping` is set."""

    def __init__(self) -> None:
        self._open: set[web.WebSocketResponse] = set()
        self._talking: set[web.WebSocketResponse] = set()
        self._silent = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextmanager
    def holding(self, socket: web.WebSocketResponse, *, heeds_stopping: bool) -> Iterator[None]:
        """Keep `socket` while it is served; one that heeds `stopping` says goodbye by itself."""
        self._open.add(socket)
        if heeds_stopping:
            self._talking.add(socket)
        try:
            yield
        finally:
            self._open.discard(socket)
            self._talking.discard(socket)
            if not self._talking:
                self._silent.set()

    async def close_all(self) -> None:
        """Set `stopping`, wait for the goodbyes, then close what is still open with 1001."""
        self.stopping.set()
        if self._talking:
            with suppress(TimeoutError):
                self._silent.clear()
                await asyncio.wait_for(self._silent.wait(), _GOODBYE_S)
        await asyncio.gather(
            *(socket.close(code=1001, message=b"the relay stops") for socket in self._open)
        )
