"""Numbers in an utterance as values: bare, beside their unit, and spans of time. Pure."""

import re
from collections.abc import Iterator, Sequence

from relay.providers.embedded.english import FILLERS, listed, stem, stems
from relay.providers.embedded.filling import Filling, Heard
from relay.providers.embedded.lexicon import TIME_UNITS, Slot
from relay.providers.embedded.numbers import LIKE_IN_SOUND, Number, doubtful_at, number_at

_COST_BARE, _COST_WRONG_UNIT, _COST_OUTSIDE, _COST_WHOLE = 0.15, 1.0, 0.3, 0.8
_COST_SOON, _COST_DOUBT, _CLOCK_PROOF = 0.05, 0.45, 0.5
_ABSORBED = stems("percent degrees")
# A value of its own for some tools, and only the unit of the amount for others
_MONEY = stems("dollars euros pounds cents")
_BEFORE_COUNT = listed("like want order get give add me need buy take")
_CLOCK = re.compile(r"(\d{1,2})[:.]?(\d{2})")


def quantities(slots: Sequence[Slot], heard: Heard) -> Iterator[Filling]:
    """Every way to read numbers as values of the numeric slots."""
    for start in range(len(heard.plain)):
        for number in (number_at(heard.plain, start), doubtful_at(heard.plain, start)):
            if number is None:
                continue
            yield from _bare(slots, number, heard)
            yield from _times(slots, number, heard)
        yield from _clock(slots, heard, start)


def _bare(slots: Sequence[Slot], number: Number, heard: Heard) -> Iterator[Filling]:
    after = heard.words[number.end].stem if number.end < len(heard.words) else ""
    before = {word.stem for word in heard.words[max(0, number.start - 2) : number.start]}
    for slot in slots:
        named = after in slot.heads or after in {stem(word) for word in slot.words}
        if number.cost and not named and not _counts(slot, number, heard):
            continue
        other = any(after in one.heads for one in slots if one is not slot)
        cost = 0.0 if named or before & slot.heads else _beside(slot, after, other_name=other)
        if cost == _COST_BARE and _names_soon(slot, heard, number.end):
            cost = _COST_SOON
        if cost is None:
            continue
        end = number.end + (after in _ABSORBED or (named and number.end < len(heard.words)))
        value, doubt = _within(slot, number.value)
        values = ((slot.name, _whole(value)),)
        cost += min(number.cost, _COST_DOUBT if named else _COST_SOON) + doubt
        yield Filling(number.start, end, slot.bit, values, cost, speaks=True)
        if after in _MONEY and end == number.end:
            yield Filling(number.start, end + 1, slot.bit, values, cost, speaks=True)


def _counts(slot: Slot, number: Number, heard: Heard) -> bool:
    """Whether a homophone counts: "I would like to small pizzas"."""
    before = heard.plain[number.start - 1] if number.start else ""
    return not number.article and before in _BEFORE_COUNT and _names_soon(slot, heard, number.end)


def _names_soon(slot: Slot, heard: Heard, at: int) -> bool:
    """Whether what is counted follows: "two small mushroom pizzas"."""
    about = slot.heads | {stem(word) for word in slot.words if word not in FILLERS}
    return any(word.stem in about for word in heard.words[at : at + 4])


def _beside(slot: Slot, after: str, *, other_name: bool) -> float | None:
    """What a number costs a slot that is not named, by the word after it; None: impossible."""
    if after in TIME_UNITS:
        return _COST_WRONG_UNIT if slot.unit_ms is None else None
    return _COST_WRONG_UNIT if other_name else _COST_BARE


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


def _within(slot: Slot, value: float) -> tuple[float, float]:
    """The value, and what its doubt costs: ninety and nineteen sound the same, so bounds decide."""
    cost = _fit(slot, value)
    other = LIKE_IN_SOUND.get(value)
    if cost and other is not None and not _fit(slot, other):
        return other, _COST_OUTSIDE
    return value, cost


def _clock(slots: Sequence[Slot], heard: Heard, start: int) -> Iterator[Filling]:
    """A time of day in one piece, 7:30 or 730, over an hour and a minute."""
    hours = [slot for slot in slots if stem("hour") in slot.heads]
    minutes = [slot for slot in slots if stem("minute") in slot.heads]
    read = _CLOCK.fullmatch(heard.plain[start])
    if not hours or not minutes or read is None:
        return
    hour, minute = int(read[1]), int(read[2])
    if hour < 24 and minute < 60:
        mask = hours[0].bit | minutes[0].bit
        values = ((hours[0].name, hour), (minutes[0].name, minute))
        yield Filling(start, start + 1, mask, values, 0.0, proof=_CLOCK_PROOF)


def _fit(slot: Slot, value: float) -> float:
    outside = (slot.minimum is not None and value < slot.minimum) or (
        slot.maximum is not None and value > slot.maximum
    )
    whole = slot.kind == "integer" and value != int(value)
    return _COST_OUTSIDE * outside + _COST_WHOLE * whole


def _whole(value: float) -> float:
    return int(value) if value == int(value) else round(value, 6)
