"""Declarations that want to be code, or to be too much: refused or harmless, never an exception."""

import builtins
from typing import Any, NoReturn

import fastjsonschema
import pytest

from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools import compiled
from relay.tools.arguments import check_arguments
from relay.tools.parameters import check_of
from relay.tools.schema import admit_tool
from relay.tools.tool import ToolSpec
from tests.fakes.declared import tool

CANARY = "voicebox_canary"
CALL = f"__import__('builtins').__dict__.__setitem__('{CANARY}', 1)"
HOSTILE = [
    f"'+{CALL}+'",
    f'"+{CALL}+"',
    f"'''\n{CALL}\n'''",
    f"\\'\n{CALL}\n#",
    f'"""\n{CALL}\n"""',
    f"]\n{CALL}\n[",
    "{x.__class__}",
    "{variable.__class__.__mro__}",
    "{{}}{0}%s%(x)s",
    "{" + CALL + "}",
    "\n\r\t\x00\x1b[31m",
    "\\",
    "\\N{DEAD}",
    "\u2028\u202e",
    "$ref",
    "#/definitions/x",
]


@pytest.fixture(autouse=True)
def _nothing_ran() -> Any:
    yield
    assert not hasattr(builtins, CANARY)


def is_refused(spec: ToolSpec, args: object, code: RefusalCode) -> bool:
    with pytest.raises(Refusal) as caught:
        check_arguments(spec, args)
    return caught.value.code is code


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_property_name_is_only_a_name(text: str) -> None:
    spec = admit_tool(tool("t", **{text: {"type": "string", "maxLength": 2}}))
    assert check_of(spec.parameters) is None or text == "#/definitions/x"
    assert check_arguments(spec, {text: "ab"}) == {text: "ab"}
    assert is_refused(spec, {text: "abc"}, RefusalCode.INVALID_ARGUMENT_LENGTH)
    assert is_refused(spec, {text: 1}, RefusalCode.INVALID_ARGUMENT_TYPE)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_required_name_is_only_a_name(text: str) -> None:
    declared = tool("t")
    declared["parameters"]["required"] = [text]
    spec = admit_tool(declared)
    assert check_arguments(spec, {text: 0}) == {text: 0}
    assert is_refused(spec, {}, RefusalCode.MISSING_ARGUMENT)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_member_is_only_a_value(text: str) -> None:
    items = {"type": "array", "items": {"type": "string", "enum": [text]}}
    spec = admit_tool(tool("t", v={"type": "string", "enum": [text]}, l=items))
    assert check_arguments(spec, {"v": text, "l": [text]}) == {"v": text, "l": [text]}
    assert is_refused(spec, {"v": text + "x"}, RefusalCode.INVALID_ARGUMENT_ENUM)
    assert is_refused(spec, {"l": [text + "x"]}, RefusalCode.INVALID_ARGUMENT_ENUM)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_description_is_never_compiled(text: str) -> None:
    described = {"type": "string", "description": text}
    spec = admit_tool(tool("t", v=described, o={"type": "object", "description": text}))
    assert check_arguments(spec, {"v": "x", "o": {}}) == {"v": "x", "o": {}}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_keyword_or_type_is_refused(text: str) -> None:
    for schema in ({"type": text}, {"type": "string", text: 1}, {"type": "string", "enum": text}):
        with pytest.raises(Refusal) as caught:
            admit_tool(tool("t", v=schema))
        assert caught.value.code is RefusalCode.INVALID_TOOL_PARAMETERS
        assert caught.value.why.isprintable()


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        (
            tool("t", **{f"p{n}": {"type": "string"} for n in range(1_000)}),
            RefusalCode.INVALID_TOOL_PARAMETERS,
        ),
        (
            tool("t", **{f"p{n}": {"type": "string"} for n in range(5_000)}),
            RefusalCode.INVALID_TOOL_DECLARATION,
        ),
        (
            tool("t", v={"type": "integer", "enum": [1] * 100_000}),
            RefusalCode.INVALID_TOOL_DECLARATION,
        ),
        (tool("t", v={"type": "integer", "enum": [10**400]}), RefusalCode.INVALID_TOOL_PARAMETERS),
        (
            tool("t", v={"type": "number", "enum": [1, 1e999]}),
            RefusalCode.INVALID_TOOL_PARAMETERS,
        ),
        (
            {
                "name": "t",
                "description": "t",
                "parameters": {"type": "object", "properties": {1: {}}},
            },
            RefusalCode.INVALID_TOOL_PARAMETERS,
        ),
        (tool("t", v={"type": "number", "maximum": 10**400}), RefusalCode.INVALID_TOOL_PARAMETERS),
        (tool("t", v={"type": "number", "maximum": 1e999}), RefusalCode.INVALID_TOOL_PARAMETERS),
        (b'{"name":' + b"[" * 5_000 + b"]" * 5_000 + b"}", RefusalCode.INVALID_TOOL_DECLARATION),
        (b"{", RefusalCode.INVALID_TOOL_DECLARATION),
        (b"\xff", RefusalCode.INVALID_TOOL_DECLARATION),
        ({"name": object()}, RefusalCode.INVALID_TOOL_DECLARATION),
    ],
)
def test_too_much_is_refused(declared: object, code: RefusalCode) -> None:
    with pytest.raises(Refusal) as caught:
        admit_tool(declared)
    assert caught.value.code is code


def test_as_many_members_as_fit_are_checked_without_generated_code() -> None:
    spec = admit_tool(
        tool("t", v={"type": "array", "items": {"type": "integer", "enum": list(range(10_000))}})
    )
    assert check_of(spec.parameters) is None
    assert check_arguments(spec, {"v": [9_999] * 2_000}) == {"v": [9_999] * 2_000}
    assert is_refused(spec, {"v": [10_000]}, RefusalCode.INVALID_ARGUMENT_ENUM)


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, SyntaxError, MemoryError])
def test_whatever_the_generator_raises_is_a_refusal_of_that_tool(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def break_down(*_: object, **__: object) -> NoReturn:
        raise error("inside")

    monkeypatch.setattr(fastjsonschema, "compile", break_down)
    with pytest.raises(Refusal) as caught:
        admit_tool(tool("t", **{f"never_{error.__name__}": {"type": "string"}}))
    assert caught.value.code is RefusalCode.INVALID_TOOL_PARAMETERS
    assert "inside" not in caught.value.why


def test_no_schema_makes_the_relay_fetch_anything() -> None:
    with pytest.raises(LookupError):
        compiled._fetch_nothing("http://127.0.0.1/schema.json")
