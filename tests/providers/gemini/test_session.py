import asyncio
from typing import Any

import msgspec
import orjson
import pytest

from relay.protocol import messages as wire
from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as seam
from relay.providers.gemini import GeminiModel, GeminiOptions
from relay.providers.gemini.profile import PROFILES, profile_of
from relay.providers.gemini.session import GeminiSession
from tests.fakes.declared import SET_SCORE, tool
from tests.fakes.gemini_live import FakeGemini, GeminiConnection
from tests.fakes.hosts import hang
from tests.fakes.remote import gemini_model
from tests.fakes.talks import APP, BRISK, eventually, talk

FRAME = b"\1\0" * 480
SECOND = b"\1\0" * 24_000
THREE_POINTS = {"team": "home", "points": 3}
OLDEST, OLD, NEW = (
    "models/gemini-2.5-flash-native-audio",
    "models/gemini-3.1-flash-live-preview",
    "models/gemini-3.8-live",
)
THINKING = "models/gemini-3.8-live-extended-thinking"
ALL = [OLDEST, OLD, NEW, THINKING]


async def peer_of(server: FakeGemini) -> GeminiConnection:
    return await (await server.connection()).ready()


@pytest.mark.parametrize("name", ALL)
async def test_a_spoken_order_becomes_a_call_and_a_spoken_answer(
    gemini: FakeGemini, name: str
) -> None:
    async with talk(gemini_model(gemini, model=name)) as talking:
        peer = await peer_of(gemini)
        assert peer.tools == ["set_score"]
        talking.says(FRAME)
        await eventually(lambda: bytes(peer.audio) == FRAME)
        assert peer.rates == {16_000}
        await peer.heard("add three")
        (call_id,) = await peer.call(("set_score", THREE_POINTS))
        await eventually(lambda: call_id in peer.answers)
        assert peer.answers[call_id] == {"result": THREE_POINTS}
        await peer.speak(FRAME * 3, "Done.")
        await peer.turn_complete()
        await talking.client.until("turn-complete")
        assert talking.client.audio == FRAME * 3
        assert talking.captions("user")[-1] == "add three"
        assert talking.captions("assistant")[-1] == "Done."


def test_every_model_has_a_profile_and_an_unknown_one_the_newest() -> None:
    assert [profile_of(name).family for name in ALL] == [
        "gemini-2.5",
        "gemini-3.1",
        "gemini-3.8",
        "gemini-3.8-live-extended-thinking",
    ]
    assert profile_of("gemini-9-live") == profile_of(NEW)
    assert [one.capabilities.audio_during_tool for one in PROFILES] == [True, True, False, False]


async def test_without_a_key_nothing_is_dialled() -> None:
    with pytest.raises(Refusal) as caught:
        async with talk(GeminiModel(GeminiOptions(), limits=BRISK), until=None):
            await asyncio.sleep(0)
    assert caught.value.code is RefusalCode.PROVIDER_UNAVAILABLE
    assert "GEMINI_API_KEY" in caught.value.why


async def test_the_key_is_in_a_header_and_not_in_the_address(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini)):
        peer = await peer_of(gemini)
        assert peer.request.headers["x-goog-api-key"] == gemini.key
        assert gemini.key not in str(peer.request.url)


async def test_a_setup_without_an_answer_is_given_up(gemini: FakeGemini) -> None:
    gemini.mute_setup = True
    limits = msgspec.structs.replace(BRISK, provider_setup_timeout_ms=30)
    async with talk(gemini_model(gemini, limits=limits), until="closed") as talking:
        (error,) = talking.errors()
        assert error.code == "provider-failed"
        assert "ready" not in talking.client.states
        assert len(gemini.connections) == 1


@pytest.mark.parametrize(("name", "together"), [(OLD, True), (OLDEST, True), (NEW, False)])
async def test_calls_are_answered_together_only_where_the_model_waits_for_all(
    gemini: FakeGemini, name: str, *, together: bool
) -> None:
    slow = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        if args.get("slow"):
            await slow.wait()
        return args

    tools = [tool("work", slow={"type": "boolean"})]
    async with talk(gemini_model(gemini, model=name), work, tools=tools) as talking:
        peer = await peer_of(gemini)
        first, second = await peer.call(("work", {"slow": True}), ("work", None))
        await eventually(lambda: len(talking.done()) == 1)
        if together:
            assert peer.answers == {}
        else:
            await eventually(lambda: second in peer.answers)
        assert first not in peer.answers
        slow.set()
        await eventually(lambda: set(peer.answers) == {first, second})
        assert len(peer.of("toolResponse")) == (1 if together else 2)


