"""Listening once more, for the words of one tool only, when a command is in doubt. Pure.

The first reading may be anything that was said; the second one can only be the tool's own words
and the small words around them. Two readings that agree are trusted; where they differ in one
value it is asked for. A person who did not speak to the tool is heard the second time, too, as its
words: so the second reading never stands alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from relay.providers.embedded.decisions import Act, Ask, Decision, Decline
from relay.providers.embedded.english import (
    ANTONYMS,
    CARRIERS,
    FILLERS,
    QUESTIONS,
    SYNONYMS,
    listed,
    stems,
)
from relay.providers.embedded.lexicon import TIME_WORDS, Slot, Tool
from relay.providers.embedded.numbers import NUMBER_WORDS
from relay.providers.embedded.wire import ToolCard
from relay.providers.embedded.words import spoken, words_of

# A reading that explains nearly all words, and one that leaves a word of meaning unexplained
_COST_CLEAR, _COST_UNEXPLAINED, _COST_WORSE = 0.65, 1.0, 0.5
_COST_PERFECT = 0.3
# What was no command the first time must at least have had this much of it
_SHARED_MIN = 2
# Verbs that may carry a command whatever the tool, and small words as they are written
_VERBS = listed(
    "order fix pick choose select start stop play show tell open close do go use add try"
)
_SWITCHES = listed("on off yes no with without true false not enable disable activate deactivate")
_MORE_QUESTIONS = listed("much many long far")
_SHORT = {"id": "i'd", "ill": "i'll", "im": "i'm", "lets": "let's"}


class View(Struct, frozen=True):
    """One of the two readings: what it leads to, what that costs, and what else was heard."""

    decision: Decision
    cost: float
    heard: Mapping[str, Sequence[Any]]
    """By parameter: its value by each guess, the likeliest first, None for none."""


def words_for(card: ToolCard, tool: Tool) -> frozenset[str] | None:
    """The words to listen for; None when a text, which may be any words, belongs to the tool."""
    kinds = {slot.kind for slot in tool.slots}
    if "text" in kinds:
        return None
    texts = [card.description, *(" ".join(spoken(slot.name)) for slot in tool.slots)]
    known = {word.plain for text in texts for word in words_of(text)}
    known.update(spoken(card.name), *(slot.spoken for slot in tool.slots))
    if kinds & {"number", "integer"}:
        known |= NUMBER_WORDS
    if any(slot.unit_ms is not None for slot in tool.slots):
        known |= TIME_WORDS
    if "boolean" in kinds:
        known |= _SWITCHES
    if tool.asks:
        known |= QUESTIONS | _MORE_QUESTIONS
    for line in (*SYNONYMS, *(" ".join(sides) for sides in ANTONYMS)):
        known |= listed(line) if tool.own.keys() & stems(line) else set()
    small = FILLERS | CARRIERS | _VERBS
    return frozenset(known | (small - _SHORT.keys()) | set(_SHORT.values()))


def settle(slots: Sequence[Slot], first: View, second: View, *, alike: bool) -> Decision:
    """What to do about two readings of the same sound; `alike` if they hardly differ in sound."""
    match first.decision, second.decision:
        case Act() as act, Act() as other:
            return _both(slots, first, second, act, other)
        case Act() as act, Ask(slot=slot, args=args) if not act.then:
            differing = _differing(slots, act.args, args, among=args)
            if differing is not None and not _known(second, act, differing):
                return _asked(act, differing)
            explained = first.cost < _COST_UNEXPLAINED and slot.required
            return act if explained else _asked(act, slot)
        case Act(), _:
            explained = first.cost < _COST_UNEXPLAINED
            return first.decision if explained else Decline(first.decision.text)
        case Ask() | Decline(), Act() as other if not other.then and second.cost <= _COST_CLEAR:
            same = alike and isinstance(first.decision, Decline)
            return other if same or _was_heard(first, other) else first.decision
        case _:
            return first.decision


def _known(view: View, act: Act, slot: Slot) -> bool:
    """Whether some guess of a reading has a call's value."""
    return act.args.get(slot.name) in view.heard.get(slot.name, ())


def _was_heard(first: View, other: Act) -> bool:
    """Whether a call was there already the first time, if not clearly enough to make it."""
    likeliest = {name: values[0] for name, values in first.heard.items() if values[0] is not None}
    if not likeliest.keys() <= other.args.keys():
        return False
    known = [name for name, values in first.heard.items() if other.args.get(name) in values]
    contrary = likeliest.keys() - set(known)
    return not contrary and len(known) >= _SHARED_MIN


def insists(first: View, second: View) -> bool:
    """Whether both readings are the same perfect command, though the recogniser is not sure."""
    act = second.decision
    if not isinstance(act, Act) or act.then or max(first.cost, second.cost) > _COST_PERFECT:
        return False
    likeliest = {name: values[0] for name, values in first.heard.items() if values[0] is not None}
    return len(likeliest) >= _SHARED_MIN and likeliest == act.args


def _both(slots: Sequence[Slot], first: View, second: View, act: Act, other: Act) -> Decision:
    if (act.args, act.then) == (other.args, other.then):
        return act
    if act.then or other.then:
        return Decline(act.text)
    explained = first.cost < _COST_UNEXPLAINED
    if not explained and second.cost <= _COST_CLEAR and act.args.items() <= other.args.items():
        return other  # what was left over were these values
    said = {**act.args, **other.args}
    differing = _differing(slots, act.args, other.args, among=said)
    worse = second.cost >= first.cost + _COST_WORSE or other.args.items() <= act.args.items()
    known = all(_known(second, act, slot) for slot in slots if slot.name in said)
    if differing is None or (explained and (worse or known)):
        return act
    return _asked(act, differing)


def _differing(
    slots: Sequence[Slot],
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    *,
    among: Mapping[str, Any],
) -> Slot | None:
    """The first parameter with another value, or with none, in one of the two."""
    for slot in slots:
        if slot.name in among and one.get(slot.name) != other.get(slot.name):
            return slot
    return None


def _asked(act: Act, slot: Slot) -> Ask:
    args = {name: value for name, value in act.args.items() if name != slot.name}
    return Ask(act.text, act.name, args, slot)
