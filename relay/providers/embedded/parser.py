"""The joint slot parser: one reading of all the words of an utterance for each tool. Pure.

Every word is either part of a value, speaks for the tool, is filler, or stays unexplained and
costs; every slot is used at most once. The cheapest reading wins.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from relay.providers.embedded.filling import Filling, Heard
from relay.providers.embedded.lexicon import Slot, Tool
from relay.providers.embedded.singles import COST_AGAINST, Single, single
from relay.providers.embedded.slots import fillings
from relay.providers.embedded.sounds import Sounds
from relay.providers.embedded.words import Word

WORDS_MAX = 80
COST_MISSING = 1.5
_EVIDENCE_COUNTS, _EVIDENCE_MOST = 0.25, 4.0
_SLOT_COUNTS, _COST_NO_EVIDENCE = 0.15, 1.0
_GROUND, _COST_UNNAMED_TEXT = 0.3, 0.4
_MANY_TOOLS = 24
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
        wanting = COST_MISSING * len(self.missing)
        if all(slot.kind == "text" for slot in self.filled):
            wanting += _COST_NO_EVIDENCE * (self.evidence < _GROUND)
            wanting += _COST_UNNAMED_TEXT * (bool(self.filled) and not self.names_it)
        return self.cost + wanting - credit


class _Path(Struct, frozen=True):
    """A way to read the first words: what it cost, what it proved, what it filled."""

    cost: float
    evidence: float
    names_it: bool
    values: tuple[tuple[str, Any], ...]

    @property
    def rank(self) -> float:
        """The less the better, over paths that filled the same slots."""
        return self.cost - _EVIDENCE_COUNTS * self.evidence


class Parser:
    """Reads utterances for a fixed set of tools."""

    def __init__(self, tools: Sequence[Tool], rarity: dict[str, float], sounds: Sounds) -> None:
        self._tools = tools
        self._rarity = rarity
        self._sounds = sounds

    def read(self, words: Sequence[Word]) -> list[Reading]:
        """A reading for each tool, the best first; none for no words, or too many."""
        if not 0 < len(words) <= WORDS_MAX:
            return []
        tools = self._tools
        if len(tools) > _MANY_TOOLS:
            said = {word.stem for word in words}
            tools = [tool for tool in tools if not said.isdisjoint(tool.touches)]
        readings = [self.read_for(tool, words) for tool in tools]
        return sorted(readings, key=lambda reading: (reading.score, reading.tool.name))

    def read_for(self, tool: Tool, words: Sequence[Word]) -> Reading:
        """The best reading for one tool: shortest path over positions and slots used."""
        heard = Heard(words, [word.plain for word in words], self._sounds)
        starts: dict[int, list[Filling]] = {}
        for filling in fillings(tool, heard):
            starts.setdefault(filling.start, []).append(filling)
        length = len(words)
        singles = [single(tool, heard, at, self._rarity) for at in range(length)]
        table: list[dict[int, _Path]] = [{} for _ in range(length + 1)]
        table[0][0] = _Path(0.0, 0.0, False, ())
        for at in range(length):
            for mask, path in table[at].items():
                _pass_over(table[at + 1], mask, path, singles[at])
                for filling in starts.get(at, ()):
                    if not mask & filling.mask:
                        _fill(table[filling.end], mask, path, filling, singles)
        ends = table[length].items()
        return min((_reading(tool, mask, path) for mask, path in ends), key=lambda one: one.score)


def _reading(tool: Tool, mask: int, path: _Path) -> Reading:
    filled = tuple(slot for slot in tool.slots if mask & slot.bit)
    values, cost = dict(path.values), path.cost + _SLOT_COUNTS * len(filled)
    if mask & _NEGATE:
        cost += _negate(tool, values)
    return Reading(
        tool=tool,
        values=values,
        filled=filled,
        missing=tuple(slot for slot in tool.slots if slot.required and not mask & slot.bit),
        cost=cost,
        evidence=path.evidence,
        names_it=path.names_it,
    )


def _pass_over(table: dict[int, _Path], mask: int, path: _Path, word: Single) -> None:
    step = _Path(
        path.cost + word.cost,
        path.evidence + word.proof,
        path.names_it or word.names_it,
        path.values,
    )
    _keep(table, mask | _NEGATE * word.negates, step)


def _fill(
    table: dict[int, _Path],
    mask: int,
    path: _Path,
    filling: Filling,
    singles: Sequence[Single],
) -> None:
    speaking_to = filling.end if filling.speaks else filling.start + filling.led_by
    inside = singles[filling.start : speaking_to]
    step = _Path(
        path.cost + filling.cost - _SLOT_COUNTS * filling.mask.bit_count(),
        path.evidence + filling.proof + sum(word.proof for word in inside),
        path.names_it or any(word.names_it for word in inside),
        path.values + filling.values,
    )
    _keep(table, mask | filling.mask, step)


def _keep(table: dict[int, _Path], mask: int, path: _Path) -> None:
    known = table.get(mask)
    if known is None or path.rank < known.rank:
        table[mask] = path


def _negate(tool: Tool, values: dict[str, Any]) -> float:
    """Taking away is adding less than nothing, where the tool's bounds let it."""
    for slot in tool.slots:
        value = values.get(slot.name)
        if slot.kind in {"number", "integer"} and isinstance(value, int | float):
            if slot.minimum is not None and slot.minimum > -value:
                return COST_AGAINST
            values[slot.name] = -value
            return 0.0
    return 0.0
