"""Which words of an utterance may fill which parameters, and how well. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from relay.providers.embedded.english import FILLERS, listed, stem
from relay.providers.embedded.filling import BEGUN, Filling, Heard
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
_COST_CUT_OFF, _COST_CUT_SHORT, _CUT_OFF_MIN = 0.5, 0.15, 4
_COST_BEGUN, _COST_ENDED = 0.5, 0.1
_COST_WEAK_SWITCH = 0.15
_SWITCHES = listed("on off yes no with without true false")
_SOUNDS_LIKE_UN = listed("and an in on um")
_WEAK_SWITCHES = listed("with yes on no")


def fillings(tool: Tool, heard: Heard) -> list[Filling]:
    """Every way to read some of the words as values of the tool."""
    found: list[Filling] = [*_phrases(tool, heard)]
    known = {word for slot in tool.slots for word in slot.spoken} - FILLERS
    for slot in tool.slots:
        match slot.kind:
            case "enum":
                found += [*_enum(slot, heard, known), *_ended(slot, tool, heard)]
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


def _enum(slot: Slot, heard: Heard, known: AbstractSet[str]) -> Iterator[Filling]:
    yield from _begun(slot, heard, known)
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
                if length > 1 and _other_value(member, window, known):
                    continue
                cost = _likeness(member, wanted, window, heard.sounds, named=named)
                if cost is not None:
                    values = ((slot.name, value),)
                    proof = _ENUM_PROOF * length * max(0.0, 1 - cost)
                    yield Filling(start, start + length, slot.bit, values, cost, proof=proof)


def _other_value(member: Sequence[str], window: Sequence[str], known: AbstractSet[str]) -> bool:
    """Whether a word was said that belongs to other values only."""
    return any(word in known and word not in member for word in window)


def _begun(slot: Slot, heard: Heard, known: AbstractSet[str]) -> Iterator[Filling]:
    """The first words of some value whose end was lost: "lots of", or "lots of soup"."""
    for begun in _shared_starts(tuple(member for _, member in slot.members)):
        for start in range(len(heard.plain) - len(begun) + 1):
            end = start + len(begun)
            if tuple(heard.plain[start:end]) != begun:
                continue
            after = heard.plain[end : end + 1]
            lost = [word for word in after if word not in known and word not in FILLERS]
            if lost or not after:
                end += len(lost)
                yield Filling(start, end, slot.bit, ((slot.name, BEGUN),), _COST_BEGUN)


def _ended(slot: Slot, tool: Tool, heard: Heard) -> Iterator[Filling]:
    """The last word that several values share, when nothing before it was understood: "roast"."""
    members = tuple(member for _, member in slot.members)
    ends = _shared_ends(members)
    for at, word in enumerate(heard.plain):
        if word not in ends or heard.words[at].stem in tool.nouns:
            continue
        so_far = tuple(heard.plain[: at + 1])
        if not any(so_far[-len(member) :] == member for member in members if member):
            yield Filling(at, at + 1, slot.bit, ((slot.name, BEGUN),), _COST_ENDED)


@lru_cache(maxsize=256)
def _shared_starts(members: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """What two values or more begin with: what only one begins with is that value."""
    starts = Counter(member[:end] for member in {*members} for end in range(1, len(member)))
    return tuple(
        begun
        for begun, shared in starts.items()
        if shared > 1
        and begun not in members
        and (len(begun) > 1 or (len(begun[0]) >= _CUT_OFF_MIN and begun[0] not in FILLERS))
    )


@lru_cache(maxsize=256)
def _shared_ends(members: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    ends = Counter(member[-1] for member in {*members} if len(member) > 1)
    return frozenset(word for word, shared in ends.items() if shared > 1 and (word,) not in members)


def _cut_off(slot: Slot, value: str, member: Sequence[str], heard: Heard) -> Iterator[Filling]:
    """The last words of an utterance, when they are a member but for the end of it."""
    length, last = len(heard.plain), heard.plain[-1]
    values = ((slot.name, value),)
    *first, word = member
    start = length - len(member)
    short = _CUT_OFF_MIN <= len(last) < len(word) and word.startswith(last)
    if short and start >= 0 and list(heard.plain[start:-1]) == first:
        yield Filling(start, length, slot.bit, values, _COST_CUT_SHORT)
    start += 1
    whole = first and start >= 0 and len(first[-1]) >= _CUT_OFF_MIN
    if whole and list(heard.plain[start:]) == first:
        yield Filling(start, length, slot.bit, values, _COST_CUT_OFF)


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
