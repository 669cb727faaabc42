"""The WebSockets that are open now, so that a stop of the relay can end them in good order."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aiohttp import web

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.bucket import TokenBucket

_GOODBYE_S = 1.0


class OpenSockets:
    """Sockets enter and leave by themselves; those of voice sessions end when `stopping` is set."""

    def __init__(self, *, limits: Limits) -> None:
        self._limits = limits
        self._before_hello = 0
        self._failures = TokenBucket(
            burst=limits.hello_failures_burst_max, per_s=limits.hello_failures_per_second_max
        )
        self._open: set[web.WebSocketResponse] = set()
        self._talking: set[web.WebSocketResponse] = set()
        self._silent = asyncio.Event()
        self.stopping = asyncio.Event()

    def check_room(self) -> None:
        """Before the upgrade. Raises: Refusal `server-full`."""
        waiting_max = self._limits.sockets_before_hello_max
        if len(self._open) >= self._limits.sockets_max or self._before_hello >= waiting_max:
            raise Refusal(RefusalCode.SERVER_FULL, "the relay has as many sockets as it may")

    @contextmanager
    def waiting_for_hello(self) -> Iterator[None]:
        """Count a socket while it is not known; wrong tokens are slowed down together.

        Raises: Refusal `rate-limited` in the place of `bearer-refused`.
        """
        self._before_hello += 1
        try:
            yield
        except Refusal as refusal:
            if refusal.code is RefusalCode.BEARER_REFUSED and not self._failures.take():
                raise Refusal(RefusalCode.RATE_LIMITED, "too many wrong tokens") from None
            raise
        finally:
            self._before_hello -= 1

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
        await self._close(1001, b"the relay stops")

    async def revoke(self) -> None:
        """Send everybody away whose hello was answered: the token is another one now."""
        await self._close(1008, b"bearer-refused")

    async def _close(self, code: int, reason: bytes) -> None:
        await asyncio.gather(
            *(socket.close(code=code, message=reason) for socket in tuple(self._open))
        )
