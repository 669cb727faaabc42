"""The conformance vectors of the tool contract, and how their answers are compared."""

import json
import os
from pathlib import Path
from typing import Any

from tests.vectors.expand import expand

FOLDER = Path(os.environ.get("TOOL_VECTORS") or Path(__file__).parents[1] / "vectors")


def read_vectors(name: str) -> list[dict[str, Any]]:
    """All vectors of one file, expanded; they hold lone surrogates on purpose."""
    text = (FOLDER / f"{name}.json").read_text("ascii")
    return [expand(vector) for vector in json.loads(text)["vectors"]]


def same(one: Any, other: Any) -> bool:
    """Equal as JSON data: numbers by value once they are doubles, never equal to booleans."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if _is_number(one) and _is_number(other):
        return float(one) == float(other)
    return type(one) is type(other) and one == other


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
