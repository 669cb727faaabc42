"""Which parameter schemas are admitted: the subset of JSON Schema that the relay can enforce.

It copies what it admits; nothing of the sender's object is kept. Whatever else a schema says
is refused, never ignored. Source: seed document 000, sections 3 and 5.
"""

import json
from functools import cached_property
from math import inf, isfinite
from typing import Any, NoReturn

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.compiled import Check, compiled_check
from relay.tools.explain import Rule, rule_of
from relay.tools.json_text import EXACT_MAX, EXACT_MIN, as_double, utf16_units

_FORBIDDEN = "__proto__"
_OBJECT_KEYWORDS = frozenset({"type", "properties", "required", "additionalProperties"})
_NUMBER_KEYWORDS = frozenset({"type", "description", "maximum", "minimum", "enum"})
_KEYWORDS = {
    "string": frozenset({"type", "description", "maxLength", "minLength", "enum"}),
    "number": _NUMBER_KEYWORDS,
    "integer": _NUMBER_KEYWORDS,
    "boolean": frozenset({"type", "description"}),
    "array": frozenset({"type", "description", "items"}),
    "object": _OBJECT_KEYWORDS | {"description"},
}
_ITEM_KEYWORDS = frozenset({"type", "description", "enum"})
_ITEM_TYPES = frozenset({"string", "number", "integer", "boolean"})
_MEMBER_TYPES: dict[str, set[type]] = {
    "string": {str},
    "number": {int, float},
    "integer": {int, float},
    "boolean": {bool},
}
_SHOWN_CHARS = 40


class Parameters(dict[str, Any]):
    """An admitted schema, with what is worked out of it once, at the first use."""

    @cached_property
    def check(self) -> Check | None:
        """The compiled check; None where only the rule decides."""
        return compiled_check(self)

    @cached_property
    def rule(self) -> Rule:
        """What the explaining walk follows."""
        return rule_of(self)


def ready(parameters: dict[str, Any]) -> Parameters:
    """The schema as `Parameters`; the relay's own tools declare theirs as a plain dict."""
    return parameters if type(parameters) is Parameters else Parameters(parameters)


def check_of(parameters: dict[str, Any]) -> Check | None:
    """The schema's compiled check, if it has one. Raises: Refusal `invalid-tool-parameters`."""
    return ready(parameters).check


def admit_parameters(schema: object, limits: Limits) -> Parameters:
    """Copy an admitted schema as {type, properties, required?, additionalProperties?}.

    `required` stays only when it names something, additionalProperties only when it is false.
    Raises: Refusal `invalid-tool-parameters`.
    """
    if not isinstance(schema, dict) or schema.get("type") != "object":
        _no("the parameters must be an object schema, with type object")
    _only(schema, _OBJECT_KEYWORDS, "the parameters")
    copy = _Reader(limits).object_schema(schema, "the parameters", depth=0)
    normal = Parameters(type="object", properties=copy.get("properties", {}))
    if copy.get("required"):
        normal["required"] = copy["required"]
    if copy.get("additionalProperties") is False:
        normal["additionalProperties"] = False
    return normal


