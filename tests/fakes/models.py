"""A live model that a test plays by hand."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from relay.providers.model import (
    Capabilities,
    ModelEvent,
    SessionConfig,
    SessionLost,
    ToolUpdate,
)
from relay.tools.tool import CallId, Registered, ToolOutcome


class FakeSession:
    """Yields what `play` puts in, notes every command."""

    def __init__(self, config: SessionConfig) -> None:
        self.config = config
        self.heard: list[bytes] = []
        self.texts: list[str] = []
        self.outcomes: dict[CallId, ToolOutcome] = {}
        self.interruptions: list[float | None] = []
        self.tools: list[Sequence[Registered]] = []
        self.activities: list[str] = []
        self.closed = False
        self._events: asyncio.Queue[ModelEvent | SessionLost | None] = asyncio.Queue()

    def play(self, *events: ModelEvent | SessionLost | None) -> None:
        for event in events:
            self._events.put_nowait(event)

    async def events(self) -> AsyncIterator[ModelEvent]:
        while (event := await self._events.get()) is not None:
            if isinstance(event, SessionLost):
                raise event
            yield event

    async def send_audio(self, pcm: bytes) -> None:
        self.heard.append(pcm)

    async def activity(self, kind: Literal["start", "end"]) -> None:
        self.activities.append(kind)

    async def send_text(self, text: str) -> None:
        self.texts.append(text)

    async def send_outcome(self, call_id: CallId, outcome: ToolOutcome) -> bool:
        assert call_id not in self.outcomes, "a call is answered exactly once"
        self.outcomes[call_id] = outcome
        return True

    async def update_tools(self, tools: Sequence[Registered]) -> ToolUpdate:
        self.tools.append(tools)
        return ToolUpdate.APPLIED

    async def interrupt(self, played_ms: float | None) -> None:
        self.interruptions.append(played_ms)

    async def close(self) -> None:
        self.closed = True


class FakeModel:
    """Opens one session, which the test then holds."""

    name = "fake"
    model = "fake-1"
    input_rate_hz = 24_000
    output_rate_hz = 24_000
    capabilities = Capabilities(
        tool_update=True,
        tool_cancel=True,
        audio_during_tool=True,
        resume=False,
        manual_vad=True,
    )
    ready = True
    trouble = None

    def __init__(self) -> None:
        self.opened: asyncio.Queue[FakeSession] = asyncio.Queue()

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def open(self, config: SessionConfig) -> FakeSession:
        session = FakeSession(config)
        self.opened.put_nowait(session)
        return session
