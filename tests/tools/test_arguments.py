"""What the vectors can't say: values that no JSON text holds, and who owns what."""

import json
from typing import Any

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools import json_text
from relay.tools.arguments import check_arguments, parse_arguments
from relay.tools.schema import admit_tool
from relay.tools.tool import ToolName, ToolSpec
from tests.fakes.declared import SET_SCORE, tool

ANY = admit_tool(tool("t"))


def code_of(spec: ToolSpec, args: object, **bounds: int) -> RefusalCode:
    with pytest.raises(Refusal) as caught:
        check_arguments(spec, args, limits=Limits(**bounds))
    return caught.value.code


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1: 2},
        {"a": {None: 1}},
        float("nan"),
        float("inf"),
        10**400,
        (1, 2),
        {1, 2},
        b"x",
        "\ud800",
        ["\udfff"],
        {"\ud800": 1},
        {"__proto__": 1},
        [{"__proto__": 1}],
    ],
)
def test_whatever_is_not_plain_json_data_is_an_invalid_argument(value: object) -> None:
    assert code_of(ANY, {"v": value}) is RefusalCode.INVALID_ARGUMENT


def test_the_first_fault_in_the_order_of_the_walk_is_answered() -> None:
    too_many = [0] * 3_000
    assert code_of(ANY, {"a": too_many, "\ud800": 1}) is RefusalCode.INVALID_ARGUMENT_BOUNDS
    assert code_of(ANY, {"\ud800": 1, "a": too_many}) is RefusalCode.INVALID_ARGUMENT
    # Keys that are array indices come first, as they do in a browser
    assert code_of(ANY, {"\ud800": 1, "7": too_many}) is RefusalCode.INVALID_ARGUMENT_BOUNDS


def test_deeper_than_json_can_be_written_is_out_of_bounds_whatever_the_limit() -> None:
    nested: list[Any] = []
    for _ in range(400):
        nested = [nested]
    assert code_of(ANY, {"v": nested}, arguments_depth_max=900) is (
        RefusalCode.INVALID_ARGUMENT_BOUNDS
    )


def test_what_runs_is_a_copy() -> None:
    given = {"v": [{"k": 1}]}
    copy = check_arguments(ANY, given)
    given["v"][0]["k"] = 2
    assert copy == {"v": [{"k": 1}]}


def test_numbers_are_doubles_as_in_a_browser() -> None:
    copy = check_arguments(ANY, {"v": [2**53 + 1, 5.0, -0.0, 2**70, 0.5]})
    assert copy == {"v": [2**53, 5, 0, 2.0**70, 0.5]}
    assert [type(number) for number in copy["v"]] == [int, int, int, float, float]


def test_a_plain_schema_of_the_relays_own_tools_is_checked_too() -> None:
    spec = ToolSpec(name=ToolName("t"), description="t", parameters=SET_SCORE["parameters"])
    assert check_arguments(spec, {"team": "home", "points": 1}) == {"team": "home", "points": 1}
    assert code_of(spec, {"team": "home"}) is RefusalCode.MISSING_ARGUMENT


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ({"type": "string", "enum": ["home", "away"]}, "x", '"v" must be one of "home", "away"'),
        ({"type": "string", "maxLength": 1}, "ab", '"v" must be at most 1 characters'),
        ({"type": "number", "minimum": 2}, 1, '"v" must be at least 2'),
        ({"type": "integer"}, 1.5, '"v" must be of type integer'),
        ({"type": "integer", "enum": list(range(20))}, 20, ", 7, …"),
    ],
)
def test_the_sentence_tells_a_model_how_to_mend_its_call(
    schema: dict[str, Any], value: object, why: str
) -> None:
    with pytest.raises(Refusal) as caught:
        check_arguments(admit_tool(tool("t", v=schema)), {"v": value})
    assert why in caught.value.why


def test_the_sentence_names_the_place_and_escapes_what_comes_from_outside() -> None:
    inner = {"type": "object", "properties": {}, "additionalProperties": False}
    spec = admit_tool(tool("t", o=inner))
    with pytest.raises(Refusal) as caught:
        check_arguments(spec, {"o": {"x\u202e\n": 1}})
    assert caught.value.why == '"o.x\\u202e\\n" is not an argument'


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", '{"a":Infinity}', b"\xff", b'\xef\xbb\xbf{"a":1}']
)
def test_text_that_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(Refusal) as caught:
        parse_arguments(text)
    assert caught.value.code is RefusalCode.INVALID_TOOL_ARGUMENTS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"),
        (-0.0, "0"),
        ([10.0, 1.25, -3.0], "[10,1.25,-3]"),
        (1e16, "10000000000000000"),
        (-1.5e20, "-150000000000000000000"),
        (1e21, "1e+21"),
        (1e-5, "0.00001"),
        (-1.25e-6, "-0.00000125"),
        (1e-7, "1e-7"),
        (9_999_999_999_999_999, "10000000000000000"),
        (2**63, "9223372036854775808"),
        (10**400, "null"),
        (10**30, "1e+30"),
        (float("-inf"), "null"),
        ({"2.0": '1e16 \\" 2.0'}, json.dumps({"2.0": '1e16 \\" 2.0'}, separators=(",", ":"))),
        ({"é": "\u2028\x7f"}, '{"é":"\u2028\x7f"}'),
    ],
)
def test_sizes_are_those_of_a_browsers_json(value: object, text: str) -> None:
    assert json_text.compact_size(value) == len(text.encode())
    nested = value
    for _ in range(300):  # deeper than the fast writer goes
        nested = [nested]
    assert json_text.compact_size(nested) == len(text.encode()) + 600


@pytest.mark.parametrize("depth", [5_000])
def test_what_no_writer_can_write_has_no_size(depth: int) -> None:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    for value in (nested, object(), "\ud800"):
        with pytest.raises(TypeError):
            json_text.compact_size(value)
