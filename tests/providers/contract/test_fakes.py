"""The fakes refuse what the real servers refuse: no test may pass because a fake is kind."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.fakes.gemini_live import FakeGemini, GeminiConnection
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection

FUNCTION = {
    "type": "function",
    "name": "f",
    "description": "d",
    "parameters": {"type": "object", "properties": {}},
}
SILENCE = b64encode(bytes(4_800)).decode()
METHOD = "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
Socket = aiohttp.ClientWebSocketResponse[bool]


def session(**fields: Any) -> dict[str, Any]:
    return {"type": "session.update", "session": {"type": "realtime", **fields}}


def item(**fields: Any) -> dict[str, Any]:
    return {"type": "conversation.item.create", "item": fields}


@asynccontextmanager
async def openai(**headers: str) -> AsyncIterator[tuple[FakeOpenAI, Socket, OpenAIConnection]]:
    async with FakeOpenAI() as server, aiohttp.ClientSession() as http:
        sent = {"Authorization": f"Bearer {server.key}"} | headers
        url = f"http://{server.address}/v1/realtime?model=m"
        async with http.ws_connect(url, headers=sent) as socket:
            yield server, socket, await server.connection()


async def next_of(socket: Socket, kind: str) -> Any:
    while (event := await socket.receive_json())["type"] != kind:
        pass
    return event


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/realtime?model=m", {}, 401),
        ("/v1/realtime?model=m", {"Authorization": "Bearer other"}, 401),
        ("/v1/realtime", None, 400),
        ("/v2/realtime?model=m", None, 404),
    ],
)
async def test_openai_refuses_the_upgrade(
    path: str, headers: dict[str, str] | None, status: int
) -> None:
    async with FakeOpenAI() as server, aiohttp.ClientSession() as http:
        headers = {"Authorization": f"Bearer {server.key}"} if headers is None else headers
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await http.ws_connect(f"http://{server.address}{path}", headers=headers)
        assert caught.value.status == status


async def test_openai_refuses_the_beta() -> None:
    async with openai(**{"OpenAI-Beta": "realtime=v1"}) as (_, socket, _connection):
        assert (await socket.receive_json())["error"]["code"] == "beta_api_shape_disabled"
        await socket.receive()
        assert socket.close_code == 4000


@pytest.mark.parametrize(
    ("event", "code", "param"),
    [
        ({}, "missing_required_parameter", "type"),
        ({"type": "imagined"}, "invalid_value", "type"),
        ({"type": "session.update", "session": {}}, "missing_required_parameter", "session.type"),
        (session(voice="marin"), "unknown_parameter", "session.voice"),
        (session(modalities=["audio"]), "unknown_parameter", "session.modalities"),
        (session(output_modalities=["audio", "text"]), "invalid_value", None),
        (session(model="other"), "invalid_value", "session.model"),
        (
            session(audio={"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}),
            "invalid_value",
            "session.audio.input.format",
        ),
        (session(audio={"input": {"format": "pcm16"}}), "invalid_value", None),
        (session(tools=[FUNCTION | {"strict": True}]), "unknown_parameter", None),
        (session(tools=[FUNCTION | {"name": "a b"}]), "invalid_value", "session.tools[0].name"),
        (session(tools=[FUNCTION, FUNCTION]), "invalid_value", "session.tools[1].name"),
        (session(tools=[FUNCTION | {"description": "d" * 1025}]), "string_above_max_length", None),
        (session(tools=[FUNCTION | {"parameters": []}]), "invalid_type", None),
        (
            session(tools=[FUNCTION | {"name": f"f{n}"} for n in range(129)]),
            "array_above_max_length",
            "session.tools",
        ),
        ({"type": "input_audio_buffer.append", "audio": "*"}, "invalid_base64", "audio"),
        ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty", None),
        ({"type": "response.cancel"}, "response_cancel_not_active", None),
        (item(type="imagined"), "invalid_value", "item.type"),
        (
            item(type="function_call_output", call_id="call_1", output="x"),
            "invalid_tool_call_id",
            None,
        ),
        (item(type="function_call_output", call_id="call_1", output={}), "invalid_type", None),
        (item(type="function_call_output", call_id="!", output="x"), "invalid_value", None),
        (
            item(type="message", role="user", content=[{"type": "output_text", "text": "x"}]),
            "invalid_value",
            None,
        ),
        (
            {
                "type": "conversation.item.truncate",
                "item_id": "no",
                "content_index": 0,
                "audio_end_ms": 1,
            },
            "invalid_value",
            "item_id",
        ),
    ],
)
async def test_openai_refuses_an_event(event: dict[str, Any], code: str, param: str | None) -> None:
    async with openai() as (_, socket, _connection):
        await socket.send_json({"event_id": "mine", **event})
        error = (await next_of(socket, "error"))["error"]
        assert (error["code"], error["event_id"]) == (code, "mine" if code[:5] != "input" else None)
        assert param is None or error["param"] == param


async def test_openai_drops_a_bad_update_as_a_whole() -> None:
    async with openai() as (_, socket, connection):
        bad = FUNCTION | {"name": "b", "meta": {}}
        await socket.send_json(session(instructions="mine", tools=[FUNCTION, bad]))
        error = await next_of(socket, "error")
        assert error["error"]["param"] == "session.tools[1].meta"
        assert connection.session["tools"] == []
        assert connection.session["instructions"] != "mine"


async def test_openai_writes_one_response_at_a_time_and_answers_no_output_by_itself() -> None:
    async with openai() as (_, socket, connection):
        await socket.send_json(session())
        response = await connection.response()
        await socket.send_json({"type": "response.create", "event_id": "mine"})
        error = (await next_of(socket, "error"))["error"]
        assert error["code"] == "conversation_already_has_active_response"
        assert error["event_id"] == "mine"
        call_id = await response.call("f")
        await response.done()
        await socket.send_json(item(type="function_call_output", call_id=call_id, output="x"))
        await next_of(socket, "conversation.item.done")
        with pytest.raises(TimeoutError):
            await socket.receive(0.05)


async def test_openai_truncates_what_was_said_and_no_more() -> None:
    async with openai() as (_, socket, connection):
        response = await connection.response()
        item_id = await response.message()
        cut = {"type": "conversation.item.truncate", "item_id": item_id, "content_index": 0}
        await socket.send_json(cut | {"audio_end_ms": 0})
        error = (await next_of(socket, "error"))["error"]
        assert error["code"] == "unsupported_content_type"
        await response.audio(item_id, bytes(48_000))
        await socket.send_json(cut | {"audio_end_ms": 1_001})
        assert "already shorter" in (await next_of(socket, "error"))["error"]["message"]
        await socket.send_json(cut | {"audio_end_ms": 1_000})
        await next_of(socket, "conversation.item.truncated")


async def test_openai_does_not_change_its_voice_once_it_has_spoken() -> None:
    async with openai() as (_, socket, connection):
        await socket.send_json(session(audio={"output": {"voice": "marin"}}))
        response = await connection.response()
        await response.speak(bytes(4_800))
        await response.done()
        await socket.send_json(session(audio={"output": {"voice": "cedar"}}))
        assert (await next_of(socket, "error"))["error"]["code"] == "cannot_update_voice"


# ---- Gemini ----------------------------------------------------------------------------------


@asynccontextmanager
async def gemini(
    model: str = "models/gemini-3.8-live", **setup: Any
) -> AsyncIterator[tuple[Socket, GeminiConnection]]:
    async with FakeGemini() as server, aiohttp.ClientSession() as http:
        url = f"http://{server.address}/ws/{METHOD}?key={server.key}"
        async with http.ws_connect(url) as socket:
            fields = {"model": model, "generationConfig": {"responseModalities": ["AUDIO"]}}
            await socket.send_json({"setup": fields | setup})
            yield socket, await server.connection()


async def ended(socket: Socket) -> tuple[int | None, str]:
    while (message := await socket.receive()).type is aiohttp.WSMsgType.BINARY:
        pass
    return socket.close_code, str(message.extra)


async def test_gemini_takes_the_same_fields_in_both_spellings_and_speaks_binary() -> None:
    async with gemini(system_instruction={"parts": []}) as (socket, connection):
        message = await socket.receive()
        assert message.type is aiohttp.WSMsgType.BINARY
        assert "setupComplete" in message.json()
        await socket.send_json({"realtime_input": {"text": "hi"}})
        await connection.until(lambda: connection.texts == ["hi"])


def declared(**fields: Any) -> dict[str, Any]:
    function = {"name": "f", "description": "d"} | fields
    return {"tools": [{"functionDeclarations": [function]}]}


def parameter(**schema: Any) -> dict[str, Any]:
    return declared(parameters={"type": "OBJECT", "properties": {"a": schema}})


@pytest.mark.parametrize(
    "setup",
    [
        {"imagined": 1},
        {"model": "gemini-3.8-live"},
        {"model": "models/other"},
        {"sessionResumption": {"handle": None}},
        {"generationConfig": {"responseModalities": ["AUDIO"], "thinkingConfig": {}}},
        {"generationConfig": {"responseModalities": ["TEXT"]}},
        {"proactivity": {"proactiveAudio": False}},
        declared(name="1f"),
        declared(strict=True),
        declared(parameters={"type": "OBJECT", "properties": {}}),
        declared(parameters={"type": "OBJECT"}, parametersJsonSchema={}),
        parameter(type="string"),
        parameter(type="STRING", additionalProperties=False),
        parameter(type="NUMBER", exclusiveMinimum=1),
        parameter(type="NUMBER", enum=[1]),
        {"tools": declared()["tools"] * 2},
    ],
)
async def test_gemini_closes_on_a_bad_setup(setup: dict[str, Any]) -> None:
    async with gemini(**setup) as (socket, _):
        code, reason = await ended(socket)
        assert code == 1007
        assert reason


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("models/gemini-3.8-live", {"setup": {}}),
        ("models/gemini-3.8-live", {"realtimeInput": {"text": "a"}, "clientContent": {}}),
        ("models/gemini-3.8-live", {"imagined": {}}),
        ("models/gemini-3.8-live", {"realtimeInput": {"mediaChunks": []}}),
        ("models/gemini-3.8-live", {"realtimeInput": {"text": "a", "audioStreamEnd": True}}),
        ("models/gemini-3.8-live", {"realtimeInput": {"activityStart": {}}}),
        ("models/gemini-3.1-flash-live-preview", {"clientContent": {"turns": []}}),
        ("models/gemini-3.1-flash-live-preview", {"contextUpdate": {"tools": {"tools": []}}}),
        ("models/gemini-2.5-flash", {"contextUpdate": {"tools": {"tools": []}}}),
        ("models/gemini-2.5-flash", {"realtimeInput": {"text": "a"}}),
    ],
)
async def test_gemini_closes_on_a_message_that_the_model_does_not_take(
    model: str, message: dict[str, Any]
) -> None:
    async with gemini(model) as (socket, connection):
        await connection.ready()
        await socket.send_json(message)
        assert (await ended(socket))[0] == 1007


async def test_gemini_takes_nothing_before_the_setup() -> None:
    async with FakeGemini() as server, aiohttp.ClientSession() as http:
        url = f"http://{server.address}/ws/{METHOD}"
        async with http.ws_connect(url, headers={"x-goog-api-key": server.key}) as socket:
            await socket.send_json({"realtimeInput": {"text": "a"}})
            assert (await ended(socket))[0] == 1007


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ({"id": "other", "name": "f", "response": {}}, 1008),
        ({"name": "f", "response": {}}, 1007),
        ({"id": None, "response": {}}, 1007),
        ({"id": None, "name": "f", "response": "text"}, 1007),
        ({"id": None, "name": "other", "response": {}}, 1008),
        ({"id": None, "name": "f", "response": {}, "scheduling": "INTERRUPTED"}, 1007),
    ],
)
async def test_gemini_closes_on_a_bad_answer(response: dict[str, Any], code: int) -> None:
    async with gemini(**declared()) as (socket, connection):
        await connection.ready()
        (call_id,) = await connection.call(("f", {}))
        if response.get("id", "") is None:
            response = response | {"id": call_id}
        await socket.send_json({"toolResponse": {"functionResponses": [response]}})
        assert (await ended(socket))[0] == code


async def test_gemini_ends_a_connection_that_sends_sound_while_the_model_waits() -> None:
    async with gemini("models/gemini-3.1-flash-live-preview", **declared()) as (socket, connection):
        await connection.ready()
        await connection.call(("f", {}))
        await asyncio.sleep(0.25)  # what was in flight is forgiven
        audio = {"data": SILENCE, "mimeType": "audio/pcm;rate=16000"}
        await socket.send_json({"realtimeInput": {"audio": audio}})
        assert (await ended(socket))[0] == 1008


async def test_gemini_resumes_a_session_once_and_only_after_it_is_closed() -> None:
    async with gemini(sessionResumption={}) as (socket, connection):
        await connection.ready()
        await connection.hand_out_handle()
        handle = next(iter(connection.server.handles))
        url = f"http://{connection.server.address}/ws/{METHOD}?key={connection.server.key}"
        setup = dict(connection.setup or {}) | {"sessionResumption": {"handle": handle}}
        async with aiohttp.ClientSession() as http, http.ws_connect(url) as second:
            await second.send_json({"setup": setup})
            assert (await ended(second))[0] == 1011
        await socket.close()
        async with aiohttp.ClientSession() as http, http.ws_connect(url) as third:
            await third.send_json({"setup": setup})
            assert (await ended(third))[0] == 1008


async def test_gemini_goes_away_when_it_said_so() -> None:
    async with gemini() as (socket, connection):
        await connection.ready()
        await connection.go_away(0.05)
        assert (await ended(socket))[0] == 1011
