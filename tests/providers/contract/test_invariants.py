"""The ten invariants of a live session, over every provider; `embedded` has a file of its own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from relay.protocol import messages as wire
from relay.providers.model import ModelEvent, SessionConfig, ToolCallRequested
from relay.providers.script import Script, ScriptModel
from relay.providers.script.model import ScriptSession
from tests.fakes.declared import SET_SCORE, tool
from tests.fakes.gemini_live import FakeGemini
from tests.fakes.hosts import hang
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection
from tests.fakes.remote import gemini_model, openai_model
from tests.fakes.talks import APP, eventually, talk
from tests.providers.contract.invariants import INVARIANTS, Invariant
from tests.providers.contract.peers import EVERY, REMOTE, Opener, Plan

WORK = tool("work", number={"type": "integer"}, slow={"type": "boolean"})
over_every_provider = pytest.mark.parametrize("peer_of", EVERY.values(), ids=EVERY)
over_those_that_go_on = pytest.mark.parametrize(
    "peer_of", [EVERY["script"], REMOTE["openai"], REMOTE["gemini-3.8"]]
)
over_every_remote = pytest.mark.parametrize("peer_of", REMOTE.values(), ids=REMOTE)


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda one: one.__name__)
@over_every_provider
async def test_it_holds(peer_of: Opener, invariant: Invariant) -> None:
    await invariant(peer_of)


@over_every_provider
async def test_a_failing_call_is_answered_as_well(peer_of: Opener) -> None:
    calls = [("work", {"number": "no number"}), ("work", {"number": 1})]
    plan = Plan(calls=calls, end=True)
    async with peer_of(plan) as peer, talk(peer.model, tools=[WORK]) as t:
        await peer.play(t)
        await eventually(lambda: len(peer.answered(t)) == 2)
        refused = [one["refused"] for one in peer.answered(t) if "refused" in one]
        assert refused == ["invalid-argument-type"]


@pytest.mark.parametrize("delay_s", [0.0, 0.01])
async def test_at_most_one_response_is_being_created(delay_s: float) -> None:
    async def answer_all(peer: OpenAIConnection) -> None:
        while True:
            response = await peer.asked()
            await response.call("work", '{"number":1}')
            await response.speak(b"\1\0" * 480)
            await asyncio.sleep(0.005)
            await response.done()

    async with FakeOpenAI() as server, talk(openai_model(server), tools=[WORK]) as t:
        peer = await (await server.connection()).ready()
        server.create_delay_s = server.cancel_delay_s = delay_s
        answering = asyncio.create_task(answer_all(peer))
        for n in range(8):
            t.says(wire.Text(text=f"question {n}"))
            await asyncio.sleep(0.004 * n)
        await eventually(lambda: len(peer.of("response.create")) > 8)
        answering.cancel()
        assert "conversation_already_has_active_response" not in peer.refused
    assert server.faults == []


@over_those_that_go_on
async def test_sound_flows_and_the_person_is_heard_while_a_tool_hangs(peer_of: Opener) -> None:
    plan = Plan(calls=[("work", {})], sound_ms=400)
    async with peer_of(plan) as peer, talk(peer.model, hang, tools=[WORK]) as t:
        await peer.play(t)
        await t.client.until("speaking")
        await eventually(lambda: len(t.client.audio) >= 4_800)
        t.says(wire.Interrupt(played_ms=20.0))
        await t.client.until("interrupted")
        assert [frame.state for frame in t.frames] == ["called"]


@pytest.mark.parametrize("peer_of", [REMOTE["gemini-2.5"], REMOTE["gemini-3.1"]])
async def test_a_model_that_waits_for_its_tools_is_answered_and_goes_on(peer_of: Opener) -> None:
    plan = Plan(calls=[("work", {})], sound_ms=40, end=True)
    async with peer_of(plan) as peer, talk(peer.model, tools=[WORK]) as t:
        await peer.play(t)
        await t.client.until("turn-complete")
        assert len(t.client.audio) == 2 * 960


@over_every_provider
async def test_a_flood_of_sound_is_bounded_and_does_not_drown_what_is_typed(
    peer_of: Opener,
) -> None:
    plan = Plan(calls=[("work", {"number": 1})], end=True)
    async with peer_of(plan) as peer, talk(peer.model, tools=[WORK]) as t:
        for _ in range(48):
            await t.live.send_audio(bytes(64_000))
        upstream = vars(t.live).get("_upstream")
        if upstream is not None:
            bound = t.limits.provider_audio_queue_max_bytes
            assert vars(upstream)["_audio_bytes"] <= bound
        await peer.play(t)
        await eventually(lambda: peer.answered(t))


@over_every_remote
async def test_the_longest_message_of_a_client_is_heard_whole(peer_of: Opener) -> None:
    async with peer_of(Plan(end=True)) as peer, talk(peer.model) as t:
        await peer.play(t)
        pcm = bytes(range(256)) * 4_096
        t.says(pcm)
        await eventually(lambda: peer.heard() == pcm)


@over_every_provider
async def test_calls_run_side_by_side(peer_of: Opener) -> None:
    slow = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        if args.get("slow"):
            await slow.wait()
        return args

    calls = [("work", {"slow": True, "number": 1}), ("work", {"number": 2})]
    plan = Plan(calls=calls, end=True)
    async with peer_of(plan) as peer, talk(peer.model, work, tools=[WORK]) as t:
        await peer.play(t)
        await eventually(lambda: len(t.done()) == 1 or peer.answered(t))
        if peer.model.capabilities.audio_during_tool:  # else the answers go together
            await eventually(lambda: len(peer.answered(t)) == 1)
            assert peer.answered(t)[0]["result"]["number"] == 2
        slow.set()
        await eventually(lambda: len(peer.answered(t)) == 2)


async def test_a_call_before_ready_is_not_run_by_openai() -> None:
    async with FakeOpenAI() as server, talk(openai_model(server), until=None) as t:
        server.greeting_delay_s = 0.02
        peer = await server.connection()
        response = await peer.response()
        await response.call("set_score", '{"team":"home","points":3}')
        await response.done()
        await t.client.until("ready")
        await asyncio.sleep(0.02)
        assert t.host.calls == []
    assert server.faults == []


async def test_a_call_before_ready_is_not_run_by_gemini() -> None:
    async with FakeGemini() as server:
        server.mute_setup = True
        async with talk(gemini_model(server), until=None) as t:
            peer = await server.connection()
            await peer.received_of("setup")
            calls = [{"id": "f1", "name": "set_score", "args": {"team": "home", "points": 3}}]
            await peer.say(toolCall={"functionCalls": calls})
            await asyncio.sleep(0.02)
            assert t.host.calls == []
            assert "ready" not in t.client.states
    assert server.faults == []


class Hasty(ScriptModel):
    """The script provider, ready only after it has called."""

    async def open(self, config: SessionConfig) -> ScriptSession:
        session = await super().open(config)
        played = session.events()

        async def events() -> AsyncIterator[ModelEvent]:
            ready = await anext(played)
            while not isinstance(early := await anext(played), ToolCallRequested):
                yield early
            yield early
            yield ready
            async for event in played:
                yield event

        session.events = events  # type: ignore[method-assign]
        return session


async def test_a_call_before_ready_is_not_run_by_script() -> None:
    steps = [{"call": {"name": "set_score", "args": {"team": "home", "points": 3}}}, {"end": True}]
    script = msgspec.convert({"steps": steps}, Script)
    async with talk(Hasty(lambda: script)) as t:
        await t.client.until("turn-complete")
        assert t.host.calls == []
        assert [one.refused for one in t.done()] == ["busy"]


@over_every_remote
async def test_tools_that_change_reach_the_model_or_the_next_session(peer_of: Opener) -> None:
    plan = Plan(end=True)
    async with peer_of(plan) as peer, talk(peer.model, tools=[WORK]) as t:
        await peer.play(t)
        await t.registry.replace(t.host, APP, [WORK, SET_SCORE])
        await eventually(lambda: len(t.tools_told()) >= 2)
        told = t.tools_told()[-1]
        assert [one.name for one in told.tools] == ["work", "set_score"]
        assert told.applies in {"now", "next-session"}
