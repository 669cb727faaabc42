"""The words that the readers of values share: an utterance, and a part of it read as values."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from relay.providers.embedded.sounds import Sounds
from relay.providers.embedded.words import Word

BEGUN = object()
"""The value of a parameter of which only the beginning was understood: "lots of"."""


class Filling(Struct, frozen=True):
    """Words `start:end` read as values; `mask` is the bits of the slots that they fill."""

    start: int
    end: int
    mask: int
    values: tuple[tuple[str, Any], ...]
    cost: float
    speaks: bool = False
    """Its words (units) also speak for the tool."""
    led_by: int = 0
    """How many of its first words only lead to the value, and speak for the tool."""
    proof: float = 0.0
    """How much it speaks for the tool by itself."""


class Heard(Struct, frozen=True):
    """An utterance, as the slots look at it."""

    words: Sequence[Word]
    plain: Sequence[str]
    sounds: Sounds


def whole_values(values: dict[str, Any]) -> dict[str, Any]:
    """The values that were understood to their end."""
    return {name: value for name, value in values.items() if value is not BEGUN}
