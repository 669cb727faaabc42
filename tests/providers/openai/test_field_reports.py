"""What went wrong elsewhere, replayed against this relay; each test is named by its symptom."""

import asyncio
from typing import Any

import orjson
import pytest

from relay.protocol import messages as wire
from tests.fakes.declared import tool
from tests.fakes.hosts import hang
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection
from tests.fakes.openai_rules import Problem
from tests.fakes.remote import openai_model
from tests.fakes.talks import PATIENCE_S, eventually, talk

FRAME = b"\1\0" * 480
SECOND = b"\1\0" * 24_000
THREE_POINTS = '{"team":"home","points":3}'


async def peer_of(server: FakeOpenAI) -> OpenAIConnection:
    return await (await server.connection()).ready()


async def test_the_call_dies_after_a_tool_result_because_a_response_is_active(
    openai: FakeOpenAI,
) -> None:
    done = asyncio.Event()

    async def wait(args: dict[str, Any]) -> object:
        await done.wait()
        return args

    async with talk(openai_model(openai), wait) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        call_id = await response.call("set_score", THREE_POINTS)
        await response.done()
        await peer.speech_started()
        await peer.speech_stopped()
        own = await peer.response()  # voice detection was quicker
        done.set()
        await eventually(lambda: call_id in peer.outputs)
        await own.speak(FRAME)
        await own.done()
        follow = await peer.asked()
        await follow.speak(FRAME)
        await follow.done()
        await talking.client.until("turn-complete", 2)
        assert len(peer.of("response.create")) == 1
        assert talking.errors() == []


async def test_the_call_dies_when_the_request_for_a_response_comes_second(
    openai: FakeOpenAI,
) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        peer.interjection = peer.response  # voice detection answers in the same moment
        talking.says(wire.Text(text="hello"))
        await eventually(lambda: peer.active and peer.of("response.create"))
        (own,) = peer.active.values()
        await own.speak(FRAME)
        await own.done()
        follow = await peer.asked()
        await follow.speak(FRAME)
        await follow.done()
        await talking.client.until("turn-complete")
        assert len(peer.of("response.create")) == 2
        assert talking.errors() == []


async def test_a_response_is_asked_for_right_after_a_cancel(openai: FakeOpenAI) -> None:
    openai.cancel_delay_s = 0.05
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        item = await response.message()
        await response.audio(item, SECOND)
        await talking.client.until("speaking")
        talking.says(wire.Text(text="stop, do this instead"))
        await peer.received_of("conversation.item.create")
        assert not response.is_done
        assert peer.of("response.create") == []
        await peer.asked()
        assert response.is_done


@pytest.mark.parametrize("size", [3_500_000, 6_000_000])
async def test_a_large_frame_kills_the_connection(openai: FakeOpenAI, size: int) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        item = {"id": "item_big", "type": "message", "content": [{"audio": "A" * size}]}
        await peer.emit("conversation.item.added", item=item)
        await peer.emit("conversation.item.done", item=item)
        response = await peer.response()
        await response.speak(FRAME)
        await response.done()
        await talking.client.until("turn-complete")
        assert len(openai.connections) == 1
        assert max(len(repr(one)) for one in talking.client.told) < 10_000


