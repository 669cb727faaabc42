"""Expands the four shorthand forms of the conformance vectors. Use: from expand import expand

{"$repeat": {"text": t, "times": n}}            -> the string t written n times
{"$concat": [part, ...]}                        -> the expanded parts (strings) joined
{"$nest": {"wrap": w, "core": c, "times": n}}   -> c, wrapped n times in w; "$" in w is the hole
{"$fill": {"value": v, "times": n, "keys": k}}  -> object k0..k(n-1), each v; without "keys" a list

A form is an object with exactly that one key. Everything else is copied as it is.
"""

from collections.abc import Callable
from typing import Any


def expand(node: Any) -> Any:
    """Expand a vector as a whole, from the inside out."""
    if isinstance(node, list):
        return [expand(item) for item in node]
    if not isinstance(node, dict):
        return node
    if len(node) == 1:
        form, spec = next(iter(node.items()))
        if form in _FORMS:
            return _FORMS[form](spec)
    return {key: expand(item) for key, item in node.items()}


def _repeat(spec: dict[str, Any]) -> str:
    return str(spec["text"]) * int(spec["times"])


def _concat(parts: list[Any]) -> str:
    return "".join(expand(part) for part in parts)


def _nest(spec: dict[str, Any]) -> Any:
    value, wrap = expand(spec["core"]), expand(spec["wrap"])
    for _ in range(spec["times"]):
        value = _plug(wrap, value)
    return value


def _fill(spec: dict[str, Any]) -> Any:
    value, times = expand(spec["value"]), spec["times"]
    if "keys" in spec:
        return {spec["keys"] + str(index): value for index in range(times)}
    return [value] * times


def _plug(wrap: Any, value: Any) -> Any:
    if wrap == "$":
        return value
    if isinstance(wrap, list):
        return [_plug(item, value) for item in wrap]
    if isinstance(wrap, dict):
        return {key: _plug(item, value) for key, item in wrap.items()}
    return wrap


_FORMS: dict[str, Callable[[Any], Any]] = {
    "$repeat": _repeat,
    "$concat": _concat,
    "$nest": _nest,
    "$fill": _fill,
}
