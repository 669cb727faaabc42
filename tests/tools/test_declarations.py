from typing import Any

from relay.tools.declarations import gemini_declaration, openai_declaration
from relay.tools.schema import admit_tool
from relay.tools.tool import Registered, ToolName
from tests.fakes.declared import SET_SCORE, tool
from tests.fakes.hosts import FakeHost


def registered(declared: dict[str, Any], exposed: str = "exposed") -> Registered:
    return Registered(exposed_name=ToolName(exposed), spec=admit_tool(declared), host=FakeHost())


def gemini_properties(**properties: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = gemini_declaration(registered(tool("t", **properties)))
    return dict(told["parameters"]["properties"])


def test_openai_gets_a_flat_function_object() -> None:
    declared = SET_SCORE | {"parameters": SET_SCORE["parameters"] | {"additionalProperties": False}}
    assert openai_declaration(registered(declared)) == {
        "type": "function",
        "name": "exposed",
        "description": SET_SCORE["description"],
        "parameters": declared["parameters"],
    }


def test_models_are_told_to_ask_before_they_call_what_destroys() -> None:
    told = registered(SET_SCORE | {"annotations": {"destructiveHint": True}})
    for declaration in (openai_declaration(told), gemini_declaration(told)):
        assert declaration["description"] == (
            SET_SCORE["description"] + " Destructive: ask the person for a yes before you call it."
        )


def test_openai_gets_parameters_even_when_there_are_none() -> None:
    told = openai_declaration(registered(tool("t")))
    assert told["parameters"] == {"type": "object", "properties": {}}


def test_gemini_gets_upper_case_types_and_no_additional_properties() -> None:
    declared = SET_SCORE | {"parameters": SET_SCORE["parameters"] | {"additionalProperties": False}}
    assert gemini_declaration(registered(declared)) == {
        "name": "exposed",
        "description": SET_SCORE["description"],
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "team": {"type": "STRING", "enum": ["home", "away"]},
                "points": {"type": "NUMBER", "description": "Points to add"},
            },
            "required": ["team", "points"],
        },
    }


def test_gemini_gets_no_empty_parameters_at_any_level() -> None:
    assert "parameters" not in gemini_declaration(registered(tool("t")))
    assert gemini_properties(o={"type": "object", "properties": {}, "required": ["x"]}) == {
        "o": {"type": "OBJECT"}
    }


def test_gemini_gets_text_enums_only_and_items_always() -> None:
    told = gemini_properties(
        n={"type": "integer", "enum": [1, 2], "description": "How many."},
        l={"type": "array"},
        m={"type": "array", "items": {"type": "boolean", "enum": [True]}},
    )
    assert told == {
        "n": {"type": "INTEGER", "description": "How many. One of: 1, 2"},
        "l": {"type": "ARRAY", "items": {"type": "STRING"}},
        "m": {"type": "ARRAY", "items": {"type": "BOOLEAN", "description": "One of: true"}},
    }


def test_models_get_no_control_and_no_bidirectional_characters() -> None:
    declared = {
        "name": "t",
        "description": "Say\u202e hi\x00\x1b[31m\nnow",
        "parameters": {
            "type": "object",
            "properties": {
                "v": {"type": "string", "description": "a\u2066b", "enum": ["x", "y\u202e"]},
                "w": {"type": "array", "items": {"type": "string", "enum": ["\x07"]}},
                "odd\u200e": {"type": "string"},
                "ein\u200dbe": {"type": "string"},
            },
            "required": ["odd\u200e", "v", "v"],
        },
    }
    told = openai_declaration(registered(declared))
    assert told["description"] == "Say hi[31m now"
    assert told["parameters"] == {
        "type": "object",
        "properties": {
            "v": {"type": "string", "description": "ab", "enum": ["x"]},
            "w": {"type": "array", "items": {"type": "string"}},
            "ein\u200dbe": {"type": "string"},
        },
        "required": ["v"],
    }


def test_a_declaration_shares_nothing_with_the_tool() -> None:
    tool_ = registered(SET_SCORE)
    openai_declaration(tool_)["parameters"]["properties"]["team"]["enum"].append("x")
    assert tool_.spec.parameters["properties"]["team"]["enum"] == ["home", "away"]
