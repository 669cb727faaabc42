"""The compiled check of a parameter schema: yes or no, fast, by generated code.

fastjsonschema writes Python source from a schema. Only small schemas of the admitted subset
whose names and members are plain text get that far; for all others there is no compiled
check and the walk of `relay.tools.explain` decides alone. This is the only module that knows
fastjsonschema.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

import fastjsonschema
import orjson

from relay.protocol.refusals import Refusal, RefusalCode

# Returns when the arguments fit, else raises Unfit
Check = Callable[[dict[str, Any]], object]
Unfit: type[Exception] = fastjsonschema.JsonSchemaValueException

# What a generated check may cost, in property schemas and enum members: some ms to compile
_WEIGHT_MAX = 16
_CACHED_MAX = 1_024
_CANONICAL_MAX_BYTES = 8_192
# Text that is the same in source as in data: no quote, brace, backslash, control or surrogate
_PLAIN = re.compile(r"[\w .,:;/!?&+()-]{0,64}")
_COPIED = ("type", "maxLength", "minLength", "maximum", "minimum", "enum", "additionalProperties")
_NOT_NULL = {"not": {"type": "null"}}


def compiled_check(parameters: dict[str, Any]) -> Check | None:
    """The check of an admitted schema, from the cache where it has been; None: too big for one.

    Raises: Refusal `invalid-tool-parameters` when the schema can't be compiled.
    """
    canonical = orjson.dumps(parameters, option=orjson.OPT_SORT_KEYS)
    return _compiled(canonical) if len(canonical) <= _CANONICAL_MAX_BYTES else None


@lru_cache(maxsize=_CACHED_MAX)
def _compiled(canonical: bytes) -> Check | None:
    parameters = orjson.loads(canonical)
    if _weight(parameters) > _WEIGHT_MAX or not all(map(_PLAIN.fullmatch, _texts(parameters))):
        return None
    derived = _without_nulls(parameters)
    required = derived.pop("required")  # the generated code is slow to look for these
    try:
        check: Check = fastjsonschema.compile(
            derived,
            handlers=dict.fromkeys(("http", "https", "ftp", "file", ""), _fetch_nothing),
            use_default=False,
            use_formats=False,
            detailed_exceptions=False,
        )
    except Exception as error:
        # The generator raises whatever its Python does; no schema may break the relay
        raise Refusal(
            RefusalCode.INVALID_TOOL_PARAMETERS, "the parameter schema can't be compiled"
        ) from error
    return _requiring(required, check) if required else check


def _requiring(names: list[str], check: Check) -> Check:
    def check_all(args: dict[str, Any]) -> object:
        for name in names:
            if name not in args:
                raise Unfit(name)
        return check(args)

    return check_all


def _fetch_nothing(uri: str) -> NoReturn:
    raise LookupError(f"a schema must not refer to {uri}")


def _weight(schema: dict[str, Any]) -> int:
    """Property schemas and enum members, each as one."""
    weight = 1 + len(schema.get("enum", ())) + len(schema.get("required", ()))
    weight += _weight(schema["items"]) if "items" in schema else 0
    return weight + sum(map(_weight, schema.get("properties", {}).values()))


def _texts(schema: dict[str, Any]) -> Iterator[str]:
    """Every text that would stand in generated source."""
    yield from (member for member in schema.get("enum", ()) if isinstance(member, str))
    yield from schema.get("required", ())
    if "items" in schema:
        yield from _texts(schema["items"])
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from _texts(inner)


def _without_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the words of JSON Schema: there null satisfies `required`, here it does not."""
    derived = {key: schema[key] for key in _COPIED if key in schema}
    if "items" in schema:
        derived["items"] = _without_nulls(schema["items"])
    if schema["type"] == "object":
        required = dict.fromkeys(schema.get("required", ()))
        inner = schema.get("properties", {})
        derived["required"] = list(required)
        derived["properties"] = dict.fromkeys(required, _NOT_NULL) | {
            name: _without_nulls(property_schema) for name, property_schema in inner.items()
        }
    return derived
