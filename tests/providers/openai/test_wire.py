from base64 import b64encode
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.providers.openai import events as said
from relay.providers.openai import wire

# Lines as a server sent them, shortened only in their sound
RECORDED: list[tuple[str, said.ServerEvent]] = [
    (
        (
            '{"type":"session.created","event_id":"event_1","session":{"type":"realtime","object":'
            '"realtime.session","id":"sess_1","model":"gpt-realtime-2.1","expires_at":1764600000,'
            '"tools":[]}}'
        ),
        said.SessionCreated(),
    ),
    (
        '{"type":"session.updated","event_id":"event_2","session":{"type":"realtime"}}',
        said.SessionUpdated(),
    ),
    (
        (
            '{"type":"input_audio_buffer.speech_started","event_id":"event_3","audio_start_ms":512,'
            '"item_id":"item_1"}'
        ),
        said.SpeechStarted(),
    ),
    (
        (
            '{"type":"input_audio_buffer.speech_stopped","event_id":"event_4","audio_end_ms":1312,'
            '"item_id":"item_1"}'
        ),
        said.SpeechStopped(),
    ),
    (
        (
            '{"type":"conversation.item.input_audio_transcription.delta","event_id":"event_5",'
            '"item_id":"item_1","content_index":0,"delta":"Add three"}'
        ),
        said.UserText(item_id="item_1", delta="Add three", final=False),
    ),
    (
        (
            '{"type":"conversation.item.input_audio_transcription.completed","event_id":"event_6",'
            '"item_id":"item_1","content_index":0,"transcript":"Add three points."}'
        ),
        said.UserText(item_id="item_1", delta="Add three points.", final=True),
    ),
    (
        (
            '{"type":"response.created","event_id":"event_7","response":{"object":"realtime.response",'
            '"id":"resp_1","status":"in_progress","output":[],"metadata":{"relay_request":"req-1"}}}'
        ),
        said.ResponseCreated(response_id="resp_1", request="req-1"),
    ),
    (
        '{"type":"response.created","event_id":"event_8","response":{"id":"resp_2","metadata":null}}',
        said.ResponseCreated(response_id="resp_2", request=None),
    ),
    (
        (
            '{"type":"response.output_audio.delta","event_id":"event_9","response_id":"resp_1",'
            '"item_id":"item_2","output_index":0,"content_index":0,"delta":"AQACAA=="}'
        ),
        said.Sound(
            response_id="resp_1", item_id="item_2", content_index=0, pcm=b"\x01\x00\x02\x00"
        ),
    ),
    (
        (
            '{"type":"response.audio.delta","response_id":"resp_1","item_id":"item_2",'
            '"content_index":0,"delta":"AQA="}'
        ),
        said.Sound(response_id="resp_1", item_id="item_2", content_index=0, pcm=b"\x01\x00"),
    ),
    (
        (
            '{"type":"response.output_audio_transcript.done","response_id":"resp_1","item_id":"item_2",'
            '"content_index":0,"transcript":"Three points."}'
        ),
        said.AnswerText(response_id="resp_1", item_id="item_2", delta="Three points.", final=True),
    ),
    (
        (
            '{"type":"response.output_item.done","response_id":"resp_1","output_index":0,"item":{"id":'
            '"item_3","type":"function_call","status":"completed","call_id":"call_1","name":'
            '"set_score","arguments":"{\\"points\\":3}"}}'
        ),
        said.CallItem(
            response_id="resp_1",
            call=said.FunctionCall(call_id="call_1", name="set_score", arguments='{"points":3}'),
        ),
    ),
    (
        (
            '{"type":"response.output_item.done","response_id":"resp_1","item":{"id":"item_3","type":'
            '"function_call","status":"incomplete","call_id":"call_1","name":"set_score",'
            '"arguments":"{\\"poi"}}'
        ),
        said.Ignored("response.output_item.done"),
    ),
    (
        (
            '{"type":"conversation.item.added","item":{"id":"item_4","type":"function_call_output",'
            '"call_id":"call_1","output":"{}"}}'
        ),
        said.ItemAdded("call_1"),
    ),
    (
        (
            '{"type":"error","event_id":"event_10","error":{"type":"invalid_request_error","code":'
            '"conversation_already_has_active_response","message":"Conversation already has an '
            'active response in progress: resp_9.","param":null,"event_id":"req-2"}}'
        ),
        said.Failed(
            code="conversation_already_has_active_response",
            message="Conversation already has an active response in progress: resp_9.",
            param="",
            event_id="req-2",
        ),
    ),
    ('{"type":"rate_limits.updated","rate_limits":[]}', said.Ignored("rate_limits.updated")),
    ('{"type":"mcp_list_tools.failed"}', said.Ignored("mcp_list_tools.failed")),
]


