"""The copy of a call's arguments that runs: plain JSON data within the bounds, or a refusal.

It knows no schema. A quick pass copies; only when it fails does a second pass, in the order
in which a browser would walk, find out which rule said no.
"""

from typing import Any

import orjson

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.json_text import EXACT_MAX, EXACT_MIN, SPELLINGS, as_double, compact_size, in_order

FORBIDDEN_NAME = "__proto__"


class _Unfit(Exception):  # noqa: N818 - never leaves this module
    """The quick pass met something that it does not copy."""


def take_snapshot(args: dict[str, Any], *, limits: Limits) -> dict[str, Any]:
    """Copy the arguments; whole numbers become ints, all others doubles.

    Raises: Refusal `invalid-argument-bounds`, `invalid-argument`, `invalid-tool-arguments`.
    """
    try:
        copy: dict[str, Any] = _copy(
            args, limits.arguments_depth_max, [limits.arguments_nodes_max - 1]
        )
        size = len(orjson.dumps(copy))
    except (_Unfit, OverflowError, TypeError):
        _Fault(limits).find(args, 0)
        raise _out_of_bounds(limits) from None  # deeper than the relay could write
    most = limits.arguments_max_bytes
    if size * SPELLINGS > most and compact_size(copy) > most:
        raise Refusal(RefusalCode.INVALID_TOOL_ARGUMENTS, f"the arguments are over {most} bytes")
    return copy


def _copy(value: Any, depth_left: int, nodes_left: list[int]) -> Any:
    """Copy a value; every call waits for this, so it is a quick shallow copy and then the rest."""
    kind = type(value)
    if kind is dict:
        _enter(value, depth_left, nodes_left)
        if FORBIDDEN_NAME in value:
            raise _Unfit
        copy = value.copy()
        for key, item in value.items():
            of = type(item)
            if of is not str and not (of is int and EXACT_MIN <= item <= EXACT_MAX):
                copy[key] = _copy(item, depth_left - 1, nodes_left)
        return copy
    if kind is list:
        _enter(value, depth_left, nodes_left)
        return [
            item if type(item) is str else _copy(item, depth_left - 1, nodes_left) for item in value
        ]
    if kind is float or kind is int:
        return as_double(value)
    if kind is str or kind is bool or value is None:
        return value
    raise _Unfit


def _enter(container: dict[str, Any] | list[Any], depth_left: int, nodes_left: list[int]) -> None:
    nodes_left[0] = left = nodes_left[0] - len(container)
    if left < 0 or (depth_left == 0 and container):
        raise _Unfit


class _Fault:
    """Walks arguments that were not copied, to the first value that is at fault."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._nodes = 0

    def find(self, value: object, depth: int) -> None:
        """Raises: Refusal `invalid-argument-bounds` or `invalid-argument`."""
        self._nodes += 1
        if (
            self._nodes > self._limits.arguments_nodes_max
            or depth > self._limits.arguments_depth_max
        ):
            raise _out_of_bounds(self._limits)
        if type(value) is dict:
            if not set(map(type, value)) <= {str}:
                raise _not_plain("a name is not a text")
            for key in in_order(value):
                if key == FORBIDDEN_NAME:
                    raise _not_plain("an argument must not be named __proto__")
                _check_text(key)
                self.find(value[key], depth + 1)
        elif type(value) is list:
            for item in value:
                self.find(item, depth + 1)
        else:
            _leaf(value)


def _leaf(value: object) -> None:
    if type(value) is str:
        _check_text(value)
    elif type(value) is int or type(value) is float:
        try:
            as_double(value)
        except OverflowError:
            raise _not_plain("a number is not finite") from None
    elif value is not None and type(value) is not bool:
        raise _not_plain("a value is not plain JSON data")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _not_plain("a text holds half of a surrogate pair") from None


def _out_of_bounds(limits: Limits) -> Refusal:
    return Refusal(
        RefusalCode.INVALID_ARGUMENT_BOUNDS,
        f"the arguments are over {limits.arguments_nodes_max} values"
        f" or {limits.arguments_depth_max} levels",
    )


def _not_plain(why: str) -> Refusal:
    return Refusal(RefusalCode.INVALID_ARGUMENT, why)
