"""Fields of foreign JSON, read as what they should be; what is missing or other is empty."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]


def text(where: Json, key: str) -> str:
    """A string."""
    value = where.get(key)
    return value if isinstance(value, str) else ""


def mapping(where: Json, key: str) -> Json:
    """An object."""
    value = where.get(key)
    return value if isinstance(value, dict) else {}


def count(where: Json, key: str) -> int:
    """A whole number."""
    value = where.get(key)
    return value if isinstance(value, int) else 0
