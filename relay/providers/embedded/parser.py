"""The joint slot parser: one reading of all the words of an utterance for each tool. Pure.

Every word is either part of a value, speaks for the tool, is filler, or stays unexplained and
costs; every slot is used at most once. The cheapest reading wins.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from relay.providers.embedded.english import (
    ALIKE,
    CARRIERS,
    FILLERS,
    NEGATIONS,
    PARTICLES,
    QUESTIONS,
    listed,
    stem,
)
from relay.providers.embedded.lexicon import Slot, Tool
from relay.providers.embedded.numbers import number_at
from relay.providers.embedded.slots import Filling, Heard, fillings
from relay.providers.embedded.sounds import Sounds, distance
from relay.providers.embedded.words import Word

COST_MISSING = 1.5
_COST_FILLER, _COST_CARRIER, _COST_UNKNOWN, _COST_NUMBER = 0.04, 0.15, 1.0, 1.2
_COST_QUESTION, _COST_COPULA, _COST_AGAINST = 2.5, 0.6, 2.0
_COST_COMPOUND, _COMPOUND_COUNTS, _COMPOUND_MIN = 0.2, 0.6, 4
_SLOT_COUNTS, _COST_NO_EVIDENCE = 0.15, 1.0
_COST_WEAK, _COST_SOUNDS_LIKE, _SOUNDS_LIKE_MAX = 0.3, 0.35, 0.2
_EVIDENCE_COUNTS, _EVIDENCE_MOST = 0.25, 4.0
_COPULAS = listed("is are was were am has have had does did")
_POLITE = listed("please can could would will you hey ok okay now so and just then i to")
_SUBJECTS = listed("i we you he she they it")
_COST_VERB, _COST_STATEMENT = 0.5, 0.6
_NEGATE = 1 << 62


class Reading(Struct, frozen=True, kw_only=True):
    """What an utterance means if it is meant for a tool."""

    tool: Tool
    values: dict[str, Any]
    filled: tuple[Slot, ...]
    missing: tuple[Slot, ...]
    cost: float
    """Unexplained words and doubtful values; 0 for a perfect command."""
    evidence: float
    """How much the words speak for this tool."""
    names_it: bool
    """A word of the tool's own name (or one that means the same) was said."""

    @property
    def score(self) -> float:
        """The less the better, over all tools."""
        credit = _EVIDENCE_COUNTS * min(self.evidence, _EVIDENCE_MOST)
        credit += _SLOT_COUNTS * len(self.filled)
        groundless = self.evidence < 0.3 and all(slot.kind == "text" for slot in self.filled)
        return (
            self.cost + COST_MISSING * len(self.missing) - credit + groundless * _COST_NO_EVIDENCE
        )


class _Path(Struct, frozen=True):
    cost: float
    evidence: float
    names_it: bool
    values: tuple[tuple[str, Any], ...]


