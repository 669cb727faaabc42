"""Which words of an utterance may fill which parameters, and how well. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from relay.providers.embedded.english import FILLERS, listed, stem
from relay.providers.embedded.lexicon import OTHER_UNITS, TIME_UNITS, Slot, Tool
from relay.providers.embedded.numbers import Number, doubtful_at, is_number_word, number_at
from relay.providers.embedded.sounds import Sounds, distance
from relay.providers.embedded.words import Word

_ENUM_DISTANCE_MAX = 0.36
_ENUM_COST = 2.2
_ENUM_PROOF = 0.5
_SWITCHES = listed("on off yes no with without true false")
_WEAK_SWITCHES = listed("with yes on no")
_ENUM_DISTANCE_NAMED_MAX, _ENUM_COST_NAMED = 0.5, 1.6
_COST_BARE, _COST_WRONG_UNIT, _COST_OUTSIDE, _COST_WHOLE = 0.15, 1.0, 0.3, 0.8
_COST_TEXT, _COST_TEXT_WORD, _COST_TEXT_UNASKED = 0.1, 0.04, 1.2
_COST_TEXT_NUMBER = 0.3
_ARTICLE_DROPPED_WORDS = 3
_ARTICLES = frozenset({"the", "a", "an", "my"})
_BEFORE_NEXT_SLOT = listed("to on in at with by from for as")


class Filling(Struct, frozen=True):
    """Words `start:end` read as values; `mask` is the bits of the slots that they fill."""

    start: int
    end: int
    mask: int
    values: tuple[tuple[str, Any], ...]
    cost: float
    speaks: bool = False
    """Its words (units) also speak for the tool."""
    proof: float = 0.0
    """How much it speaks for the tool by itself."""


class Heard(Struct, frozen=True):
    """An utterance, as the slots look at it."""

    words: Sequence[Word]
    plain: Sequence[str]
    sounds: Sounds


def fillings(tool: Tool, heard: Heard) -> list[Filling]:
    """Every way to read some of the words as values of the tool."""
    found: list[Filling] = []
    for slot in tool.slots:
        match slot.kind:
            case "enum":
                found += _enum(slot, heard)
            case "boolean":
                found += _boolean(slot, heard)
            case "text":
                found += _text(slot, tool, heard)
            case _:
                pass
    numeric = [slot for slot in tool.slots if slot.kind in {"number", "integer"}]
    if numeric:
        found += _numbers(numeric, heard)
    return found


def _enum(slot: Slot, heard: Heard) -> Iterator[Filling]:
    for value, member in slot.members:
        if isinstance(value, bool) or not member:
            continue
        if isinstance(value, int | float):
            yield from _numeric_member(slot, value, heard)
            continue
        wanted = heard.sounds(" ".join(member))
        for length in {max(1, len(member) - 1), len(member), len(member) + 1}:
            for start in range(len(heard.plain) - length + 1):
                window = heard.plain[start : start + length]
                most = _ENUM_DISTANCE_NAMED_MAX if _named(slot, heard, start, length) else None
                cost = _likeness(member, wanted, window, heard.sounds, most)
                if cost is not None:
                    values = ((slot.name, value),)
                    proof = _ENUM_PROOF * length * max(0.0, 1 - cost)
                    yield Filling(start, start + length, slot.bit, values, cost, proof=proof)


def _numeric_member(slot: Slot, value: float, heard: Heard) -> Iterator[Filling]:
    for start in range(len(heard.plain)):
        number = number_at(heard.plain, start)
        if number is not None and number.value == value:
            yield Filling(start, number.end, slot.bit, ((slot.name, value),), 0.1)


def _named(slot: Slot, heard: Heard, start: int, length: int) -> bool:
    """Whether the parameter's own name stands beside some words: "the phone team"."""
    beside = (start - 1, start + length)
    return any(0 <= at < len(heard.words) and heard.words[at].stem in slot.heads for at in beside)


