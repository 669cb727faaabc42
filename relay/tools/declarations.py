"""Tools in the words of the model providers.

Text that comes from apps is stripped of control and bidirectional characters. A name or an
enum member that holds one can't be shown truthfully and is left out: the check still knows it.
Sources: the function tools of OpenAI's Realtime API; the Schema object of the Gemini API.
"""

import json
import unicodedata
from typing import Any

from relay.tools.tool import Registered

# Cc: controls; Cf: formats, among them the bidirectional ones; Zl, Zp: line separators
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
_DESTROYS = " Destructive: ask the person for a yes before you call it."
_JOINERS = "\u200c\u200d"  # inside words and emoji of many languages


def openai_declaration(tool: Registered) -> dict[str, Any]:
    """A flat function object: {type, name, description, parameters}."""
    return {
        "type": "function",
        "name": tool.exposed_name,
        "description": _description(tool),
        "parameters": _told(tool.spec.parameters),
    }


def gemini_declaration(tool: Registered) -> dict[str, Any]:
    """A function declaration: {name, description, parameters?} in Gemini's subset of OpenAPI."""
    declaration: dict[str, Any] = {"name": tool.exposed_name, "description": _description(tool)}
    parameters = _told(tool.spec.parameters)
    return declaration | ({"parameters": _gemini(parameters)} if parameters["properties"] else {})


def _description(tool: Registered) -> str:
    return _clean(tool.spec.description) + _DESTROYS * tool.spec.destructive


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy of the schema that holds only text a model may be shown."""
    told = dict(schema)
    if "description" in told:
        told["description"] = _clean(told["description"])
    if "enum" in told:
        told["enum"] = [member for member in told["enum"] if _is_clean(member)]
        if not told["enum"]:
            del told["enum"]
    if "items" in told:
        told["items"] = _told(told["items"])
    if "properties" in told:
        shown = {name: inner for name, inner in told["properties"].items() if _is_clean(name)}
        told["properties"] = {name: _told(inner) for name, inner in shown.items()}
    if "required" in told:
        told["required"] = [name for name in dict.fromkeys(told["required"]) if _is_clean(name)]
    return told


def _gemini(schema: dict[str, Any]) -> dict[str, Any]:
    """Upper-case types, no additionalProperties, text enums only, only declared names required."""
    told = {key: value for key, value in schema.items() if key != "additionalProperties"}
    told["type"] = told["type"].upper()
    if told["type"] != "STRING" and "enum" in told:
        members = ", ".join(map(json.dumps, told.pop("enum")))
        told["description"] = f"{told.get('description', '')} One of: {members}".strip()
    if told["type"] == "ARRAY":
        told["items"] = _gemini(told.get("items", {"type": "string"}))
    properties = told.pop("properties", {})
    if properties:
        told["properties"] = {name: _gemini(inner) for name, inner in properties.items()}
    required = [name for name in told.pop("required", ()) if name in properties]
    return told | ({"required": required} if required else {})


def _clean(text: str) -> str:
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _is_clean(member: object) -> bool:
    return not isinstance(member, str) or _clean(member) == member


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN or character in _JOINERS:
        return character
    return " " if character.isspace() else ""
