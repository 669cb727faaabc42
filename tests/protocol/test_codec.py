from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect as shapes

from relay.protocol import codec, messages
from relay.protocol.refusals import Refusal, RefusalCode

Decode = Callable[[str | bytes], messages.Message]

DECODERS: list[tuple[Decode, tuple[type[messages.Message], ...]]] = [
    (codec.decode_hello, (messages.Hello,)),
    (codec.decode_live_client, get_args(messages.LiveClientMessage)),
    (codec.decode_live_server, get_args(messages.LiveServerMessage)),
    (codec.decode_workspace_client, get_args(messages.WorkspaceClientMessage)),
    (codec.decode_workspace_server, get_args(messages.WorkspaceServerMessage)),
    (codec.decode_frames_server, get_args(messages.FramesServerMessage)),
]
WAYS = [
    pytest.param(decode, member, id=f"{decode.__name__}-{member.__name__}")
    for decode, members in DECODERS
    for member in members
]
REFUSED_HERE = {
    RefusalCode.BAD_JSON,
    RefusalCode.BAD_REQUEST,
    RefusalCode.UNKNOWN_MESSAGE,
    RefusalCode.UNAUTHENTICATED_CALL,
}
READERS = [pytest.param(decode, id=decode.__name__) for decode, _ in DECODERS]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
whole_numbers = st.integers(-(2**53), 2**53)
json_values = st.recursive(
    st.none() | st.booleans() | whole_numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def values_of(  # noqa: C901, PLR0911 - one case for each kind of declaration
    shape: shapes.Type,
) -> st.SearchStrategy[Any]:
    """Values that the declaration of a field allows."""
    match shape:
        case shapes.Metadata(type=inner):
            return values_of(inner)
        case shapes.StrType(pattern=str(pattern)):
            return st.from_regex(pattern, fullmatch=True)
        case shapes.StrType(min_length=least, max_length=most):
            return st.text(
                st.characters(exclude_categories=["Cs"]),
                min_size=least or 0,
                max_size=min(most or 40, 40),
            )
        case shapes.BoolType():
            return st.booleans()
        case shapes.IntType(ge=least, le=most):
            return st.integers(
                -(2**53) if least is None else least, 2**53 if most is None else most
            )
        case shapes.FloatType(ge=least):
            return st.floats(least, allow_nan=False, allow_infinity=False)
        case shapes.LiteralType(values=values):
            return st.sampled_from(values)
        case shapes.RawType():
            return json_values.map(lambda value: msgspec.Raw(msgspec.json.encode(value)))
        case shapes.AnyType():
            return json_values
        case shapes.ListType(item_type=item):
            return st.lists(values_of(item), max_size=3)
        case shapes.DictType(key_type=key, value_type=value):
            return st.dictionaries(values_of(key), values_of(value), max_size=3)
        case shapes.StructType(cls=struct):
            return structs_of(struct)
    raise NotImplementedError(shape)


def structs_of(struct: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Instances of a struct, with and without what may be left out."""
    shape = shapes.type_info(struct)
    assert isinstance(shape, shapes.StructType)
    required = {field.name: values_of(field.type) for field in shape.fields if field.required}
    optional = {field.name: values_of(field.type) for field in shape.fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda given: struct(**given))


def refusal_of(decode: Decode, text: str | bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        decode(text)
    assert caught.value.why
    return caught.value


@pytest.mark.parametrize(("decode", "member"), WAYS)
@given(data=st.data())
def test_a_message_survives_the_wire(
    decode: Decode, member: type[messages.Message], data: st.DataObject
) -> None:
    message = data.draw(structs_of(member))
    assert decode(codec.encode(message)) == message


@pytest.mark.parametrize(("decode", "member"), WAYS)
@given(data=st.data())
def test_the_wire_names_its_type_and_speaks_camel_case(
    decode: Decode, member: type[messages.Message], data: st.DataObject
) -> None:
    said = msgspec.json.decode(codec.encode(data.draw(structs_of(member))))
    assert said["type"] == member.__struct_config__.tag
    assert not [key for key in said if "_" in key]


@pytest.mark.parametrize("decode", READERS)
@given(text=st.binary(max_size=60) | st.text(max_size=60) | json_values.map(msgspec.json.encode))
def test_any_text_is_read_or_refused_and_never_crashes(decode: Decode, text: str | bytes) -> None:
    try:
        assert isinstance(decode(text), messages.Message)
    except Refusal as refusal:
        assert refusal.code in REFUSED_HERE  # noqa: PT017 - reading it is as right as refusing it


@pytest.mark.parametrize("decode", READERS)
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"hello",
        b'{"type":"sto',
        b'{"type"}',
        b"\xff\xfe",
        b'{"type":"\xff"}',
        '{"type":"\ud800"}',
        b'{"type":NaN}',
        b"{'type':'stop'}",
    ],
)
def test_what_is_not_json_is_bad_json(decode: Decode, text: str | bytes) -> None:
    assert refusal_of(decode, text).code == RefusalCode.BAD_JSON


@pytest.mark.parametrize("decode", READERS)
@pytest.mark.parametrize("text", ["null", "7", '"stop"', "[]", '["stop"]', "true"])
def test_json_that_is_no_object_is_a_bad_request(decode: Decode, text: str) -> None:
    assert refusal_of(decode, text).code == RefusalCode.BAD_REQUEST


@pytest.mark.parametrize("decode", [pytest.param(d, id=d.__name__) for d, _ in DECODERS[1:]])
@pytest.mark.parametrize("text", ["{}", '{"type":"nonsense"}', '{"type":7}', '{"type":null}'])
def test_a_type_that_the_socket_does_not_know_is_an_unknown_message(
    decode: Decode, text: str
) -> None:
    assert refusal_of(decode, text).code == RefusalCode.UNKNOWN_MESSAGE


@pytest.mark.parametrize(
    "text", ['{"type":"text","text":"hi"}', '{"type":"nonsense"}', '{"type":7}']
)
def test_a_first_message_that_is_not_hello_is_an_unauthenticated_call(text: str) -> None:
    assert refusal_of(codec.decode_hello, text).code == RefusalCode.UNAUTHENTICATED_CALL


def test_a_message_of_another_socket_is_unknown() -> None:
    registration = '{"type":"register_tools","appId":"a","tools":[]}'
    assert refusal_of(codec.decode_live_client, registration).code == RefusalCode.UNKNOWN_MESSAGE


@pytest.mark.parametrize(
    ("decode", "text", "named"),
    [
        (codec.decode_hello, '{"type":"hello","tokn":"x"}', "tokn"),
        (codec.decode_hello, '{"type":"hello","workspace_id":"x"}', "workspace_id"),
        (codec.decode_hello, '{"type":"hello","token":7}', "$.token"),
        (codec.decode_hello, '{"type":"hello","token":null}', "$.token"),
        (codec.decode_hello, '{"type":"hello","room":"a b"}', "$.room"),
        (codec.decode_hello, '{"type":"hello","last":1001}', "$.last"),
        (codec.decode_hello, '{"type":"hello","last":1.5}', "$.last"),
        (codec.decode_live_client, '{"type":"text"}', "text"),
        (codec.decode_live_client, '{"type":"activity","kind":"middle"}', "$.kind"),
        (codec.decode_live_client, '{"type":"stop","now":true}', "now"),
        (codec.decode_live_client, '{"type":"interrupt","playedMs":-1}', "$.playedMs"),
        (codec.decode_workspace_client, '{"type":"app_closed","appId":""}', "$.appId"),
        (codec.decode_workspace_client, '{"type":"tool_result","callId":"c"}', "ok"),
        (
            codec.decode_workspace_client,
            '{"type":"register_tools","appId":"a","tools":{}}',
            "tools",
        ),
    ],
)
def test_a_wrong_field_is_a_bad_request_that_names_it(
    decode: Decode, text: str, named: str
) -> None:
    refusal = refusal_of(decode, text)
    assert refusal.code == RefusalCode.BAD_REQUEST
    assert named in refusal.why


@pytest.mark.parametrize("depth", [5_000, 200_000])
def test_nesting_without_end_is_refused(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    text = f'{{"type":"tool_result","callId":"c","ok":true,"result":{deep}}}'
    assert refusal_of(codec.decode_workspace_client, text).code == RefusalCode.BAD_JSON


def test_a_field_that_was_left_out_is_absent_on_the_wire() -> None:
    assert codec.encode(messages.Interrupt()) == b'{"type":"interrupt"}'
    frame = messages.ToolFrame(state="called", call_id="c", name="n", host="none")
    assert codec.encode(frame) == (
        b'{"type":"tool","state":"called","callId":"c","name":"n","host":"none"}'
    )


@pytest.mark.parametrize("text", ['{"type":"stop"', '{"type":"stop"}}', '{"type":"stop"} x'])
def test_a_known_message_that_ends_wrongly_is_bad_json(text: str) -> None:
    assert refusal_of(codec.decode_live_client, text).code == RefusalCode.BAD_JSON


def test_json_values_travel_as_they_are() -> None:
    text = b'{"type":"tool_result","callId":"c","ok":true,"result":{"a":[1.0,1e2,null]}}'
    result = codec.decode_workspace_client(text)
    assert isinstance(result, messages.ToolResult)
    assert result.result == msgspec.Raw(b'{"a":[1.0,1e2,null]}')
    assert codec.encode(result) == text
