"""A conversation under way with any model: the client's side and the tools in the test's hands."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from relay.protocol import messages as wire
from relay.protocol.limits import Limits
from relay.protocol.messages import ToolFrame
from relay.providers.model import LiveModel, LiveSession
from relay.tools.dispatch import ToolDispatcher
from relay.tools.feed import FrameFeed
from relay.tools.registry import ToolRegistry
from relay.tools.tool import AppId
from relay.voice.session import SessionEnded, VoiceSession
from tests.fakes.clients import FakeClient
from tests.fakes.declared import SET_SCORE
from tests.fakes.hosts import Behaviour, FakeHost, echo

APP = AppId("app_x")
PATIENCE_S = 20.0  # an end that a busy machine delays and a fault prevents
# Waits of a real network, shortened
BRISK = Limits(
    provider_reconnect_delay_ms=4,
    provider_close_timeout_ms=300,
)


class Talk:
    """One conversation; `leave` ends it from the client's side."""

    def __init__(self, model: LiveModel, behaviour: Behaviour, limits: Limits) -> None:
        self.limits = limits
        self.registry = ToolRegistry(limits=limits)
        self.host = FakeHost(behaviour)
        self.client = FakeClient()
        self.frames: list[ToolFrame] = []
        feed = FrameFeed(limits=limits)
        feed.subscribe(lambda frame, _: self.frames.append(frame))
        self.session = VoiceSession(
            session_id="session_0123456789abcdef",
            client=self.client,
            model=model,
            registry=self.registry,
            dispatcher=ToolDispatcher(registry=self.registry, publish=feed.publish, limits=limits),
            limits=limits,
            hello=wire.Hello(),
        )
        self.live: LiveSession
        self.end: SessionEnded | None = None
        self.ended = asyncio.Event()
        self._from_client: asyncio.Queue[wire.LiveClientMessage | bytes | None] = asyncio.Queue()

    def says(self, *said: wire.LiveClientMessage | bytes) -> None:
        """Let the client send sound and messages."""
        for item in said:
            self._from_client.put_nowait(item)

    def leave(self) -> None:
        self._from_client.put_nowait(None)

    async def run(self) -> None:
        try:
            self.end = await self.session.run(self._pump, stopping=asyncio.Event())
        finally:
            self.ended.set()

    async def _pump(self, live: LiveSession) -> None:
        self.live = live
        while (item := await self._from_client.get()) is not None:
            if isinstance(item, bytes):
                await self.session.hear(live, item)
            else:
                await self.session.take(live, item)

    def done(self) -> list[ToolFrame]:
        return [frame for frame in self.frames if frame.state == "done"]

    def errors(self) -> list[wire.Error]:
        return [one for one in self.client.messages if isinstance(one, wire.Error)]

    def captions(self, role: str) -> list[str]:
        texts = [one for one in self.client.messages if isinstance(one, wire.Text)]
        return [one.text for one in texts if one.role == role]

    def tools_told(self) -> list[wire.Tools]:
        return [one for one in self.client.messages if isinstance(one, wire.Tools)]


@asynccontextmanager
async def talk(
    model: LiveModel,
    behaviour: Behaviour = echo,
    *,
    tools: Sequence[dict[str, Any]] = (SET_SCORE,),
    limits: Limits = BRISK,
    until: str | None = "ready",
) -> AsyncIterator[Talk]:
    """Hold a conversation; afterwards it has ended, once, and left no task behind."""
    talking = Talk(model, behaviour, limits)
    await talking.registry.replace(talking.host, APP, list(tools))
    before = asyncio.all_tasks()
    task = asyncio.create_task(talking.run())
    try:
        if until is not None:
            await talking.client.until(until)
        yield talking
    finally:
        talking.leave()
        async with asyncio.timeout(PATIENCE_S):
            await task
        assert talking.client.states.count("closed") == 1
        assert talking.client.states[-1] == "closed"
        left = {one for one in asyncio.all_tasks() - before if "tests/" not in repr(one)}
        left = {one for one in left if "relay/" in repr(one)}
        assert left == set()


async def eventually(seen: Any) -> None:
    """Wait until something holds; the test's own timeout bounds it."""
    while not seen():  # noqa: ASYNC110 - what is watched belongs to others
        await asyncio.sleep(0.002)
