"""The WebSockets that are open now, so that a stop of the relay can end them in good order."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Literal

from aiohttp import web

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.bucket import TokenBucket

_GOODBYE_S = 1.0

SocketKind = Literal["live", "workspace", "frames"]


class OpenSockets:
    """Sockets enter and leave by themselves; those of voice sessions end when `stopping` is set."""

    def __init__(self, *, limits: Limits) -> None:
        self._limits = limits
        self._of_a_kind: dict[SocketKind, int] = {
            "live": limits.live_sockets_max,
            "workspace": limits.workspace_sockets_max,
            "frames": limits.frames_sockets_max,
        }
        self._placed: Counter[SocketKind] = Counter()
        self._before_hello: deque[asyncio.Timeout] = deque()
        self._failures = TokenBucket(
            burst=limits.hello_failures_burst_max, per_s=limits.hello_failures_per_second_max
        )
        self._open: set[web.WebSocketResponse] = set()
        self._talking: set[web.WebSocketResponse] = set()
        self._silent = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextmanager
    def place(self, kind: SocketKind) -> Iterator[None]:
        """Count a socket from before its upgrade to its end. Raises: Refusal `server-full`."""
        if self._placed[kind] >= self._of_a_kind[kind]:
            raise Refusal(
                RefusalCode.SERVER_FULL, f"the relay has as many {kind} sockets as it may"
            )
        if self._placed.total() >= self._limits.sockets_max:
            raise Refusal(RefusalCode.SERVER_FULL, "the relay has as many sockets as it may")
        self._placed[kind] += 1
        try:
            yield
        finally:
            self._placed[kind] -= 1

    @asynccontextmanager
    async def waiting_for_hello(self) -> AsyncIterator[None]:
        """Bound the time in which a socket says hello; when too many wait, the oldest has had it.

        Wrong tokens are slowed down together.
        Raises: Refusal `unauthenticated-call` for silence; `rate-limited` in the place of
        `bearer-refused`.
        """
        try:
            async with asyncio.timeout(self._limits.hello_timeout_ms / 1000) as patience:
                with self._waiting(patience):
                    yield
        except TimeoutError:
            raise Refusal(RefusalCode.UNAUTHENTICATED_CALL, "no hello came in time") from None
        except Refusal as refusal:
            if refusal.code is RefusalCode.BEARER_REFUSED and not self._failures.take():
                raise Refusal(RefusalCode.RATE_LIMITED, "too many wrong tokens") from None
            raise

    @contextmanager
    def _waiting(self, patience: asyncio.Timeout) -> Iterator[None]:
        # Whoever has the token says so at once, so a crowd that is silent must not keep it out
        if len(self._before_hello) >= self._limits.sockets_before_hello_max:
            oldest = self._before_hello.popleft()
            if not oldest.expired():
                oldest.reschedule(asyncio.get_running_loop().time())
        self._before_hello.append(patience)
        try:
            yield
        finally:
            with suppress(ValueError):
                self._before_hello.remove(patience)

    @contextmanager
    def holding(self, socket: web.WebSocketResponse, kind: SocketKind) -> Iterator[None]:
        """Keep `socket` while it is served; a voice session heeds `stopping` by itself."""
        self._open.add(socket)
        if kind == "live":
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
