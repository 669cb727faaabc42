import asyncio
from typing import Any

import msgspec
import orjson
import pytest

from relay.miniapps.host import MiniAppHost
from relay.protocol import messages as wire
from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers.openai import OpenAIModel, OpenAIOptions
from tests.fakes.declared import SET_SCORE, tool
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection
from tests.fakes.openai_rules import Problem
from tests.fakes.remote import openai_model
from tests.fakes.talks import APP, BRISK, Talk, eventually, talk

FRAME = b"\1\0" * 480
SECOND = b"\1\0" * 24_000
THREE_POINTS = '{"team":"home","points":3}'


async def peer_of(server: FakeOpenAI) -> OpenAIConnection:
    return await (await server.connection()).ready()


async def begin_answer(talking: Talk, peer: OpenAIConnection) -> tuple[Any, str]:
    """Let the model speak a second without an end."""
    response = await peer.response()
    item = await response.message()
    await response.audio(item, SECOND)
    await talking.client.until("speaking")
    return response, item


async def test_a_spoken_order_becomes_a_call_and_a_spoken_answer_in_one_turn(
    openai: FakeOpenAI,
) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        talking.says(FRAME)
        await peer.received_of("input_audio_buffer.append")
        await peer.speech_started()
        await peer.speech_stopped()
        await peer.heard("add three")
        response = await peer.response()
        call_id = await response.call("set_score", THREE_POINTS)
        await response.done()
        follow = await peer.asked()
        assert orjson.loads(peer.outputs[call_id]) == {"result": {"team": "home", "points": 3}}
        await follow.speak(FRAME * 3, "Done.")
        await follow.done()
        await talking.client.until("turn-complete")
        assert bytes(peer.audio) == FRAME
        assert talking.client.audio == FRAME * 3
        assert talking.client.states.count("turn-complete") == 1
        assert talking.captions("user")[-1] == "add three"
        assert talking.captions("assistant")[-1] == "Done."
        assert len(peer.of("response.create")) == 1


async def test_the_session_begins_with_instructions_tools_and_voice(openai: FakeOpenAI) -> None:
    model = openai_model(openai, voice="cedar", instructions="Speak Dutch.", vad="semantic_vad")
    async with talk(model):
        peer = await peer_of(openai)
        assert peer.session["instructions"].endswith("Speak Dutch.")
        assert peer.session["audio"]["output"]["voice"] == "cedar"
        assert peer.session["audio"]["input"]["turn_detection"] == {"type": "semantic_vad"}
        assert [one["name"] for one in peer.session["tools"]] == ["set_score"]
        assert len(peer.of("session.update")) == 1


async def test_sound_before_the_session_is_agreed_on_is_held_back(openai: FakeOpenAI) -> None:
    openai.greeting_delay_s = 0.05
    async with talk(openai_model(openai), until="connecting") as talking:
        talking.says(FRAME, FRAME)
        await talking.client.until("ready")
        peer = await peer_of(openai)
        talking.says(FRAME)
        await peer.received_of("input_audio_buffer.append")
        states = [one for one in talking.client.messages if isinstance(one, wire.State)]
        assert [one.gated_frames for one in states if one.state == "ready"] == [2]


async def test_without_a_key_nothing_is_dialled() -> None:
    model = OpenAIModel(OpenAIOptions(), limits=BRISK)
    with pytest.raises(Refusal) as caught:
        async with talk(model, until=None):
            await asyncio.sleep(0)
    assert caught.value.code is RefusalCode.PROVIDER_UNAVAILABLE
    assert "OPENAI_API_KEY" in caught.value.why


async def test_a_server_on_this_machine_is_dialled_without_a_key() -> None:
    async with FakeOpenAI(key="") as server, talk(openai_model(server, key=None)):
        peer = await peer_of(server)
        assert "Authorization" not in peer.request.headers
        assert "OpenAI-Beta" not in peer.request.headers
    assert server.faults == []


async def test_several_calls_are_answered_as_each_is_done_and_spoken_of_together(
    openai: FakeOpenAI,
) -> None:
    slow = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        if args.get("slow"):
            await slow.wait()
        return args

    tools = [tool("work", slow={"type": "boolean"})]
    async with talk(openai_model(openai), work, tools=tools):
        peer = await peer_of(openai)
        response = await peer.response()
        first = await response.call("work", '{"slow":true}')
        second = await response.call("work", "{}")
        await response.done()
        await eventually(lambda: second in peer.outputs)
        assert first not in peer.outputs
        assert peer.of("response.create") == []
        slow.set()
        await peer.asked()
        assert set(peer.outputs) == {first, second}
        assert len(peer.of("response.create")) == 1