async def test_a_truncation_beyond_the_received_sound_is_fatal(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        item = await response.message()
        await response.audio(item, SECOND)
        await talking.client.until("speaking")
        turn_id = next(
            str(one.turn_id)
            for one in talking.client.messages
            if isinstance(one, wire.State) and one.state == "speaking"
        )
        talking.says(wire.Playback(turn_id=turn_id, played_ms=5_000.0))
        await asyncio.sleep(0)
        talking.says(wire.Interrupt(played_ms=5_000.0))
        await talking.client.until("turn-complete")
        await peer.received_of("response.cancel")
        assert all(one["audio_end_ms"] <= 1_000 for one in peer.truncations)
        assert talking.errors() == []


async def test_a_truncation_before_any_sound_is_refused(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        await response.message()
        await peer.speech_started()
        await talking.client.until("listening")
        assert peer.of("conversation.item.truncate") == []


async def test_a_tool_name_that_the_model_made_up_tears_the_session_down(
    openai: FakeOpenAI,
) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        call_id = await response.call("nope")
        await response.done()
        await peer.asked()
        output = orjson.loads(peer.outputs[call_id])
        assert (output["ok"], output["refused"]) == (False, "unknown-tool")
        assert talking.host.calls == []
        assert "closed" not in talking.client.states


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        ("", None),
        (" ", None),
        (None, None),
        ("{}", None),
        ("null", None),
        ("[]", "invalid-tool-arguments"),
        ('"x"', "invalid-tool-arguments"),
        ('{"a":', "invalid-tool-arguments"),
    ],
)
async def test_blank_or_broken_arguments_crash_the_parser(
    openai: FakeOpenAI, arguments: str | None, refused: str | None
) -> None:
    async with talk(openai_model(openai), tools=[tool("reset")]) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        call_id = await response.call("reset", arguments)
        await response.done()
        await peer.asked()
        output = orjson.loads(peer.outputs[call_id])
        assert output.get("refused") == refused
        assert [args for _, args in talking.host.calls] == ([{}] if refused is None else [])


async def test_there_is_dead_air_while_a_tool_runs(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai), hang) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        await response.call("set_score", THREE_POINTS)
        item = await response.message()
        for _ in range(40):
            await response.audio(item, FRAME)
        await eventually(lambda: len(talking.client.audio) >= 5 * len(FRAME))
        await peer.speech_started()
        await talking.client.until("interrupted")
        assert [frame.state for frame in talking.frames] == ["called"]  # it still runs


async def test_the_beta_header_ends_in_a_loop_of_reconnects(openai: FakeOpenAI) -> None:
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        assert "OpenAI-Beta" not in peer.request.headers
        await peer.close(4000, "invalid_request_error.beta_api_shape_disabled")
        await talking.client.until("closed")
        assert len(openai.connections) == 1
        assert talking.end is not None
        assert talking.end.code == 1011


async def test_a_refused_setup_leaves_a_session_without_tools(openai: FakeOpenAI) -> None:
    openai.refused_updates.append(
        Problem("missing_required_parameter", "Missing required parameter.", "session.type")
    )
    async with talk(openai_model(openai), until=None) as talking:
        talking.says(FRAME)
        await talking.client.until("closed")
        (peer,) = openai.connections
        assert "ready" not in talking.client.states
        assert peer.of("input_audio_buffer.append") == []
        (error,) = talking.errors()
        assert (error.code, error.fatal) == ("provider-refused", True)


async def test_odd_pieces_of_sound_turn_into_noise(openai: FakeOpenAI) -> None:
    samples = b"".join(n.to_bytes(2, "little") for n in range(12_189))
    async with talk(openai_model(openai)) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        item = await response.message()
        await response.audio(item, samples, chunk=4_063)
        await response.end_message(item)
        await response.done()
        await talking.client.until("turn-complete")
        assert talking.client.audio == samples


@pytest.mark.parametrize("moment", ["a tool runs", "the model speaks"])
async def test_the_upstream_socket_stays_open_after_the_client_left(
    openai: FakeOpenAI, moment: str
) -> None:
    cancelled = asyncio.Event()

    async def hang_on(_: dict[str, Any]) -> object:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with talk(openai_model(openai), hang_on) as talking:
        peer = await peer_of(openai)
        response = await peer.response()
        if moment == "a tool runs":
            await response.call("set_score", THREE_POINTS)
            await eventually(lambda: talking.frames)
        else:
            item = await response.message()
            await response.audio(item, SECOND)
            await talking.client.until("speaking")
            cancelled.set()
        talking.leave()
        async with asyncio.timeout(PATIENCE_S):
            await peer.closed.wait()
            await cancelled.wait()