def _likeness(
    member: Sequence[str],
    wanted: str,
    window: Sequence[str],
    sounds: Sounds,
    named_max: float | None,
) -> float | None:
    if list(member) == list(window):
        return 0.0
    if [stem(word) for word in member] == [stem(word) for word in window]:
        return 0.05
    if len(window) == 1 and (window[0] in FILLERS or len(window[0]) < 3):
        return None
    if window[0] in FILLERS and window[0] != member[0]:
        return None
    if window[-1] in FILLERS and window[-1] != member[-1]:
        return None
    far = distance(wanted, sounds(" ".join(window)))
    if named_max is not None:
        return _ENUM_COST_NAMED * far + 0.05 if far <= named_max else None
    return _ENUM_COST * far + 0.05 if far <= _ENUM_DISTANCE_MAX else None


def _boolean(slot: Slot, heard: Heard) -> Iterator[Filling]:
    for start, word in enumerate(heard.words):
        for words, value in ((slot.yes, True), (slot.no, False)):
            if word.stem not in words and word.plain not in words:
                continue
            own = word.stem in slot.heads or word.plain not in _WEAK_SWITCHES
            negated = start > 0 and heard.plain[start - 1] in {"not", "dont", "no"}
            yield Filling(
                start - negated,
                start + 1,
                slot.bit,
                ((slot.name, value is not negated),),
                0.0 if own else _COST_BARE,
                speaks=word.stem in slot.heads,
                proof=0.0 if word.plain in _SWITCHES or word.stem in slot.heads else _ENUM_PROOF,
            )


def _numbers(slots: Sequence[Slot], heard: Heard) -> Iterator[Filling]:
    for start in range(len(heard.plain)):
        for number in (number_at(heard.plain, start), doubtful_at(heard.plain, start)):
            if number is None:
                continue
            yield from _bare(slots, number, heard)
            yield from _times(slots, number, heard)


def _bare(slots: Sequence[Slot], number: Number, heard: Heard) -> Iterator[Filling]:
    after = heard.words[number.end].stem if number.end < len(heard.words) else ""
    before = [word.stem for word in heard.words[max(0, number.start - 2) : number.start]]
    is_unit = after in TIME_UNITS or after in OTHER_UNITS
    for slot in slots:
        named = after in slot.heads or after in {stem(word) for word in slot.words}
        if number.cost and not named:
            continue
        cost = number.cost + _fit(slot, number.value)
        if named or any(word in slot.heads for word in before):
            cost += 0.0
        elif is_unit and after in TIME_UNITS and slot.unit_ms is None:
            cost += _COST_WRONG_UNIT
        elif is_unit and after in TIME_UNITS and slot.unit_ms != TIME_UNITS[after]:
            continue
        elif any(after in other.heads for other in slots):
            cost += _COST_WRONG_UNIT
        else:
            cost += _COST_BARE
        end = number.end + (named and number.end < len(heard.words))
        values = ((slot.name, _whole(number.value)),)
        yield Filling(number.start, end, slot.bit, values, cost, speaks=True)


def _times(slots: Sequence[Slot], number: Number, heard: Heard) -> Iterator[Filling]:
    """A span of time over all slots that have a unit: "an hour and five minutes"."""
    timed = [slot for slot in slots if slot.unit_ms is not None]
    values: dict[int, float] = {}
    cost, end = 0.0, number.start
    next_number: Number | None = number
    while timed and next_number is not None and next_number.end < len(heard.words):
        unit_ms = TIME_UNITS.get(heard.words[next_number.end].stem)
        if unit_ms is None:
            break
        half, after = _half_after(heard.plain, next_number.end + 1)
        slot, ratio = _slot_for(timed, unit_ms)
        values[slot.bit] = values.get(slot.bit, 0.0) + (next_number.value + half) * ratio
        cost += next_number.cost if not next_number.article else 0.0
        end = after
        yield _time_filling(timed, values, number.start, end, cost)
        at = end + (end < len(heard.plain) and heard.plain[end] == "and")
        next_number = number_at(heard.plain, at) if at < len(heard.plain) else None


def _half_after(words: Sequence[str], at: int) -> tuple[float, int]:
    for tail in (["and", "a", "half"], ["and", "half"]):
        if list(words[at : at + len(tail)]) == tail:
            return 0.5, at + len(tail)
    return 0.0, at


