"""What `relay/protocol/` declares, read from its structs; writes nothing."""

import inspect
import re
from collections.abc import Iterator
from types import UnionType
from typing import NamedTuple, get_args

import msgspec
from msgspec import inspect as shapes

from relay.protocol import limits, messages
from relay.protocol.messages import frames, live, message, miniapps, workspace

SOCKETS = (message, live, miniapps, workspace, frames)


class Said(NamedTuple):
    """One field as it stands on the wire."""

    name: str
    shape: shapes.Type
    optional: bool
    remark: str
    """Its meaning, bounds and default, as far as its name and type do not say them."""


class Bound(NamedTuple):
    """One limit."""

    name: str
    value: int
    meaning: str
    group: str


def unions() -> dict[str, list[type[messages.Message]]]:
    """Return each `...Message` alias with its members, socket by socket, as declared."""
    found: dict[str, list[type[messages.Message]]] = {}
    for module in SOCKETS:
        for name, value in vars(module).items():
            if name != "Message" and name.endswith("Message"):
                found[name] = list(get_args(value)) if isinstance(value, UnionType) else [value]
    return found


def structs() -> list[type[msgspec.Struct]]:
    """Return every struct that travels, once, in the order of its declaration."""
    return [
        value
        for module in SOCKETS
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == module.__name__
        and value is not messages.Message
    ]


def tag(struct: type[msgspec.Struct]) -> str | None:
    """Return the wire's `type` of a message; None for a part of one."""
    found = struct.__struct_config__.tag
    return None if found is None else str(found)


def sentence(struct: type) -> str:
    """Return the docstring as one line."""
    return " ".join((inspect.getdoc(struct) or "").split())


def said(struct: type[msgspec.Struct]) -> list[Said]:
    """Return the fields of a struct under their wire names."""
    return [_said(field) for field in _fields(struct)]


def bounds() -> Iterator[Bound]:
    """Yield every limit. A limit without a sentence is an error."""
    groups = sections(limits.Limits)
    for field in _fields(limits.Limits):
        value = getattr(limits.LIMITS, field.name)
        yield Bound(field.name, value, _unwrap(field.type)[1], groups[field.name])


def sections(declared_in: type) -> dict[str, str]:
    """Return member name → the comment line of the class body that heads its group."""
    heading, found = "", {}
    for line in inspect.getsource(declared_in).splitlines():
        if comment := re.fullmatch(r" {4}# (.+)", line):
            heading = comment[1]
        elif member := re.match(r" {4}(\w+)(?::| =)", line):
            found[member[1]] = heading
    return found


def _fields(struct: type[msgspec.Struct]) -> tuple[shapes.Field, ...]:
    shape = shapes.type_info(struct)
    assert isinstance(shape, shapes.StructType)
    return shape.fields


def _unwrap(shape: shapes.Type) -> tuple[shapes.Type, str]:
    """Return the type below its description, and the description."""
    if isinstance(shape, shapes.Metadata):
        return shape.type, (shape.extra_json_schema or {}).get("description", "")
    return shape, ""


def _said(field: shapes.Field) -> Said:
    shape, meaning = _unwrap(field.type)
    parts = [meaning] if meaning else list(_limits_of(shape))
    if field.default not in (shapes.NODEFAULT, msgspec.UNSET):
        parts.append(f"default {msgspec.json.encode(field.default).decode()}")
    return Said(field.encode_name, shape, not field.required, "; ".join(parts))


def _limits_of(shape: shapes.Type) -> Iterator[str]:
    words = {
        "min_length": "at least {} long",
        "max_length": "at most {} long",
        "pattern": "matches {}",
        "ge": "{} or more",
        "le": "{} or less",
    }
    for name, text in words.items():
        if (bound := getattr(shape, name, None)) is not None:
            yield text.format(bound)
