"""What is known of an utterance when it begins."""

import secrets

from msgspec import Struct


class Began(Struct):
    """An utterance, and the turn that will answer it."""

    turn_id: str
    answered: int
    """How many answers had been given before it."""
    captioned: bool = False
    """Some of its words were shown while they were said."""


def begin(answered: int) -> Began:
    """One that begins now."""
    return Began(f"turn_{secrets.token_hex(8)}", answered)
