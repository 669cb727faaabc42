"""A provider's key, and texts of a provider that must not carry one.

A `Secret` shows itself to nobody by accident: neither its repr nor its str is the key.
"""

import re

_TEXT_MAX_CHARS = 200
# Keys in the spellings of the providers, whoever's they are; addresses may carry one
_KEY_LIKE = re.compile(
    r"(?i)\b(?:bearer\s+\S+|(?:sk|ek|rk)[-_][\w.-]{6,}|auth_tokens/\S+|AIza[\w-]{8,}"
    r"|(?:api[-_ ]?key|access_token|key|token)\s*[=:]\s*\S+|(?:wss?|https?)://\S+)"
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


class Secret:
    """Holds a key; `reveal` is for the one place that puts it on the wire."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


def scrub(text: str, secret: Secret | None = None) -> str:
    """Return a provider's sentence fit for people: no key, no address, no control characters."""
    if secret is not None and secret.reveal():
        text = text.replace(secret.reveal(), "…")
    shown = _KEY_LIKE.sub("…", _UNSEEN.sub(" ", text)).strip()
    return shown if len(shown) <= _TEXT_MAX_CHARS else shown[: _TEXT_MAX_CHARS - 1] + "…"