class Parser:
    """Reads utterances for a fixed set of tools."""

    def __init__(self, tools: Sequence[Tool], rarity: dict[str, float], sounds: Sounds) -> None:
        self._tools = tools
        self._rarity = rarity
        self._sounds = sounds

    def read(self, words: Sequence[Word]) -> list[Reading]:
        """A reading for each tool, the best first; none for no words."""
        if not words:
            return []
        heard = Heard(words, [word.plain for word in words], self._sounds)
        readings = [self.read_for(tool, heard) for tool in self._tools]
        return sorted(readings, key=lambda reading: (reading.score, reading.tool.name))

    def heard(self, words: Sequence[Word]) -> Heard:
        """Words with this parser's ear."""
        return Heard(words, [word.plain for word in words], self._sounds)

    def read_for(self, tool: Tool, heard: Heard) -> Reading:
        """The best reading for one tool: shortest path over positions and slots used."""
        starts: dict[int, list[Filling]] = {}
        for filling in fillings(tool, heard):
            starts.setdefault(filling.start, []).append(filling)
        length = len(heard.words)
        table: list[dict[int, _Path]] = [{} for _ in range(length + 1)]
        table[0][0] = _Path(0.0, 0.0, False, ())
        singles = [self._word(tool, heard, at) for at in range(length)]
        for at in range(length):
            for mask, path in table[at].items():
                _extend(table[at + 1], mask, path, singles[at])
                for filling in starts.get(at, ()):
                    if not mask & filling.mask:
                        _fill(table[filling.end], mask, path, filling, singles)
        best = min(
            (self._reading(tool, mask, path) for mask, path in table[length].items()),
            key=lambda reading: reading.score,
        )
        return best

    def _word(self, tool: Tool, heard: Heard, at: int) -> tuple[float, float, bool, int]:
        """Cost, evidence, whether it names the tool, and a flag, of a word that is no value."""
        word = heard.words[at]
        if word.plain in NEGATIONS:
            return _COST_AGAINST, 0.0, False, 0
        if word.plain == "off" and any(slot.kind == "boolean" for slot in tool.slots):
            return _COST_UNKNOWN, 0.0, False, 0  # a switch was named, so it must be used
        weight = tool.weights.get(word.stem, 0.0)
        if word.stem in tool.subtracts and word.stem not in tool.own:
            return 0.1, tool.weights.get(stem("add"), 0.6), False, _NEGATE
        if word.stem in tool.contrary and word.stem not in tool.own:
            return _COST_AGAINST, 0.0, False, 0
        if weight:
            names_it = word.stem in _named(tool.nouns)
            proof = weight * self._rarity.get(word.stem, 1.0)
            return _COST_WEAK * (1 - weight), proof, names_it, 0
        relative = _relative(tool, word)
        if relative is not None:
            proof = _COMPOUND_COUNTS * tool.own[relative]
            return _COST_COMPOUND, proof, relative in tool.nouns, 0
        return self._stranger(tool, heard, at) + _statement(heard, at), 0.0, False, 0

    def _stranger(self, tool: Tool, heard: Heard, at: int) -> float:
        word = heard.words[at]
        if word.plain in QUESTIONS:
            if tool.asks:
                return _COST_FILLER
            return _COST_COPULA if at and word.plain in _COPULAS else _COST_QUESTION
        if word.plain in FILLERS:
            return _COST_FILLER
        if word.plain in CARRIERS or word.plain in PARTICLES:
            return _COST_CARRIER
        if number_at(heard.plain, at) is not None:
            return _COST_NUMBER
        if len(word.plain) > 3 and self._sounds_like(tool, word):
            return _COST_SOUNDS_LIKE
        return _COST_VERB if _opens(heard, at) else _COST_UNKNOWN

    def _sounds_like(self, tool: Tool, word: Word) -> bool:
        said = self._sounds(word.plain)
        return any(
            len(known) > 3 and distance(said, self._sounds(known)) <= _SOUNDS_LIKE_MAX
            for known in tool.own
        )

    def _reading(self, tool: Tool, mask: int, path: _Path) -> Reading:
        filled = tuple(slot for slot in tool.slots if mask & slot.bit)
        values, cost = dict(path.values), path.cost + _SLOT_COUNTS * len(filled)
        if mask & _NEGATE:
            cost += _negate(tool, values)
        return Reading(
            tool=tool,
            values=values,
            filled=filled,
            missing=tuple(s for s in tool.slots if s.required and not mask & s.bit),
            cost=cost,
            evidence=path.evidence,
            names_it=path.names_it,
        )


def _opens(heard: Heard, at: int) -> bool:
    """Whether a word stands where a command has its verb; any verb may carry a command."""
    return all(word in _POLITE for word in heard.plain[:at]) and at + 1 < len(heard.words)


def _statement(heard: Heard, at: int) -> float:
    """A verb after its subject tells something and asks for nothing."""
    subject = at > 0 and heard.plain[at - 1] in _SUBJECTS
    known = heard.plain[at] in FILLERS or heard.plain[at] in CARRIERS
    return _COST_STATEMENT if subject and not known else 0.0


def _relative(tool: Tool, word: Word) -> str | None:
    """A word of the tool that begins this one, or the other way: score and scoreboard."""
    for known in tool.own:
        short, long = sorted((known, word.stem), key=len)
        if len(short) >= _COMPOUND_MIN and long.startswith(short):
            return known
    return None


def _extend(
    table: dict[int, _Path], mask: int, path: _Path, single: tuple[float, float, bool, int]
) -> None:
    cost, evidence, names_it, flag = single
    step = _Path(path.cost + cost, path.evidence + evidence, path.names_it or names_it, path.values)
    _keep(table, mask | flag, step)


def _fill(
    table: dict[int, _Path],
    mask: int,
    path: _Path,
    filling: Filling,
    singles: Sequence[tuple[float, float, bool, int]],
) -> None:
    inside = singles[filling.start : filling.end] if filling.speaks else ()
    step = _Path(
        path.cost + filling.cost - _SLOT_COUNTS * filling.mask.bit_count(),
        path.evidence + filling.proof + sum(single[1] for single in inside),
        path.names_it or any(single[2] for single in inside),
        path.values + filling.values,
    )
    _keep(table, mask | filling.mask, step)


def _keep(table: dict[int, _Path], mask: int, path: _Path) -> None:
    known = table.get(mask)
    if known is None or _rank(path) < _rank(known):
        table[mask] = path


def _rank(path: _Path) -> float:
    return path.cost - _EVIDENCE_COUNTS * path.evidence


def _negate(tool: Tool, values: dict[str, Any]) -> float:
    """Taking away is adding less than nothing, where the tool's bounds let it."""
    for slot in tool.slots:
        value = values.get(slot.name)
        if slot.kind in {"number", "integer"} and isinstance(value, int | float):
            if slot.minimum is not None and slot.minimum > -value:
                return _COST_AGAINST
            values[slot.name] = -value
            return 0.0
    return 0.0


@lru_cache(maxsize=1_024)
def _named(nouns: frozenset[str]) -> frozenset[str]:
    return nouns.union(*(ALIKE.get(noun, frozenset()) for noun in nouns))
