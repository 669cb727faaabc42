from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.providers.gemini import events as said
from relay.providers.gemini import wire
from relay.providers.memory import Said

# Messages as a server sent them, shortened only in their sound
RECORDED: list[tuple[str, list[said.ServerEvent]]] = [
    ('{"setupComplete":{"sessionId":"5f1c"}}', [said.SetupComplete()]),
    (
        '{"serverContent":{},"usageMetadata":{"promptTokenCount":12}}',
        [said.Used(input_tokens=12, output_tokens=0)],
    ),
    (
        (
            '{"serverContent":{"modelTurn":{"parts":[{"thought":true,"text":"hm"},{"inlineData":'
            '{"mimeType":"audio/pcm;rate=24000","data":"AQACAA=="}},{"inlineData":{"mimeType":'
            '"audio/pcm;rate=24000","data":"AwA="}}]},"outputTranscription":{"text":"Three"}}}'
        ),
        [
            said.Sound(b"\x01\x00\x02\x00", 24_000),
            said.Sound(b"\x03\x00", 24_000),
            said.AnswerText(delta="Three", finished=False),
        ],
    ),
    (
        '{"serverContent":{"inputTranscription":{"text":"add three","finished":true}}}',
        [said.UserText(delta="add three", finished=True)],
    ),
    ('{"serverContent":{"interrupted":true}}', [said.Interrupted()]),
    ('{"serverContent":{"generationComplete":true}}', [said.GenerationComplete()]),
    (
        (
            '{"serverContent":{"turnComplete":true},"usageMetadata":{"promptTokenCount":30,'
            '"responseTokenCount":9,"totalTokenCount":39}}'
        ),
        [
            said.TurnComplete(reason="completed", idle=None),
            said.Used(input_tokens=30, output_tokens=9),
        ],
    ),
    (
        (
            '{"serverContent":{"turnComplete":true,"interactionStatus":"IN_PROGRESS",'
            '"turnCompleteReason":"MALFORMED_FUNCTION_CALL"}}'
        ),
        [said.TurnComplete(reason="MALFORMED_FUNCTION_CALL", idle=False)],
    ),
    (
        (
            '{"toolCall":{"functionCalls":[{"id":"fc-1","name":"set_score","args":{"points":3}},'
            '{"id":"fc-2","name":"reset"}]},"serverContent":{"turnComplete":true}}'
        ),
        [
            said.Calls(
                [
                    said.Call(call_id="fc-1", name="set_score", args={"points": 3}),
                    said.Call(call_id="fc-2", name="reset", args=None),
                ]
            ),
            said.TurnComplete(reason="completed", idle=None),
        ],
    ),
    ('{"toolCallCancellation":{"ids":["fc-1"]}}', [said.CallsCancelled(["fc-1"])]),
    ('{"goAway":{"timeLeft":"50s"}}', [said.GoingAway(50_000.0)]),
    ('{"goAway":{"timeLeft":"1.5s"}}', [said.GoingAway(1_500.0)]),
    (
        '{"sessionResumptionUpdate":{"newHandle":"h1","resumable":true}}',
        [said.Handle("h1")],
    ),
    ('{"sessionResumptionUpdate":{"resumable":false}}', []),
    ('{"voiceActivity":{"voiceActivityType":"ACTIVITY_START"}}', []),
]


@pytest.mark.parametrize(("line", "events"), RECORDED)
def test_a_recorded_message_is_read(line: str, events: list[said.ServerEvent]) -> None:
    assert wire.read(line) == events
    assert wire.read(line.encode()) == events


FIELDS = [
    "serverContent",
    "modelTurn",
    "parts",
    "inlineData",
    "toolCall",
    "functionCalls",
    "toolCallCancellation",
    "ids",
    "goAway",
    "sessionResumptionUpdate",
    "usageMetadata",
    "outputTranscription",
    "text",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_message_of_known_fields_breaks_the_reader(message: dict[str, Any]) -> None:
    assert isinstance(wire.read(orjson.dumps(message)), list)


@given(st.binary(max_size=40) | JSON.map(orjson.dumps))
def test_what_is_no_message_is_ignored(line: bytes) -> None:
    assert isinstance(wire.read(line), list)


def test_sound_of_an_absurd_rate_or_another_kind_is_ignored() -> None:
    parts = [
        {"inlineData": {"mimeType": "audio/pcm;rate=0", "data": "AQA="}},
        {"inlineData": {"mimeType": "audio/pcm;rate=240000", "data": "AQA="}},
        {"inlineData": {"mimeType": "audio/pcm;rate=99999999999999", "data": "AQA="}},
        {"inlineData": {"mimeType": "image/png", "data": "AQA="}},
        {"inlineData": {"mimeType": "audio/pcm", "data": "***"}},
    ]
    assert wire.read(orjson.dumps({"serverContent": {"modelTurn": {"parts": parts}}})) == []


def setup(**changes: Any) -> dict[str, Any]:
    wanted = wire.Setup(
        model="gemini-3.8-live",
        instructions="Be brief.",
        voice="Puck",
        tools=[],
        manual=False,
        handle=None,
        history_follows=False,
    )
    values = {name: getattr(wanted, name) for name in wanted.__struct_fields__} | changes
    fields: dict[str, Any] = orjson.loads(wire.setup(wire.Setup(**values)))["setup"]
    return fields


def test_what_has_no_value_is_left_out_of_the_setup() -> None:
    fields = setup()
    assert fields["model"] == "models/gemini-3.8-live"
    assert fields["sessionResumption"] == {}
    assert not {"tools", "historyConfig", "thinkingConfig"} & set(fields)


def test_what_has_a_value_is_in_the_setup() -> None:
    declaration = {"name": "reset", "description": "d"}
    fields = setup(handle="h1", manual=True, history_follows=True, tools=[declaration])
    assert fields["sessionResumption"] == {"handle": "h1"}
    assert fields["realtimeInputConfig"] == {"automaticActivityDetection": {"disabled": True}}
    assert fields["historyConfig"] == {"initialHistoryInClientContent": True}
    assert fields["tools"] == [{"functionDeclarations": [declaration]}]


def test_commands_have_exactly_one_field() -> None:
    answer = wire.Answer(call_id="fc-1", name="f", outcome=b'{"result":1}')
    commands = [
        wire.audio(b"\1\0"),
        wire.text("hi"),
        wire.edge("activityStart"),
        wire.stream_end(),
        wire.content([Said("assistant", "hi")], answer=True),
        wire.tool_response([answer], scheduled=True),
        wire.update_tools([]),
    ]
    for command in commands:
        assert len(orjson.loads(command)) == 1
    assert orjson.loads(commands[0]) == {
        "realtimeInput": {"audio": {"data": "AQA=", "mimeType": "audio/pcm;rate=16000"}}
    }
    assert orjson.loads(commands[4])["clientContent"]["turns"][0]["role"] == "model"
    assert orjson.loads(commands[5])["toolResponse"]["functionResponses"] == [
        {"id": "fc-1", "name": "f", "response": {"result": 1}, "scheduling": "WHEN_IDLE"}
    ]
    assert orjson.loads(commands[6]) == {"contextUpdate": {"tools": {"tools": []}}}
