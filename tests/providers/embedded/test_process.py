"""The relay's side of the engine process, with small programs in the engine's place."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel, wire
from relay.providers.embedded.process import EngineProcess
from tests.fakes.voice import conversation

SPEAK = (
    "import os, sys; from relay.providers.embedded import wire\n"
    "say = lambda m: os.write(1, wire.frame(m))\n"
    "def hear():\n"
    "    size = sys.stdin.buffer.read(4)\n"
    "    if len(size) < 4: os._exit(0)\n"
    "    return wire.read_to_engine(sys.stdin.buffer.read(wire.LENGTH.unpack(size)[0]))\n"
)
LISTEN = "say(wire.Loaded())\nwhile True: hear()\n"


def engine(program: str) -> EngineProcess:
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    return EngineProcess((sys.executable, "-c", path + SPEAK + program), restart_first_s=0.01)


class Witness:
    def __init__(self) -> None:
        self.loaded = asyncio.Event()
        self.lost: asyncio.Queue[tuple[int, str, bool]] = asyncio.Queue()
        self.told: asyncio.Queue[wire.OfSession] = asyncio.Queue()

    def on_loaded(self) -> None:
        self.loaded.set()

    def on_message(self, message: wire.OfSession) -> None:
        self.told.put_nowait(message)

    def on_lost(self, attempt: int, why: str, *, hopeless: bool) -> None:
        self.lost.put_nowait((attempt, why, hopeless))


@asynccontextmanager
async def running(program: str) -> AsyncIterator[tuple[EngineProcess, Witness]]:
    process, witness = engine(program), Witness()
    process.listen("s", witness)
    process.start()
    process.start()
    try:
        yield process, witness
    finally:
        await process.stop()


async def test_an_engine_loads_and_hears_and_speaks() -> None:
    echo = "say(wire.Loaded())\nwhile True:\n    m = hear()\n    say(wire.Started(m.session))\n"
    async with running(echo) as (process, witness):
        assert not await process.send(wire.Interrupt("s"))
        await witness.loaded.wait()
        assert process.loaded
        assert await process.send(wire.Interrupt("s"))
        assert await witness.told.get() == wire.Started("s")
        assert await process.send(wire.Interrupt("another"))
        process.forget("s")
    assert process.pid is None
    await process.stop()


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("sys.exit(1)", "the speech engine ended while it was loading"),
        ("say(wire.Failed('no model here'))", "no model here"),
        ("os.write(1, b'\\x04\\0\\0\\0junk')", "said something that is not a message"),
        ("os.write(1, b'\\xff\\xff\\xff\\xff')", "said something that is not a message"),
        ("say(wire.Loaded())", "ended unexpectedly"),
    ],
)
async def test_a_death_is_told_with_its_reason_and_mended(program: str, why: str) -> None:
    async with running(program) as (_, witness):
        first = await witness.lost.get()
        assert why in first[1]
        second = await witness.lost.get()
        assert why in second[1]


async def test_an_engine_that_never_loads_is_given_up() -> None:
    async with running("sys.exit(1)") as (process, witness):
        seen = [await witness.lost.get() for _ in range(3)]
        assert [hopeless for _, _, hopeless in seen] == [False, False, True]
        assert process.hopeless
        model = EmbeddedModel(process)
        with pytest.raises(Refusal) as refused:
            await model.open(seam.SessionConfig(session_id="x", instructions="", tools=[]))
        assert refused.value.code is RefusalCode.PROVIDER_UNAVAILABLE


async def test_an_engine_that_is_not_understood_is_told_of_and_replaced() -> None:
    class Forgetful(Witness):
        def on_message(self, message: wire.OfSession) -> None:
            raise MemoryError

    echo = "say(wire.Loaded())\nwhile True:\n    m = hear()\n    say(wire.Started(m.session))\n"
    async with running(echo) as (process, witness):
        await witness.loaded.wait()
        process.listen("forgetful", Forgetful())
        assert await process.send(wire.Interrupt("forgetful"))
        _, why, _ = await witness.lost.get()
        assert why == "the relay failed while it listened to the speech engine"
        process.forget("forgetful")
        witness.loaded.clear()
        await witness.loaded.wait()
        assert await process.send(wire.Interrupt("s"))
        assert await witness.told.get() == wire.Started("s")


async def test_a_program_that_is_not_there_is_told() -> None:
    process, witness = EngineProcess(("/nonexistent/engine",), restart_first_s=0.01), Witness()
    process.listen("s", witness)
    process.start()
    _, why, _ = await witness.lost.get()
    assert why.startswith("the speech engine can't be started")
    await process.stop()


async def test_in_silence_sound_comes_in_pieces_and_an_edge_after_all_of_it() -> None:
    tell = (
        "say(wire.Loaded())\nwhile True:\n    m = hear()\n"
        "    if isinstance(m, wire.Hear): say(wire.Trouble(m.session, 'n', str(len(m.pcm))))\n"
        "    if isinstance(m, wire.Activity): say(wire.Trouble(m.session, 'n', m.kind))\n"
    )
    model = EmbeddedModel(engine(tell))
    async with conversation(model) as talk:
        for _ in range(5):
            await talk.session.send_audio(bytes(640))
        await talk.session.activity("start")
        await talk.until(seam.ModelError, 3)
        assert [error.message for error in talk.of(seam.ModelError)] == ["2048", "1152", "start"]
    await model.stop()


async def to_the_end(session: seam.LiveSession) -> None:
    async for _ in session.events():
        pass


async def test_a_session_that_waits_for_a_hopeless_engine_is_lost() -> None:
    model = EmbeddedModel(engine("sys.exit(1)"))
    session = await model.open(seam.SessionConfig(session_id="x", instructions="", tools=[]))
    with pytest.raises(seam.SessionLost) as lost:
        await to_the_end(session)
    assert lost.value.why == "the speech engine ended while it was loading"
    await model.stop()


async def test_stopping_the_model_ends_its_sessions() -> None:
    model = EmbeddedModel(engine(LISTEN))
    await model.start()
    session = await model.open(seam.SessionConfig(session_id="x", instructions="", tools=[]))
    events = session.events()
    assert await anext(events) == seam.Ready()
    assert model.ready
    await model.stop()
    with pytest.raises(seam.SessionLost):
        await to_the_end(session)


async def test_a_session_of_a_dead_engine_says_so_to_typed_text() -> None:
    once = "say(wire.Loaded())\nhear()\nsys.exit(1)\n"
    model = EmbeddedModel(engine(once))
    async with conversation(model) as talk:
        await talk.until(seam.Reconnecting)
        await talk.session.send_text("stop the timer")
        await talk.until(seam.ModelError, 2)
        assert {error.code for error in talk.of(seam.ModelError)} == {"engine-lost"}
    await model.stop()


async def test_a_session_whose_first_engine_died_at_once_still_becomes_ready() -> None:
    program = (
        "import pathlib; seen = pathlib.Path(FILE)\n"
        "say(wire.Loaded())\n"
        "if not seen.exists():\n    seen.touch(); os._exit(1)\n"
        "while True: hear()\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        process = engine(program.replace("FILE", repr(f"{folder}/seen")))
        model = EmbeddedModel(process)
        session = await model.open(seam.SessionConfig(session_id="x", instructions="", tools=[]))
        witness = Witness()
        process.listen("witness", witness)
        await witness.lost.get()
        witness.loaded.clear()
        await witness.loaded.wait()
        kinds = []
        async for event in session.events():
            kinds.append(type(event))
            if isinstance(event, seam.Ready):
                break
        assert seam.Resumed not in kinds
        await session.close()
        await model.stop()