async def test_a_call_that_was_cut_off_is_not_run(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        await response.call("set_score", THREE_POINTS, finish=False)
        await peer.speech_started()
        await talking.client.until("listening")
        assert talking.host.calls == []
        assert talking.frames == []


async def test_an_interruption_by_the_client_cancels_and_truncates(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response, item = await begin_answer(talking, peer)
        talking.says(wire.Interrupt(played_ms=300.0))
        await eventually(lambda: peer.truncations)
        (cut,) = peer.truncations
        assert (cut["item_id"], cut["audio_end_ms"]) == (item, 300)
        (cancel,) = peer.of("response.cancel")
        assert cancel["response_id"] == response.id
        await response.audio(item, SECOND)  # in flight
        await talking.client.until("turn-complete")
        told = talking.client.told
        after = told[told.index(next(one for one in told if isinstance(one, wire.Flush))) :]
        assert not any(isinstance(one, bytes) for one in after)


async def test_speech_of_the_person_truncates_but_cancels_nothing(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        _, item = await begin_answer(talking, peer)
        await peer.speech_started()
        await eventually(lambda: peer.truncations)
        assert peer.truncations[0]["item_id"] == item
        assert peer.truncations[0]["audio_end_ms"] <= 1000
        assert peer.of("response.cancel") == []  # the server's own detection has done that


async def test_an_answer_that_is_still_played_is_truncated_after_its_end(
    openai: FakeOpenAI,
) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response, item = await begin_answer(talking, peer)
        await response.end_message(item)
        await response.done()
        await peer.speech_started()
        await eventually(lambda: peer.truncations)
        assert peer.truncations[0]["item_id"] == item


async def test_a_response_asked_for_before_an_interruption_is_cancelled_when_it_begins(
    openai: FakeOpenAI,
) -> None:
    openai.create_delay_s = 0.05
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        await response.speak(FRAME, "One moment.")
        await response.call("set_score", THREE_POINTS)
        await response.done()
        await peer.received_of("response.create")
        talking.says(wire.Interrupt(played_ms=10.0))
        follow = await peer.asked()
        (cancel,) = await peer.received_of("response.cancel")
        assert cancel["response_id"] == follow.id
        assert talking.client.states.count("speaking") == 1


async def test_typed_text_is_an_item_and_one_response(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        talking.says(wire.Text(text="add three"))
        response = await peer.asked()
        (created,) = peer.of("conversation.item.create")
        assert created["item"]["content"] == [{"type": "input_text", "text": "add three"}]
        await response.speak(FRAME)
        await response.done()
        await talking.client.until("turn-complete")


async def test_push_to_talk_takes_the_end_pointing_from_the_server(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        talking.says(wire.Activity(kind="start"), FRAME * 10, wire.Activity(kind="end"))
        await peer.asked()
        assert peer.session["audio"]["input"]["turn_detection"] is None
        kinds = [one["type"] for one in peer.received][1:]
        assert kinds == [
            "session.update",
            "input_audio_buffer.clear",
            "input_audio_buffer.append",
            "input_audio_buffer.commit",
            "response.create",
        ]
        assert talking.client.states[-2:] == ["listening", "thinking"]


async def test_push_to_talk_without_sound_is_a_turn_without_an_answer(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai, vad="none")) as talking:
        peer = await peer_of(openai)
        talking.says(wire.Activity(kind="start"), wire.Activity(kind="end"))
        await talking.client.until("turn-complete")
        states = [one for one in talking.client.messages if isinstance(one, wire.State)]
        assert states[-1].reason == "nothing-heard"
        assert peer.of("response.create") == []
        assert talking.errors() == []


async def test_changed_tools_are_told_when_nothing_is_going_on(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response, item = await begin_answer(talking, peer)
        await talking.registry.replace(talking.host, APP, [SET_SCORE, tool("reset")])
        await asyncio.sleep(0.02)
        assert len(peer.of("session.update")) == 1
        await response.end_message(item)
        await response.done()
        await peer.received_of("session.update", 2)
        await eventually(lambda: len(talking.tools_told()) == 2)
        assert [one["name"] for one in peer.session["tools"]] == ["set_score", "reset"]
        assert talking.tools_told()[-1].applies == "now"


async def test_a_tool_that_the_server_refuses_is_left_out_and_the_others_stay(
    openai: FakeOpenAI,
) -> None:
    problem = Problem("string_above_max_length", "Too long.", "session.tools[0].description")
    openai.refused_updates.append(problem)
    tools = [SET_SCORE, tool("reset")]
    async with talk(openai_model(openai), tools=tools) as talking:
        peer = await peer_of(openai)
        assert [one["name"] for one in peer.session["tools"]] == ["reset"]
        await eventually(talking.errors)
        (error,) = talking.errors()
        assert error.code == "tool-not-told"
        assert "set_score" in error.message


async def test_a_change_of_tools_that_is_refused_keeps_those_before(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        openai.refused_updates.append(Problem("server_error", "No.", None))
        await talking.registry.replace(talking.host, APP, [SET_SCORE, tool("reset")])
        await eventually(lambda: len(talking.tools_told()) == 2)
        assert talking.tools_told()[-1].applies == "next-session"
        assert [one["name"] for one in peer.session["tools"]] == ["set_score"]
        assert len(peer.of("session.update")) == 2


async def test_no_more_tools_are_told_than_the_provider_takes(openai: FakeOpenAI) -> None:
    limits = msgspec.structs.replace(BRISK, provider_tools_max=1)
    tools = [SET_SCORE, tool("reset")]
    async with talk(openai_model(openai, limits=limits), tools=tools):
        peer = await peer_of(openai)
        assert [one["name"] for one in peer.session["tools"]] == ["set_score"]


async def test_a_failed_response_is_told_and_the_session_goes_on(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        error = {"type": "tokens", "code": "rate_limit_exceeded", "message": "Slow down."}
        await response.done("failed", error=error)
        await talking.client.until("turn-complete")
        assert [(one.code, one.fatal) for one in talking.errors()] == [
            ("rate_limit_exceeded", False)
        ]
        talking.says(wire.Text(text="again"))
        await peer.asked()


async def test_a_lost_connection_is_taken_up_and_told_what_was_said(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        talking.says(wire.Text(text="my name is Ada"))
        response = await peer.asked()
        await response.speak(FRAME, "Hello Ada.")
        await response.done()
        await talking.client.until("turn-complete")
        peer.drop()
        await talking.client.until("resumed")
        again = await peer_of(openai)
        items = await again.received_of("conversation.item.create", 2)
        assert [(one["item"]["role"], one["item"]["content"][0]["text"]) for one in items] == [
            ("user", "my name is Ada"),
            ("assistant", "Hello Ada."),
        ]
        assert again.of("response.create") == []
        states = [one for one in talking.client.messages if isinstance(one, wire.State)]
        assert [one.state_kept for one in states if one.state == "resumed"] == [False]
        assert talking.client.states[-2:] == ["reconnecting", "resumed"]


async def test_an_hour_long_session_is_begun_anew_in_an_idle_moment(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai, rotate_after_s=0.5)) as talking:
        peer = await peer_of(openai)
        response, item = await begin_answer(talking, peer)
        await eventually(lambda: vars(talking.live)["_rotation"].due)
        await asyncio.sleep(0.02)
        assert len(openai.connections) == 1  # not while the model speaks
        assert not peer.closed.is_set()
        await response.end_message(item)
        await response.done()
        await peer_of(openai)
        await talking.client.until("resumed")
        assert peer.close_code == 1000


async def test_an_expired_session_is_announced_and_begun_anew(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        await peer.fail("session_expired", "Your session hit the maximum duration of 60 minutes.")
        await peer.close(1001, "Your session hit the maximum duration of 60 minutes.")
        await talking.client.until("resumed")
        assert talking.client.states[-3:] == ["go-away", "reconnecting", "resumed"]


async def test_unknown_events_and_fields_are_ignored(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        await peer.emit("rate_limits.updated", rate_limits=[])
        await peer.emit("response.imagined", anything={"at": "all"})
        await peer.ws.send_str("[]")
        await peer.ws.send_str("{")
        response = await peer.response()
        await response.speak(FRAME)
        await response.done()
        await talking.client.until("turn-complete")
        assert talking.errors() == []


async def test_a_server_that_marks_nothing_is_not_asked_twice(openai: FakeOpenAI) -> None:
    openai.echoes_metadata = False
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        talking.says(wire.Text(text="hello"))
        response = await peer.asked()
        await response.speak(FRAME)
        await response.done()
        await talking.client.until("turn-complete")
        assert len(peer.of("response.create")) == 1


@pytest.mark.parametrize(
    ("url", "header"),
    [
        ("https://x.openai.azure.com/openai/v1/", "api-key"),
        ("wss://api.openai.com/v1", "Authorization"),
    ],
)
def test_the_key_travels_in_the_servers_own_header(url: str, header: str) -> None:
    from relay.providers.openai.options import endpoint
    from relay.providers.secret import Secret

    found = endpoint(OpenAIOptions(key=Secret("sk-canary-1"), base_url=url, model="a b"))
    assert list(found.headers()) == [header]
    assert found.url.startswith("wss://")
    assert found.url.endswith("/v1/realtime?model=a%20b")
    assert "canary" not in repr(found) + found.url


@pytest.mark.parametrize("moment", ["while reconnecting", "afterwards"])
async def test_a_result_of_a_lost_connection_is_told_as_text(
    openai: FakeOpenAI, moment: str
) -> None:
    finish = asyncio.Event()

    async def work(args: dict[str, Any]) -> object:
        await finish.wait()
        return args

    async with talk(openai_model(openai), work) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        await response.call("set_score", THREE_POINTS)
        await response.done()
        await eventually(lambda: talking.frames)
        if moment == "while reconnecting":
            openai.refuse_with = 503
        peer.drop()
        await talking.client.until("reconnecting")
        if moment == "while reconnecting":
            finish.set()
            await eventually(talking.done)
            openai.refuse_with = None
        await talking.client.until("resumed")
        finish.set()
        again = await peer_of(openai)
        await again.asked()
        (item,) = again.of("conversation.item.create")
        assert item["item"]["role"] == "user"
        assert '"points":3' in item["item"]["content"][0]["text"]
        (frame,) = talking.done()
        assert frame.delivered is False


async def test_what_is_typed_while_reconnecting_is_said_afterwards(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        openai.refuse_with = 503
        peer.drop()
        await talking.client.until("reconnecting")
        talking.says(wire.Text(text="still there?"), FRAME)
        await asyncio.sleep(0)
        openai.refuse_with = None
        await talking.client.until("resumed")
        again = await peer_of(openai)
        await again.asked()
        assert bytes(again.audio) == b""  # sound of that time is gone


async def test_an_open_answer_ends_with_its_connection(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        item = await response.message()
        await response.audio(item, FRAME * 2)
        await talking.client.until("speaking")
        peer.drop()
        await talking.client.until("turn-complete")
        states = [one for one in talking.client.messages if isinstance(one, wire.State)]
        (ended,) = [one for one in states if one.state == "turn-complete"]
        assert ended.reason == "connection-lost"
        assert talking.client.audio == FRAME * 2


async def test_a_tool_that_hangs_is_answered_once_and_nothing_else_waits_for_it(
    openai: FakeOpenAI,
) -> None:
    limits = msgspec.structs.replace(BRISK, tool_call_timeout_ms=1_500)
    asked: list[object] = []
    page = MiniAppHost(limits=limits)
    page.attach(asked.append)  # a page that never answers
    async with talk(openai_model(openai), limits=limits, tools=[]) as talking:
        await talking.registry.replace(page, APP, [SET_SCORE])
        peer = await peer_of(openai)
        response = await peer.response()
        call_id = await response.call("set_score", THREE_POINTS)
        item = await response.message()
        await response.audio(item, FRAME * 3)
        await eventually(lambda: talking.client.audio == FRAME * 3)
        await response.end_message(item)
        await response.done()
        talking.says(wire.Interrupt(played_ms=40.0))
        await talking.client.until("interrupted")
        assert peer.outputs == {}
        await eventually(lambda: peer.outputs)
        assert orjson.loads(peer.outputs[call_id])["refused"] == "time-exceeded"
        await peer.asked()
        outputs = [one for one in peer.of("conversation.item.create") if "call_id" in one["item"]]
        assert len(outputs) == 1
