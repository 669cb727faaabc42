"""How the text of a variable becomes a value.

Each kind takes the text and returns the value. Raises: ValueError with the end of a sentence
that begins with the setting's name ("must be 0 or 1"); it never repeats what may be a secret.
"""

import re
from collections.abc import Callable

from relay.providers.secret import Secret

TOKEN_PATTERN = re.compile(r"vbx_[0-9a-f]{48}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_SHOWN_MAX_CHARS = 20


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number in these bounds, written in ASCII digits."""

    def read(text: str) -> int:
        plain = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
        if not plain or not least <= int(text) <= most:
            raise ValueError(f"must be a number from {least} to {most}, not {_shown(text)}")
        return int(text)

    return read


def one_of(*known: str) -> Callable[[str], str]:
    """One of these words."""

    def read(text: str) -> str:
        if text not in known:
            words = f"{', '.join(known[:-1])} or {known[-1]}"
            raise ValueError(f"must be {words}, not {_shown(text)}")
        return text

    return read


def switch(text: str) -> bool:
    """1 is on, 0 is off."""
    return one_of("0", "1")(text) == "1"


def token(text: str) -> str:
    """The token of a relay."""
    if not TOKEN_PATTERN.fullmatch(text):
        raise ValueError("must be vbx_ and 48 hexadecimal digits")
    return text


def language(text: str) -> str:
    """The code of a language, in small letters."""
    if not _LANGUAGE.fullmatch(text):
        raise ValueError(f"must be the code of a language, such as en or de, not {_shown(text)}")
    return text


def key(text: str) -> Secret:
    """The key of a provider, which shows itself to nobody."""
    bare = text.strip()
    if not bare.isascii() or not bare.isprintable() or " " in bare:
        raise ValueError("holds characters that no key has")
    return Secret(bare)


def _shown(text: str) -> str:
    return repr(text[:_SHOWN_MAX_CHARS])