class _Reader:
    """Copies one parameter schema and counts its property schemas."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._nodes = 0

    def object_schema(self, schema: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
        """`depth` is the object's own: 0 for the parameters."""
        copy = dict(schema)
        if "additionalProperties" in schema and type(schema["additionalProperties"]) is not bool:
            _no(f"additionalProperties of {where} must be true or false")
        if "properties" in schema:
            copy["properties"] = self._properties(schema["properties"], where, depth + 1)
        if "required" in schema:
            copy["required"] = _required(schema, where)
        return copy

    def _properties(self, properties: object, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(properties, dict) or _FORBIDDEN in properties:
            _no(f"properties of {where} must be an object without {_FORBIDDEN}")
        if not set(map(type, properties)) <= {str}:
            _no(f"properties of {where} must have names")
        return {
            name: self._property(schema, f"property {_shown(name)}", depth)
            for name, schema in properties.items()
        }

    def _property(self, schema: object, where: str, depth: int) -> dict[str, Any]:
        self._nodes += 1
        if depth > self._limits.schema_depth_max or self._nodes > self._limits.schema_nodes_max:
            _no(
                f"the parameters are over {self._limits.schema_depth_max} levels"
                f" or {self._limits.schema_nodes_max} properties"
            )
        if not isinstance(schema, dict):
            _no(f"{where} must be a schema object")
        kind = _type_of(schema, frozenset(_KEYWORDS), where)
        _only(schema, _KEYWORDS[kind], where)
        self._check_description(schema, where)
        if kind == "object":
            return self.object_schema(schema, where, depth)
        if kind == "array":
            return self._array(schema, where)
        return _scalar(schema, kind, where)

    def _array(self, schema: dict[str, Any], where: str) -> dict[str, Any]:
        if "items" not in schema:
            return dict(schema)
        items, inner = schema["items"], f"items of {where}"
        if not isinstance(items, dict):
            _no(f"{inner} must be a schema object")
        kind = _type_of(items, _ITEM_TYPES, inner)
        _only(items, _ITEM_KEYWORDS, inner)
        self._check_description(items, inner)
        return {**schema, "items": _scalar(items, kind, inner)}

    def _check_description(self, schema: dict[str, Any], where: str) -> None:
        description = schema.get("description", "")
        most = self._limits.tool_description_max_units
        if not isinstance(description, str) or utf16_units(description) > most:
            _no(f"the description of {where} must be a text of at most {most} UTF-16 units")


def _required(schema: dict[str, Any], where: str) -> list[str]:
    names = schema["required"]
    if (
        not isinstance(names, list)
        or not set(map(type, names)) <= {str}
        or "" in names
        or _FORBIDDEN in names
    ):
        _no(f"required of {where} must be a list of names, without {_FORBIDDEN}")
    if schema.get("additionalProperties") is False:
        undeclared = set(names).difference(schema.get("properties", ()))
        if undeclared:
            _no(f"{where} requires {_shown(min(undeclared))} and forbids it")
    return list(names)


def _scalar(schema: dict[str, Any], kind: str, where: str) -> dict[str, Any]:
    """A string, number, integer or boolean schema, with its bounds and members as doubles."""
    copy = dict(schema)
    low, high = ("minLength", "maxLength") if kind == "string" else ("minimum", "maximum")
    for bound in (low, high):
        if bound in schema:
            copy[bound] = _bound(schema[bound], kind, f"{bound} of {where}")
    if low in copy and high in copy and copy[low] > copy[high]:
        _no(f"{low} of {where} is over its {high}")
    if "enum" in schema:
        copy["enum"] = _members(schema["enum"], kind, where)
        if low in copy or high in copy:
            least, most = copy.get(low, -inf), copy.get(high, inf)
            measures = map(len, copy["enum"]) if kind == "string" else copy["enum"]
            if not any(least <= measure <= most for measure in measures):
                _no(f"no value in enum of {where} is within its bounds")
    return copy


def _bound(value: object, kind: str, what: str) -> int | float:
    bound = _finite(value, what)
    if kind != "number" and not float(bound).is_integer():
        _no(f"{what} must be a whole number")
    if kind == "string" and bound < 0:
        _no(f"{what} must not be negative")
    return bound


def _members(members: object, kind: str, where: str) -> list[Any]:
    what = f"enum of {where}"
    if not isinstance(members, list) or not members:
        _no(f"{what} must be a list of at least one value")
    types = set(map(type, members))
    if not types <= _MEMBER_TYPES[kind]:
        _no(f"{what} must hold only values of type {kind}")
    return list(members) if types <= {str, bool} else _numbers(members, types, kind, what)


def _numbers(members: list[Any], types: set[type], kind: str, what: str) -> list[Any]:
    """The members as doubles; there may be thousands, so the checks run in C."""
    fractions = [member for member in members if type(member) is float] if float in types else []
    if not all(map(isfinite, fractions)):
        _no(f"{what} must hold only finite numbers")
    if kind == "integer" and not all(map(float.is_integer, fractions)):
        _no(f"{what} must hold only whole numbers")
    if min(members) >= EXACT_MIN and max(members) <= EXACT_MAX:
        return list(members)
    return [_finite(member, what) for member in members]


def _finite(value: object, what: str) -> int | float:
    if type(value) is not int and type(value) is not float:
        _no(f"{what} must be a number")
    try:
        return as_double(value)
    except OverflowError:
        _no(f"{what} must be a finite number")


def _type_of(schema: dict[str, Any], allowed: frozenset[str], where: str) -> str:
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in allowed:
        _no(f"the type of {where} must be one of {', '.join(sorted(allowed))}")
    return kind


def _only(schema: dict[str, Any], allowed: frozenset[str], where: str) -> None:
    foreign = [key for key in schema if key not in allowed]
    if foreign:
        _no(f"{_shown(str(foreign[0]))} is not supported in {where}")


def _shown(name: str) -> str:
    """A name from outside, cut and escaped for a sentence."""
    return json.dumps(name[:_SHOWN_CHARS])


def _no(why: str) -> NoReturn:
    raise Refusal(RefusalCode.INVALID_TOOL_PARAMETERS, why)
