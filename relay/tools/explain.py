"""Why arguments are refused: a walk in the order of the contract, to the first rule that says no.

The walk is the contract's own reading of a schema; the compiled check must agree with it.
It takes arguments that were copied (`relay.tools.snapshot`) and a schema that was admitted.
"""

import json
from typing import Any

from msgspec import Struct

from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.json_text import in_order

_SHOWN_CHARS = 40
_SHOWN_MEMBERS = 8


class Rule(Struct, frozen=True, kw_only=True):
    """One schema, made ready for many values: members as a set, each required name once."""

    kind: str
    low: float | None = None
    high: float | None = None
    enum: tuple[Any, ...] = ()
    members: frozenset[Any] | None = None
    items: "Rule | None" = None
    properties: dict[str, "Rule"]
    required: tuple[str, ...] = ()
    closed: bool = False


def rule_of(schema: dict[str, Any]) -> Rule:
    """Read an admitted schema."""
    low, high = ("minLength", "maxLength") if schema["type"] == "string" else ("minimum", "maximum")
    members = schema.get("enum")
    return Rule(
        kind=schema["type"],
        low=schema.get(low),
        high=schema.get(high),
        enum=() if members is None else tuple(members[:_SHOWN_MEMBERS]),
        members=None if members is None else frozenset(members),
        items=rule_of(schema["items"]) if "items" in schema else None,
        properties={name: rule_of(inner) for name, inner in schema.get("properties", {}).items()},
        required=tuple(dict.fromkeys(schema.get("required", ()))),
        closed=schema.get("additionalProperties") is False,
    )


def find_fault(rule: Rule, args: dict[str, Any]) -> None:
    """Walk the arguments; return when they fit.

    Raises: Refusal `missing-argument`, `invalid-argument`, `invalid-argument-type`,
    `invalid-argument-length`, `invalid-argument-range`, `invalid-argument-enum`.
    """
    _check_object(rule, args, "")


def _check_object(rule: Rule, value: dict[str, Any], path: str) -> None:
    for name in rule.required:
        if value.get(name) is None:
            raise Refusal(RefusalCode.MISSING_ARGUMENT, f"{_shown(path, name)} is required")
    names = in_order(value)
    if rule.closed:
        for name in names:
            if name not in rule.properties:
                raise Refusal(
                    RefusalCode.INVALID_ARGUMENT, f"{_shown(path, name)} is not an argument"
                )
    for name in names:
        inner = rule.properties.get(name)
        if inner is not None:
            _check(inner, value[name], _joined(path, name))


def _check(rule: Rule, value: Any, path: str) -> None:
    kind = rule.kind
    if type(value) not in _TYPES[kind] or (kind == "integer" and not _is_whole(value)):
        raise Refusal(RefusalCode.INVALID_ARGUMENT_TYPE, f"{_quoted(path)} must be of type {kind}")
    if kind == "object":
        _check_object(rule, value, path)
    elif rule.items is not None:
        for item in value:
            _check(rule.items, item, path)
    elif rule.low is not None or rule.high is not None:
        _check_sides(rule, value, path)
    if rule.members is not None and value not in rule.members:
        more = ", …" if len(rule.members) > _SHOWN_MEMBERS else ""
        shown = ", ".join(_quoted(member) for member in rule.enum)
        raise Refusal(
            RefusalCode.INVALID_ARGUMENT_ENUM, f"{_quoted(path)} must be one of {shown}{more}"
        )


def _check_sides(rule: Rule, value: Any, path: str) -> None:
    code, measure, unit = RefusalCode.INVALID_ARGUMENT_RANGE, value, ""
    if rule.kind == "string":
        code, measure, unit = RefusalCode.INVALID_ARGUMENT_LENGTH, len(value), " characters"
    if rule.high is not None and measure > rule.high:
        raise Refusal(code, f"{_quoted(path)} must be at most {rule.high}{unit}")
    if rule.low is not None and measure < rule.low:
        raise Refusal(code, f"{_quoted(path)} must be at least {rule.low}{unit}")


def _is_whole(number: float) -> bool:
    return type(number) is int or float(number).is_integer()


_TYPES: dict[str, frozenset[type]] = {
    "string": frozenset({str}),
    "number": frozenset({int, float}),
    "integer": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "array": frozenset({list}),
    "object": frozenset({dict}),
}


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(path: str, name: str) -> str:
    return _quoted(_joined(path, name))


def _quoted(value: Any) -> str:
    """A value from outside, cut and escaped for a sentence; of a long path, its end."""
    return json.dumps(value[-_SHOWN_CHARS:] if isinstance(value, str) else value)
