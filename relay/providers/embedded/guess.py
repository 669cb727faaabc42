"""A guess at what was said; what the recogniser gives and the parser judges."""

from msgspec import Struct


class Guess(Struct, frozen=True):
    """A text that may have been said; `score` is its mean log probability (0 for typed)."""

    text: str
    score: float = 0.0
    closer: bool = False
    """Heard among a tool's own words alone."""
