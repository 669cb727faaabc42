"""Keeps a conversation with a remote provider going over connections that come and go.

Before the first `Ready` nothing is tried twice: the person is told at once. After it a loss that
can pass is answered by new connections, with a growing wait and some jitter between them.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from time import monotonic
from typing import Protocol

import structlog

from relay.protocol.limits import Limits
from relay.providers import loss
from relay.providers.loss import Lost
from relay.providers.model import ModelEvent, Reconnecting, SessionLost
from relay.providers.websocket import Endpoint, Upstream, dial

_log = structlog.get_logger(__name__)


class Conversation(Protocol):
    """What a provider's session does with a connection; all but `set_up` never wait."""

    async def set_up(self, upstream: Upstream) -> Iterable[ModelEvent]:
        """Agree on the session; ends when it takes sound. Raises: Lost."""
        ...

    def on_frame(self, frame: str | bytes) -> Iterable[ModelEvent]:
        """Follow the provider. Raises: Lost when what it said is final."""
        ...

    def on_disconnect(self, lost: Lost | None) -> Iterable[ModelEvent]:
        """Let go of the connection; `lost` is None after a hang-up of our own."""
        ...


class Line:
    """The connections of one session, one after another."""

    def __init__(self, endpoint: Endpoint, limits: Limits) -> None:
        self._endpoint = endpoint
        self._limits = limits
        self._upstream: Upstream | None = None
        self._closed = False
        self._attempts = 0
        self._was_ready = False
        self._ready_at: float | None = None  # of the connection that is there

    async def events(self, talk: Conversation) -> AsyncIterator[ModelEvent]:
        """Yield events until the session is closed. Raises: SessionLost."""
        try:
            while not self._closed:
                lost = None
                try:
                    for event in await self._connected(talk):
                        yield event
                    while (frame := await self._receive()) is not None:
                        for event in talk.on_frame(frame):
                            yield event
                except Lost as error:
                    lost = error
                for event in talk.on_disconnect(lost):
                    yield event
                await self._hang_up()
                if self._has_ended(lost):
                    return
                attempt = self._next_attempt(lost)
                yield Reconnecting(attempt=attempt)
                await self._pause(attempt)
        finally:
            await self._hang_up()

    async def close(self) -> None:
        """End the session and its connection; idempotent."""
        self._closed = True
        await self._hang_up()

    async def _connected(self, talk: Conversation) -> Iterable[ModelEvent]:
        self._upstream = upstream = await dial(self._endpoint, self._limits)
        if self._closed:
            raise Lost(loss.ENDED, "the session was closed meanwhile", retry=False)
        try:
            async with asyncio.timeout(self._limits.provider_setup_timeout_ms / 1000):
                events = await talk.set_up(upstream)
        except TimeoutError:
            why = f"{self._endpoint.provider} never said that the session is ready"
            raise Lost(loss.FAILED, why, retry=True) from None
        self._was_ready = True
        self._ready_at = monotonic()
        return events

    async def _receive(self) -> str | bytes | None:
        return None if self._upstream is None else await self._upstream.receive()

    async def _hang_up(self) -> None:
        upstream, self._upstream = self._upstream, None
        if upstream is not None:
            await upstream.close()

    def _has_ended(self, lost: Lost | None) -> bool:
        return self._closed or (lost is not None and lost.code == loss.ENDED)

    def _next_attempt(self, lost: Lost | None) -> int:
        """Count an attempt and return its number. Raises: SessionLost when it would be in vain."""
        if self._held_ms() >= self._limits.provider_steady_ms:
            self._attempts = 0
        self._attempts += 1
        if lost is not None and (
            not (self._was_ready or lost.mended)
            or not lost.retry
            or self._attempts > self._limits.provider_reconnects_max
        ):
            _log.warning("provider_lost", code=lost.code, attempt=self._attempts)
            raise SessionLost(lost.why, code=lost.code)
        _log.info("provider_reconnects", code=lost.code if lost else "", attempt=self._attempts)
        return self._attempts

    def _held_ms(self) -> float:
        """How long the connection that was lost had been ready; 0 if it never was."""
        ready_at, self._ready_at = self._ready_at, None
        return 0.0 if ready_at is None else (monotonic() - ready_at) * 1000

    async def _pause(self, attempt: int) -> None:
        if attempt > 1:
            wait_ms = self._limits.provider_reconnect_delay_ms * 2 ** (attempt - 2)
            await asyncio.sleep(wait_ms * random.uniform(0.5, 1.0) / 1000)  # noqa: S311 - jitter
