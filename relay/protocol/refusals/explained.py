"""How a code is explained to the person who meets it."""

from typing import NamedTuple


class Explained(NamedTuple):
    """What a code means for the person who meets it; `status` is its HTTP status."""

    cause: str
    remedy: str
    status: int = 400
