"""Admission of a declaration: the subset of JSON Schema that the relay can enforce.

A declaration comes as parsed JSON or as raw JSON bytes and leaves as a `ToolSpec` in normal
form, copied and never shared with its sender. Arguments are checked elsewhere.
Source: seed document 000, sections 3 and 5; `tests/vectors/declarations.json`.
"""

import re
from typing import Any

from msgspec import Raw

from relay.protocol.limits import LIMITS, Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools import json_text
from relay.tools.parameters import Parameters, admit_parameters, check_of
from relay.tools.tool import ToolName, ToolSpec

# What String.prototype.trim removes
_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_NAME = re.compile(r"[a-zA-Z0-9_-]+")


def admit_tool(tool: object, *, limits: Limits = LIMITS) -> ToolSpec:
    """Check a declaration, compile its schema and return its normal form.

    `bytes` and `msgspec.Raw` are read as JSON text. Raises: Refusal `invalid-tool-declaration`,
    `invalid-tool-name`, `invalid-tool-description`, `invalid-tool-parameters`.
    """
    spec = read_tool(tool, limits=limits)
    check_of(spec.parameters)
    return spec


def read_tool(tool: object, *, limits: Limits = LIMITS) -> ToolSpec:
    """As `admit_tool`, but leaves the compiling to the first use of the schema."""
    return read_declaration(open_declaration(tool, limits=limits), limits=limits)


def open_declaration(tool: object, *, limits: Limits = LIMITS) -> dict[str, Any]:
    """Parse and measure a declaration: the first part of `read_tool`, for a caller that slices.

    Raises: Refusal `invalid-tool-declaration`.
    """
    code = RefusalCode.INVALID_TOOL_DECLARATION
    declared = _parsed(tool)
    if not isinstance(declared, dict):
        raise Refusal(code, "the tool is not an object")
    try:
        size = json_text.compact_size(declared)
    except TypeError:
        raise Refusal(code, "the tool holds a value or a text that JSON can't carry") from None
    if size > limits.tool_declaration_max_bytes:
        raise Refusal(code, f"the tool is over {limits.tool_declaration_max_bytes} bytes")
    return declared


def read_declaration(declared: dict[str, Any], *, limits: Limits = LIMITS) -> ToolSpec:
    """Check an opened declaration: the second part of `read_tool`."""
    return ToolSpec(
        name=_name_of(declared, limits),
        description=_description_of(declared, limits),
        parameters=_parameters_of(declared, limits),
        destructive=_is_destructive(declared),
    )


def declared_name(tool: object, *, limits: Limits = LIMITS) -> str:
    """What a (perhaps refused) declaration calls itself, cut, as text that UTF-8 can hold."""
    try:
        declared = _parsed(tool)
    except Refusal:
        return ""
    name = declared.get("name") if isinstance(declared, dict) else None
    if not isinstance(name, str):
        return ""
    return name.strip(_BLANKS)[: limits.tool_name_max_chars].encode(errors="replace").decode()


def _parsed(tool: object) -> object:
    if not isinstance(tool, bytes | Raw):
        return tool
    try:
        return json_text.parse(bytes(tool))
    except ValueError:
        raise Refusal(RefusalCode.INVALID_TOOL_DECLARATION, "the tool is not JSON") from None


def _name_of(tool: dict[str, Any], limits: Limits) -> ToolName:
    name = _trimmed(tool.get("name"))
    if _NAME.fullmatch(name) is None or len(name) > limits.tool_name_max_chars:
        raise Refusal(
            RefusalCode.INVALID_TOOL_NAME,
            f"a name is 1 to {limits.tool_name_max_chars} letters, digits, _ or -",
        )
    return ToolName(name)


def _description_of(tool: dict[str, Any], limits: Limits) -> str:
    description = _trimmed(tool.get("description"))
    most = limits.tool_description_max_units
    if not description or json_text.utf16_units(description) > most:
        raise Refusal(
            RefusalCode.INVALID_TOOL_DESCRIPTION, f"a description is 1 to {most} UTF-16 units"
        )
    return description


def _parameters_of(tool: dict[str, Any], limits: Limits) -> Parameters:
    schema = tool.get("parameters")
    if schema is None:
        schema = tool.get("inputSchema")
    return admit_parameters({"type": "object"} if schema is None else schema, limits)


def _is_destructive(tool: dict[str, Any]) -> bool:
    """What its annotations say; they are hints, so whatever else they hold is no fault."""
    annotations = tool.get("annotations")
    return isinstance(annotations, dict) and annotations.get("destructiveHint") is True


def _trimmed(text: object) -> str:
    """As String.prototype.trim; whatever is no text counts as an empty one."""
    return text.strip(_BLANKS) if isinstance(text, str) else ""
