"""Which words of an utterance may fill which parameters, and how well. Pure."""

from collections.abc import Iterator, Sequence

from relay.providers.embedded.english import FILLERS, listed, stem
from relay.providers.embedded.filling import Filling, Heard
from relay.providers.embedded.lexicon import Slot, Tool
from relay.providers.embedded.numbers import number_at
from relay.providers.embedded.quantities import quantities
from relay.providers.embedded.sounds import Sounds, distance
from relay.providers.embedded.texts import texts

# The furthest that words may be from a member, and what the distance costs: beside the
# parameter's own name ("the phone team") more is forgiven
_UNNAMED, _NAMED = (0.36, 2.2), (0.5, 1.6)
_ENUM_PROOF, _PREFIX_PROOF = 0.5, 1.2
_PHRASE_PROOF = 1.5
_COST_CUT_OFF, _CUT_OFF_MIN = 0.5, 4
_COST_WEAK_SWITCH = 0.15
_SWITCHES = listed("on off yes no with without true false")
_SOUNDS_LIKE_UN = listed("and an in on um")
_WEAK_SWITCHES = listed("with yes on no")


def fillings(tool: Tool, heard: Heard) -> list[Filling]:
    """Every way to read some of the words as values of the tool."""
    found: list[Filling] = [*_phrases(tool, heard)]
    for slot in tool.slots:
        match slot.kind:
            case "enum":
                found += _enum(slot, heard)
            case "boolean":
                found += _boolean(slot, heard)
            case "text":
                found += texts(slot, tool, heard)
            case _:
                pass
    numeric = [slot for slot in tool.slots if slot.kind in {"number", "integer"}]
    if numeric:
        found += quantities(numeric, heard)
    return found


def _phrases(tool: Tool, heard: Heard) -> Iterator[Filling]:
    """The author's own examples, word for word; they fill nothing and prove much."""
    said = tuple(word.stem for word in heard.words)
    for phrase in tool.phrases:
        for start in range(len(said) - len(phrase) + 1):
            if said[start : start + len(phrase)] == phrase:
                yield Filling(start, start + len(phrase), 0, (), 0.0, proof=_PHRASE_PROOF)


def _enum(slot: Slot, heard: Heard) -> Iterator[Filling]:
    for value, member in slot.members:
        if isinstance(value, bool) or not member:
            continue
        if isinstance(value, int | float):
            yield from _numeric_member(slot, value, heard)
            continue
        yield from _cut_off(slot, value, member, heard)
        wanted = heard.sounds(" ".join(member))
        for length in {max(1, len(member) - 1), len(member), len(member) + 1}:
            for start in range(len(heard.plain) - length + 1):
                window = heard.plain[start : start + length]
                named = _named(slot, heard, start, length)
                cost = _likeness(member, wanted, window, heard.sounds, named=named)
                if cost is not None:
                    values = ((slot.name, value),)
                    proof = _ENUM_PROOF * length * max(0.0, 1 - cost)
                    yield Filling(start, start + length, slot.bit, values, cost, proof=proof)


def _cut_off(slot: Slot, value: str, member: Sequence[str], heard: Heard) -> Iterator[Filling]:
    """The last words of an utterance, when they are a member but for its last word."""
    start = len(heard.plain) - len(member) + 1
    if len(member) < 2 or start < 0 or len(member[-2]) < _CUT_OFF_MIN:
        return
    if list(heard.plain[start:]) == list(member[:-1]):
        values = ((slot.name, value),)
        yield Filling(start, len(heard.plain), slot.bit, values, _COST_CUT_OFF)


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
    *,
    named: bool,
) -> float | None:
    """What it costs to hear a member in some words; None when they are too far apart."""
    if list(member) == list(window):
        return 0.0
    if [stem(word) for word in member] == [stem(word) for word in window]:
        return 0.05
    if any(
        word in FILLERS and word != own
        for word, own in ((window[0], member[0]), (window[-1], member[-1]))
    ) or (len(window) == 1 and len(window[0]) < 3):
        return None
    most, weight = _NAMED if named else _UNNAMED
    far = distance(wanted, sounds(" ".join(window)))
    return weight * far + 0.05 if far <= most else None


def _boolean(slot: Slot, heard: Heard) -> Iterator[Filling]:
    for start, word in enumerate(heard.words):
        yield from _misheard_prefix(slot, heard, start)
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
                0.0 if own else _COST_WEAK_SWITCH,
                speaks=word.stem in slot.heads,
                proof=0.0 if word.plain in _SWITCHES or word.stem in slot.heads else _ENUM_PROOF,
            )


def _misheard_prefix(slot: Slot, heard: Heard, start: int) -> Iterator[Filling]:
    """Read "and lock" as "unlock": the contrary of a command must not be done instead of it."""
    if start == 0 and len(heard.words) > 1 and heard.plain[0] in _SOUNDS_LIKE_UN:
        verb = heard.words[1].stem
        if verb in slot.yes and f"un{verb}" in slot.no:
            yield Filling(0, 2, slot.bit, ((slot.name, False),), 0.0, proof=_PREFIX_PROOF)