def _slot_for(timed: Sequence[Slot], unit_ms: int) -> tuple[Slot, float]:
    for slot in timed:
        if slot.unit_ms == unit_ms:
            return slot, 1.0
    smaller = [slot for slot in timed if slot.unit_ms is not None and slot.unit_ms < unit_ms]
    slot = max(smaller or timed, key=lambda slot: slot.unit_ms or 0)
    return slot, unit_ms / (slot.unit_ms or 1)


def _time_filling(
    timed: Sequence[Slot], values: dict[int, float], start: int, end: int, cost: float
) -> Filling:
    mask, named = 0, []
    for slot in timed:
        if slot.bit in values:
            mask |= slot.bit
            named.append((slot.name, _whole(values[slot.bit])))
            cost += _fit(slot, values[slot.bit])
    return Filling(start, end, mask, tuple(named), cost, speaks=True)


def _fit(slot: Slot, value: float) -> float:
    outside = (slot.minimum is not None and value < slot.minimum) or (
        slot.maximum is not None and value > slot.maximum
    )
    whole = slot.kind == "integer" and value != int(value)
    return _COST_OUTSIDE * outside + _COST_WHOLE * whole


def _whole(value: float) -> float:
    return int(value) if value == int(value) else round(value, 6)


def _text(slot: Slot, tool: Tool, heard: Heard) -> Iterator[Filling]:
    length = len(heard.words)
    counts = any(other.kind in {"number", "integer"} for other in tool.slots)
    for start in range(1, length):
        begin = _text_begin(slot, tool, heard, start)
        if begin is None:
            continue
        first, cost = begin
        for end in range(start + 1, length + 1):
            if end < length and not _may_end(tool, heard, end):
                continue
            value = _said(heard.words[start:end])
            if value:
                whole = cost + _COST_TEXT + _COST_TEXT_WORD * (end - start)
                if counts and is_number_word(heard.plain[start]):
                    whole += _COST_TEXT_NUMBER
                yield Filling(first, end, slot.bit, ((slot.name, value),), whole)


def _said(words: Sequence[Word]) -> str:
    """A text as it is handed over: without an article in front, its first letter small."""
    kept = list(words)
    while kept and kept[0].plain in _ARTICLES and len(kept) <= _ARTICLE_DROPPED_WORDS:
        kept = kept[1:]
    if all(word.plain in FILLERS for word in kept):
        return ""
    said = " ".join(word.raw for word in kept)
    return said if any(c.isupper() for c in said[1:]) else said[:1].lower() + said[1:]


def _text_begin(slot: Slot, tool: Tool, heard: Heard, start: int) -> tuple[int, float] | None:
    """Where a text that begins at a word really begins (its intro), and what that costs."""
    if heard.plain[start] in {"and", "to", "for", "of", "please", "with"}:
        return None
    before = heard.words[start - 1]
    if before.plain in slot.intros or before.stem in slot.heads:
        if before.plain in {"for", "to"} and number_at(heard.plain, start) is not None:
            return (start, _COST_TEXT_UNASKED) if slot.required else None
        first = start - 1
        return (first - (first > 0 and heard.plain[first - 1] in {"with", "and", "as"}), 0.0)
    if before.plain in _ARTICLES or not slot.required:
        return None
    if before.plain in {"to", "for", "that", "about", "of"} or before.ends:
        return start, 0.05
    if before.stem in tool.weights or is_number_word(before.plain):
        return start, 0.1
    return start, _COST_TEXT_UNASKED


def _may_end(tool: Tool, heard: Heard, end: int) -> bool:
    """A text ends before a word that may lead to another slot."""
    if heard.plain[end - 1] in FILLERS:
        return False
    if len(tool.slots) < 2 and heard.words[end].stem not in tool.nouns:
        return heard.plain[end] in {"to", "on", "in", "please"} and _nouns_follow(tool, heard, end)
    word = heard.words[end]
    return (
        word.plain in _BEFORE_NEXT_SLOT
        or any(word.stem in slot.heads or word.plain in slot.intros for slot in tool.slots)
        or number_at(heard.plain, end) is not None
        or word.stem in tool.nouns
    )


def _nouns_follow(tool: Tool, heard: Heard, at: int) -> bool:
    return any(word.stem in tool.nouns for word in heard.words[at + 1 : at + 4]) or (
        at == len(heard.words) - 1
    )