@pytest.mark.parametrize("name", [OLD, NEW])
async def test_a_cancelled_call_is_stopped_and_not_answered(gemini: FakeGemini, name: str) -> None:
    stopped = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        if args.get("slow"):
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
        return args

    tools = [tool("work", slow={"type": "boolean"})]
    async with talk(gemini_model(gemini, model=name), work, tools=tools) as talking:
        peer = await peer_of(gemini)
        first, second = await peer.call(("work", {"slow": True}), ("work", {}))
        await eventually(lambda: len(talking.done()) == 1)
        await peer.cancel(first)
        await stopped.wait()
        await eventually(lambda: set(peer.answers) == {second})
        cancelled = [one for one in talking.done() if one.refused == "cancelled"]
        assert len(cancelled) == 1


async def test_an_interruption_by_the_person_cuts_the_answer(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(SECOND, "A long story")
        await talking.client.until("speaking")
        await peer.interrupted()
        await talking.client.until("turn-complete")
        assert talking.client.states[-2:] == ["interrupted", "turn-complete"]
        await peer.speak(FRAME, "Yes?")
        await peer.turn_complete()
        await talking.client.until("turn-complete", 2)


async def test_after_an_interruption_by_the_client_the_rest_of_the_answer_is_dropped(
    gemini: FakeGemini,
) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(SECOND)
        await talking.client.until("speaking")
        talking.says(wire.Interrupt(played_ms=20.0))
        await talking.client.until("interrupted")
        before = talking.client.audio
        await peer.speak(SECOND)
        await peer.turn_complete()
        await peer.speak(FRAME * 2)
        await peer.turn_complete()
        await talking.client.until("turn-complete", 2)
        assert talking.client.audio == before + FRAME * 2


async def test_push_to_talk_sends_edges_where_the_model_does_not_find_them(
    gemini: FakeGemini,
) -> None:
    async with talk(gemini_model(gemini, vad="none")) as talking:
        peer = await peer_of(gemini)
        talking.says(wire.Activity(kind="start"), FRAME, wire.Activity(kind="end"))
        await eventually(lambda: peer.edges == ["activityStart", "activityEnd"])


async def test_push_to_talk_ends_the_stream_where_the_model_finds_the_edges(
    gemini: FakeGemini,
) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        talking.says(wire.Activity(kind="start"), FRAME, wire.Activity(kind="end"))
        await eventually(lambda: peer.edges == ["audioStreamEnd"])


async def test_the_newest_models_take_new_tools_in_an_idle_moment(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(SECOND)
        await talking.client.until("speaking")
        await talking.registry.replace(talking.host, APP, [SET_SCORE, tool("reset")])
        await asyncio.sleep(0.02)
        assert peer.updates == []
        await peer.turn_complete()
        await eventually(lambda: peer.updates == [["set_score", "reset"]])
        talking.registry.withdraw(talking.host, APP)
        await eventually(lambda: peer.updates[-1] == [])
        await eventually(lambda: len(talking.tools_told()) == 3)
        assert talking.tools_told()[-1].applies == "now"
        assert len(gemini.connections) == 1


async def test_an_idle_turn_end_is_not_the_end_of_thinking(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini, model=THINKING)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(FRAME)
        await peer.turn_complete("IN_PROGRESS")
        await talking.client.until("turn-complete")
        await talking.registry.replace(talking.host, APP, [tool("reset")])
        await asyncio.sleep(0.02)
        assert peer.updates == []
        await peer.speak(FRAME)
        await peer.turn_complete("IDLE")
        await eventually(lambda: peer.updates == [["reset"]])


@pytest.mark.parametrize("name", [OLDEST, OLD])
async def test_older_models_take_new_tools_over_a_new_connection(
    gemini: FakeGemini, name: str
) -> None:
    async with talk(gemini_model(gemini, model=name)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(FRAME)
        await peer.turn_complete()  # hands out a handle
        await talking.client.until("turn-complete")
        await eventually(lambda: getattr(talking.live, "_handle", None) is not None)
        await talking.registry.replace(talking.host, APP, [SET_SCORE, tool("reset")])
        again = await peer_of(gemini)
        assert peer.closed.is_set()
        assert again.tools == ["set_score", "reset"]
        await talking.client.until("resumed")
        states = [one for one in talking.client.messages if isinstance(one, wire.State)]
        assert [one.state_kept for one in states if one.state == "resumed"] == [True]
        await eventually(lambda: len(talking.tools_told()) == 2)
        assert talking.tools_told()[-1].applies == "now"


async def test_without_a_handle_new_tools_wait_for_the_next_session(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini, model=OLD)) as talking:
        await peer_of(gemini)
        await talking.registry.replace(talking.host, APP, [SET_SCORE, tool("reset")])
        await eventually(lambda: len(talking.tools_told()) == 2)
        assert talking.tools_told()[-1].applies == "next-session"
        assert len(gemini.connections) == 1


async def test_a_tool_that_the_server_refuses_is_left_out_and_the_others_stay(
    gemini: FakeGemini,
) -> None:
    tools = [SET_SCORE, tool("odd", **{"per-cent": {"type": "number"}}), tool("reset")]
    async with talk(gemini_model(gemini), tools=tools) as talking:
        await gemini.connection()
        peer = await peer_of(gemini)
        assert peer.tools == ["set_score", "reset"]
        (error,) = talking.errors()
        assert error.code == "tool-not-told"
        assert "odd" in error.message
    assert len(gemini.faults) == 1  # the refusal itself
    gemini.faults.clear()


async def test_the_announced_end_of_a_connection_is_survived(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(FRAME)
        await peer.turn_complete()
        await talking.client.until("turn-complete")
        await peer.go_away(5)
        again = await peer_of(gemini)
        assert again.setup is not None
        assert "handle" in again.setup["sessionResumption"]
        await talking.client.until("resumed")
        assert talking.client.states[-3:] == ["go-away", "reconnecting", "resumed"]


async def test_an_unannounced_end_is_forestalled_in_an_idle_moment(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini, rotate_after_s=0.5)) as talking:
        peer = await peer_of(gemini)
        await peer.hand_out_handle()
        await talking.client.until("resumed")
        assert peer.close_code == 1000


async def test_a_handle_that_is_refused_begins_a_fresh_session_with_the_history(
    gemini: FakeGemini,
) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        talking.says(wire.Text(text="my name is Ada"))
        await eventually(lambda: peer.texts)
        await peer.speak(FRAME, "Hello Ada.")
        await peer.turn_complete()
        await talking.client.until("turn-complete")
        gemini.handles.clear()  # the server has forgotten it
        peer.drop()
        await gemini.connection()
        again = await peer_of(gemini)
        await talking.client.until("resumed")
        await eventually(lambda: len(again.history) == 2)
        assert [turn["role"] for turn in again.history] == ["user", "model"]
        assert again.texts == []
        states = [one for one in talking.client.messages if isinstance(one, wire.State)]
        assert [one.state_kept for one in states if one.state == "resumed"] == [False]


async def test_the_oldest_model_is_told_history_as_plain_content(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini, model=OLDEST)) as talking:
        peer = await peer_of(gemini)
        talking.says(wire.Text(text="my name is Ada"))
        await eventually(lambda: peer.texts == ["my name is Ada"])
        peer.drop()
        again = await peer_of(gemini)
        await eventually(lambda: len(again.history) == 1)


async def test_thoughts_are_not_shown(gemini: FakeGemini) -> None:
    async with talk(gemini_model(gemini)) as talking:
        peer = await peer_of(gemini)
        await peer.speak(FRAME, "Yes.")
        await peer.turn_complete()
        await talking.client.until("turn-complete")
        texts = [one for one in talking.client.messages if isinstance(one, wire.Text)]
        assert [(one.text, one.final) for one in texts] == [("Yes.", False), ("Yes.", True)]


# ---- what went wrong elsewhere, named by its symptom -----------------------------------------


async def test_the_server_ends_the_connection_when_sound_continues_during_a_call(
    gemini: FakeGemini,
) -> None:
    done = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        await done.wait()
        return args

    async with talk(gemini_model(gemini, model=OLD), work) as talking:
        peer = await peer_of(gemini)
        (call_id,) = await peer.call(("set_score", THREE_POINTS))
        await eventually(lambda: talking.frames)
        for _ in range(20):
            talking.says(FRAME)
        await asyncio.sleep(0.02)
        assert peer.of("realtimeInput") == []
        done.set()
        await eventually(lambda: call_id in peer.answers)
        talking.says(FRAME)
        await eventually(lambda: bytes(peer.audio) == FRAME)


@pytest.mark.parametrize("how", ["cancelled", "refused", "reconnected"])
async def test_the_microphone_stays_shut_after_a_call_that_had_no_result(
    gemini: FakeGemini, how: str
) -> None:
    async with talk(gemini_model(gemini, model=OLD), hang) as talking:
        peer = await peer_of(gemini)
        args = {"team": "nobody", "points": 3} if how == "refused" else THREE_POINTS
        (call_id,) = await peer.call(("set_score", args))
        await eventually(lambda: talking.frames)
        if how == "cancelled":
            await peer.cancel(call_id)
            await eventually(talking.done)
        elif how == "refused":
            await eventually(lambda: call_id in peer.answers)
        else:
            peer.drop()
            peer = await peer_of(gemini)
            await talking.client.until("resumed")
        talking.says(FRAME)
        await eventually(lambda: bytes(peer.audio) == FRAME)


@pytest.mark.parametrize("name", [OLDEST, NEW, THINKING])
async def test_other_models_hear_during_a_call(gemini: FakeGemini, name: str) -> None:
    async with talk(gemini_model(gemini, model=name), hang) as talking:
        peer = await peer_of(gemini)
        await peer.call(("set_score", THREE_POINTS))
        await eventually(lambda: talking.frames)
        talking.says(FRAME)
        await eventually(lambda: bytes(peer.audio) == FRAME)


async def test_a_result_that_comes_while_reconnecting_is_dropped(gemini: FakeGemini) -> None:
    done = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        await done.wait()
        return args

    async with talk(gemini_model(gemini), work) as talking:
        peer = await peer_of(gemini)
        await peer.hand_out_handle()
        await peer.call(("set_score", THREE_POINTS))
        await eventually(lambda: talking.frames)
        peer.drop()
        again = await peer_of(gemini)
        await talking.client.until("resumed")
        done.set()
        await eventually(lambda: again.texts)
        assert again.of("toolResponse") == []
        assert "set_score" in again.texts[0]
        assert '"points":3' in again.texts[0]
        (frame,) = talking.done()
        assert frame.delivered is False


@pytest.mark.parametrize("name", [OLD, NEW])
async def test_typed_text_in_mid_session_and_an_empty_handle_are_invalid_arguments(
    gemini: FakeGemini, name: str
) -> None:
    async with talk(gemini_model(gemini, model=name)) as talking:
        peer = await peer_of(gemini)
        assert peer.setup is not None
        assert peer.setup["sessionResumption"] == {}
        await peer.speak(FRAME)
        await peer.turn_complete()
        talking.says(wire.Text(text="hello"))
        await eventually(lambda: peer.texts == ["hello"])
        assert peer.of("clientContent") == []


async def test_sound_that_waits_to_be_sent_when_a_call_comes_is_dropped(
    gemini: FakeGemini,
) -> None:
    async with talk(gemini_model(gemini, model=OLD), hang) as talking:
        await peer_of(gemini)
        session = vars(talking.live)
        for _ in range(3):
            await talking.live.send_audio(FRAME)
        assert vars(session["_upstream"])["_audio_bytes"] > 0
        calls = [{"id": "f1", "name": "set_score", "args": THREE_POINTS}]
        line = orjson.dumps({"toolCall": {"functionCalls": calls}})
        assert isinstance(talking.live, GeminiSession)
        _, asked = talking.live.on_frame(line)
        assert isinstance(asked, seam.ToolCallRequested)
        assert asked.name == "set_score"
        assert vars(session["_upstream"])["_audio_bytes"] == 0