@pytest.mark.parametrize(("line", "event"), RECORDED)
def test_a_recorded_line_is_read(line: str, event: said.ServerEvent) -> None:
    assert wire.read(line) == event
    assert wire.read(line.encode()) == event


def test_the_end_of_a_response_carries_its_status_calls_and_usage() -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    response = {
        "id": "resp_1",
        "status": "failed",
        "status_details": {
            "type": "failed",
            "error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "Slow down."},
        },
        "output": [
            {"type": "message", "status": "completed"},
            {**call, "status": "completed"},
            {**call, "call_id": "call_2", "status": "incomplete"},
        ],
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
    event = wire.read(orjson.dumps({"type": "response.done", "response": response}))
    assert event == said.ResponseDone(
        response_id="resp_1",
        status="failed",
        reason="",
        error_code="rate_limit_exceeded",
        error_message="Slow down.",
        calls=[said.FunctionCall(call_id="call_1", name="f", arguments="{}")],
        input_tokens=7,
        output_tokens=3,
    )


KINDS = sorted(wire._READERS)
FIELDS = ["id", "item", "response", "output", "error", "delta", "metadata", "type", "arguments"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "item", "response", "output", "error", "delta", "metadata", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(kind=st.sampled_from(KINDS), fields=st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_line_of_a_known_type_breaks_the_reader(kind: str, fields: dict[str, Any]) -> None:
    line = orjson.dumps({**fields, "type": kind})
    assert isinstance(wire.read(line), said.ServerEvent)


@given(st.binary(max_size=40) | JSON.map(orjson.dumps))
def test_what_is_no_event_is_ignored(line: bytes) -> None:
    assert isinstance(wire.read(line), said.ServerEvent)


def test_sound_that_is_no_base64_is_ignored() -> None:
    line = orjson.dumps({"type": "response.output_audio.delta", "delta": "***"})
    assert wire.read(line) == said.Ignored("bad-base64")


@given(st.binary(max_size=2_000))
def test_sound_survives_both_ways(pcm: bytes) -> None:
    sent = orjson.loads(wire.append(pcm))
    assert sent == {"type": "input_audio_buffer.append", "audio": b64encode(pcm).decode()}
    delta = {"type": "response.output_audio.delta", "delta": sent["audio"]}
    event = wire.read(orjson.dumps(delta))
    assert isinstance(event, said.Sound)
    assert event.pcm == pcm


def test_commands_have_the_shape_of_the_reference() -> None:
    assert orjson.loads(wire.update("cfg-1", {"tools": []})) == {
        "type": "session.update",
        "event_id": "cfg-1",
        "session": {"type": "realtime", "tools": []},
    }
    assert orjson.loads(wire.output_item("call_1", '{"result":1}')) == {
        "type": "conversation.item.create",
        "item": {"type": "function_call_output", "call_id": "call_1", "output": '{"result":1}'},
    }
    assert orjson.loads(wire.create_response("req-1")) == {
        "type": "response.create",
        "event_id": "req-1",
        "response": {"metadata": {"relay_request": "req-1"}},
    }
    assert orjson.loads(wire.truncate("item_1", 0, 250)) == {
        "type": "conversation.item.truncate",
        "event_id": "cut-item_1",
        "item_id": "item_1",
        "content_index": 0,
        "audio_end_ms": 250,
    }
