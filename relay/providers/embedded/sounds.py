"""How alike two pieces of text sound. Pure; the engine supplies the real phonemes."""

import re
from collections.abc import Callable
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

Sounds = Callable[[str], str]
"""From words to a string with about one letter per sound."""

# Letters of a class are easily taken for each other; one differing inside a class costs half.
_CLASSES = ("aeiouAEIOU@3V0", "bp", "dt", "gk", "vfTDh", "zsSZ", "mnN", "lrw")
_FOLD = {letter: group[0] for group in _CLASSES for letter in group}
_SPELLINGS = (("ph", "f"), ("ck", "k"), ("gh", ""), ("qu", "kw"), ("c", "k"), ("x", "ks"))


def spelled(text: str) -> str:
    """A stand-in for phonemes, from the letters alone."""
    letters = re.sub(r"[^a-z0-9]", "", text.lower())
    for written, sound in _SPELLINGS:
        letters = letters.replace(written, sound)
    return letters


@lru_cache(maxsize=65_536)
def distance(one: str, other: str) -> float:
    """From 0 (the same sounds) to 1 (nothing alike)."""
    if one == other:
        return 0.0
    longest = max(len(one), len(other))
    if longest == 0 or abs(len(one) - len(other)) / longest > 0.5:
        return 1.0
    fine = Levenshtein.distance(one, other)
    coarse = Levenshtein.distance(_folded(one), _folded(other))
    return float((fine + coarse) / (2 * longest))


@lru_cache(maxsize=16_384)
def _folded(sounds: str) -> str:
    return "".join(_FOLD.get(letter, letter) for letter in sounds)
