"""Text cut into words. Pure."""

import re

from msgspec import Struct

from relay.providers.embedded.english import stem

_PIECES = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[%$+?!.;:]|(?<!\w)-(?=\d)")
# What is written before a number and spoken after it
_MONEY = re.compile(r"\$\s?(\d[\d.,]*\d|\d)")
_NUMBER_WITH_COMMAS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_STOPS = frozenset("?!.;:")
_SIGNS = {"%": "percent", "$": "dollars", "+": "plus", "-": "minus"}


class Word(Struct, frozen=True):
    """A word of an utterance: as it was written, and its plain lower-case form."""

    raw: str
    plain: str
    stem: str
    ends: bool = False
    """A sentence ends after it."""


def words_of(text: str) -> list[Word]:
    """The words of a text; signs become words, punctuation only marks ends."""
    found: list[Word] = []
    for piece in _PIECES.findall(_MONEY.sub(r"\1$ ", text)):
        if piece in _STOPS:
            if found:
                last = found[-1]
                found[-1] = Word(last.raw, last.plain, last.stem, ends=True)
            continue
        raw = _SIGNS.get(piece, piece)
        plain = re.sub(r"['\u2019]", "", raw.lower())
        if _NUMBER_WITH_COMMAS.fullmatch(plain):
            plain = plain.replace(",", "")
        found.append(Word(raw, plain, stem(plain)))
    return found


def spoken(name: str) -> list[str]:
    """An identifier as the words in which it is spoken: `livingRoom_2` → living, room, 2."""
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word.plain for word in words_of(re.sub(r"[_\-/.]+", " ", parts))]
