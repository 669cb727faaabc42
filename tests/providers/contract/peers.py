"""Every provider behind one face, so that one suite of invariants runs over all of them.

A `Peer` is the other end: it makes the model do things and tells what arrived there. The script
provider has no other end; its peer writes the script, and reads the tool frames.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import orjson

from relay.providers.model import LiveModel
from relay.providers.script import Script, ScriptModel
from tests.fakes.gemini_live import FakeGemini, GeminiConnection
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection, Response
from tests.fakes.provider_server import ProviderServer
from tests.fakes.remote import gemini_model, openai_model
from tests.fakes.talks import Talk, eventually

SECOND = b"\1\0" * 24_000
Json = dict[str, Any]


class Peer(Protocol):
    """One model's other end. `plan` is what it will do; `play` makes it do that."""

    model: LiveModel

    async def play(self, talk: Talk) -> None:
        """Do what was planned, after the session is ready."""
        ...

    def answered(self, talk: Talk) -> list[Any]:
        """The outcomes that the model got, in the order in which it got them."""
        ...

    def configuration(self) -> Any:
        """What the session was told to be, as far as there is such a thing."""
        ...

    def heard(self) -> bytes:
        """The sound that arrived there."""
        ...

    def is_open(self) -> bool:
        """Whether the model's end of the session is still there."""
        ...

    async def lose(self) -> None:
        """End the session from the model's side, for good."""
        ...


class Plan(msgspec.Struct, kw_only=True):
    """Calls that are made at once, then sound, then perhaps the end of the turn."""

    calls: list[tuple[str, dict[str, Any]]] = []
    sound_ms: int = 0
    end: bool = False


def points(number: int) -> tuple[str, dict[str, Any]]:
    """A call that every provider can be made to make, the one that only hears words too."""
    return ("set_score", {"team": "home", "points": number})


class ScriptPeer:
    """The script provider; what it got is read off the tool frames."""

    def __init__(self, plan: Plan) -> None:
        steps: list[Json] = [{"hear": {"text": "go"}}]
        steps += [{"call": {"name": n, "args": a, "wait": False}} for n, a in plan.calls]
        steps += [{"tone": {"ms": 20}} for _ in range(plan.sound_ms // 20)]
        steps += [{"end": True}] if plan.end else []
        script = msgspec.convert({"steps": steps}, Script)
        self.model = ScriptModel(lambda: script)
        self._talk: Talk | None = None

    async def play(self, talk: Talk) -> None:
        self._talk = talk
        await talk.live.send_text("go")

    def answered(self, talk: Talk) -> list[Any]:
        return [
            {"result": orjson.loads(str(one.output))} if one.ok else {"refused": one.refused}
            for one in talk.done()
            if one.delivered
        ]

    def configuration(self) -> Any:
        return None

    def heard(self) -> bytes:
        raise NotImplementedError

    def is_open(self) -> bool:
        return self._talk is not None and not vars(self._talk.live)["_closed"]

    async def lose(self) -> None:
        assert self._talk is not None
        await self._talk.live.close()


Connected = TypeVar("Connected", OpenAIConnection, GeminiConnection)


class ServerPeer(Generic[Connected]):
    """What the fakes of remote models have in common: a server, and the connection that came."""

    def __init__(self, server: ProviderServer[Connected], plan: Plan) -> None:
        self.server = server
        self._plan = plan
        self._connection: Connected | None = None

    @property
    def connection(self) -> Connected:
        """The one that `play` was begun over."""
        assert self._connection is not None
        return self._connection

    async def connected(self) -> Connected:
        """Wait for the session's connection to be ready."""
        self._connection = connection = await self.server.connection()
        await connection.ready()
        return connection

    def heard(self) -> bytes:
        return bytes(self.connection.audio)

    def is_open(self) -> bool:
        return bool(self.server.open)

    async def lose(self) -> None:
        (connection,) = self.server.open
        await connection.close(1008, "policy")


class OpenAIPeer(ServerPeer[OpenAIConnection]):
    """OpenAI's fake."""

    def __init__(self, server: FakeOpenAI, plan: Plan) -> None:
        super().__init__(server, plan)
        self.model = openai_model(server)

    async def play(self, talk: Talk) -> None:
        connection = await self.connected()
        response = await connection.response()
        for name, args in self._plan.calls:
            await response.call(name, orjson.dumps(args).decode())
        if self._plan.sound_ms:
            await self._speak(response)
        if self._plan.end:
            await response.done()

    async def _speak(self, response: Response) -> None:
        item = await response.message()
        for _ in range(self._plan.sound_ms // 20):
            await response.audio(item, SECOND[:960])
        if self._plan.end:
            await response.end_message(item)

    def answered(self, talk: Talk) -> list[Any]:
        return [orjson.loads(one) for one in self.connection.outputs.values()]

    def configuration(self) -> Any:
        return orjson.dumps(self.connection.session)


class GeminiPeer(ServerPeer[GeminiConnection]):
    """Gemini's fake, with one generation of its models."""

    def __init__(self, server: FakeGemini, plan: Plan, name: str) -> None:
        super().__init__(server, plan)
        self.model = gemini_model(server, model=name)

    async def play(self, talk: Talk) -> None:
        connection = await self.connected()
        if self._plan.calls:
            await connection.call(*self._plan.calls)
        if self._plan.sound_ms and connection.model.blocking:
            await eventually(lambda: not connection.pending)
        for _ in range(self._plan.sound_ms // 20):
            await connection.speak(SECOND[:960])
        if self._plan.end:
            await connection.turn_complete()

    def answered(self, talk: Talk) -> list[Any]:
        return list(self.connection.answers.values())

    def configuration(self) -> Any:
        return (self.connection.setup, self.connection.updates)


Opener = Callable[[Plan], AbstractAsyncContextManager[Peer]]


@asynccontextmanager
async def script(plan: Plan) -> AsyncIterator[Peer]:
    await asyncio.sleep(0)
    yield ScriptPeer(plan)


@asynccontextmanager
async def openai(plan: Plan) -> AsyncIterator[Peer]:
    async with FakeOpenAI() as server:
        yield OpenAIPeer(server, plan)
    assert server.faults == []


def gemini(name: str) -> Opener:
    @asynccontextmanager
    async def opened(plan: Plan) -> AsyncIterator[Peer]:
        async with FakeGemini() as server:
            server.in_flight_s = 10.0  # a flood may be under way when the call comes
            yield GeminiPeer(server, plan, name)
        assert server.faults == []

    return opened


REMOTE: dict[str, Opener] = {
    "openai": openai,
    "gemini-2.5": gemini("models/gemini-2.5-flash-native-audio"),
    "gemini-3.1": gemini("models/gemini-3.1-flash-live-preview"),
    "gemini-3.8": gemini("models/gemini-3.8-live"),
}
EVERY: dict[str, Opener] = {"script": script, **REMOTE}
