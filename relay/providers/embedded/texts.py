"""Free text in an utterance: where it may begin and end. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from relay.providers.embedded.english import FILLERS, listed
from relay.providers.embedded.filling import Filling, Heard
from relay.providers.embedded.lexicon import Slot, Tool
from relay.providers.embedded.numbers import doubtful_at, is_number_word, number_at
from relay.providers.embedded.words import Word

_COST_TEXT, _COST_TEXT_WORD, _COST_TEXT_NUMBER = 0.1, 0.04, 0.3
_COST_LED, _COST_AFTER_OWN_WORD, _COST_UNASKED = 0.05, 0.1, 1.2
_COST_TAKES_VALUE, _COST_AFTER_MENTIONED = 0.5, 0.25
_ARTICLE_DROPPED_WORDS = 3
_ARTICLES = listed("the a an my")
_ONE_LETTER_WORDS = frozenset("aio0123456789")
_NOT_FIRST = listed("and to for of please with")
_LEADS_IN = listed("to for that about of")
_BEFORE_INTRO = listed("with and as")
_BEFORE_NEXT_SLOT = listed("to on in at with by from for as into onto")
_BEFORE_TOOL = listed("to on in please")
_THANKS = listed("please thanks thank")
_HESITATIONS = listed("um uh er ah hmm")
# Small words that a text may well end in: "sign up", "write it", "check this"
_MAY_BE_LAST = listed("up it this that there here both them these those too again")
_NEVER_LAST = (FILLERS | _BEFORE_NEXT_SLOT) - _MAY_BE_LAST


class _Members(Struct, frozen=True):
    """Where other parameters' values begin and end, word for word."""

    starts: frozenset[int]
    ends: frozenset[int]


def texts(slot: Slot, tool: Tool, heard: Heard) -> Iterator[Filling]:
    """Every stretch of words that may be the value of a text."""
    length, members = len(heard.words), _members(slot, tool, heard)
    counts = any(other.kind in {"number", "integer"} for other in tool.slots)
    thanks = _before_thanks(heard.plain)
    for start in range(1, length):
        begin = _text_begin(slot, tool, heard, start, members)
        if begin is None:
            continue
        first, cost = begin
        last = thanks if start < thanks else length
        for end in range(start + 1, last + 1):
            if end < last and not _may_end(tool, heard, end, members):
                continue
            words = heard.words[start:end]
            value = _said(words)
            if value and not (first == start and _names_only(tool, words, heard.plain[start - 1])):
                whole = cost + _COST_TEXT + _COST_TEXT_WORD * (end - start)
                if counts and is_number_word(heard.plain[start]):
                    whole += _COST_TEXT_NUMBER
                whole += _COST_TAKES_VALUE * len(members.starts & {*range(start, end)})
                values = ((slot.name, value),)
                yield Filling(first, end, slot.bit, values, whole, led_by=start - first)


def whole(words: Sequence[Word]) -> str:
    """An answer as a text: without hesitation in front and thanks behind; may be empty."""
    return _said(words[: _before_thanks([word.plain for word in words])])


def _names_only(tool: Tool, words: Sequence[Word], before: str) -> bool:
    """Whether the words only name what the tool is about: "add a card to the board"."""
    if before not in _LEADS_IN and not any(word.stem in tool.nouns for word in words):
        return False
    return all(word.stem in tool.own or word.plain in FILLERS for word in words)


def _members(slot: Slot, tool: Tool, heard: Heard) -> _Members:
    starts, ends = set(), set()
    for other in tool.slots:
        for _, member in other.members if other is not slot else ():
            for start, word in enumerate(heard.plain):
                end = start + len(member)
                if member and word == member[0] and tuple(heard.plain[start:end]) == member:
                    starts.add(start)
                    ends.add(end)
    return _Members(frozenset(starts), frozenset(ends))


def _before_thanks(words: Sequence[str]) -> int:
    """Where the thanks begin in which an utterance ends; its length when there are none."""
    end = len(words)
    while end > 1 and (
        words[end - 1] in _THANKS or (words[end - 1] == "you" and words[end - 2] == "thank")
    ):
        end -= 1
    return end


def _said(words: Sequence[Word]) -> str:
    """A text as it is handed over: without an article in front, its first letter small."""
    kept = list(words)
    while kept and kept[0].plain in _HESITATIONS:
        kept = kept[1:]
    while kept and kept[0].plain in _ARTICLES and len(kept) <= _ARTICLE_DROPPED_WORDS:
        kept = kept[1:]
    if all(word.plain in FILLERS for word in kept):
        return ""
    if len(kept[0].plain) == 1 and kept[0].plain not in _ONE_LETTER_WORDS:
        return ""  # one letter is a piece of a word that was not understood
    said = " ".join(word.raw for word in kept)
    as_it_is = kept[0].plain == "i" or any(c.isupper() for c in said[1:])
    return said if as_it_is else said[:1].lower() + said[1:]


def _text_begin(
    slot: Slot, tool: Tool, heard: Heard, start: int, members: _Members
) -> tuple[int, float] | None:
    """Where a text that begins at a word really begins (its intro), and what that costs."""
    if heard.plain[start] in _NOT_FIRST:
        return None
    before = heard.words[start - 1]
    if before.plain in slot.intros or before.stem in slot.heads:
        if before.plain in {"for", "to"} and number_at(heard.plain, start) is not None:
            return (start, _COST_UNASKED) if slot.required else None
        first = start - 1
        return (first - (first > 0 and heard.plain[first - 1] in _BEFORE_INTRO), 0.0)
    if before.plain in _ARTICLES or not slot.required:
        return None
    if start in members.ends:
        return start, _COST_AFTER_OWN_WORD
    return start, _cost_without_intro(tool, heard, start)


def _cost_without_intro(tool: Tool, heard: Heard, start: int) -> float:
    before = heard.words[start - 1]
    if before.plain in _LEADS_IN or before.ends:
        return _COST_LED
    own = before.stem in tool.weights or is_number_word(before.plain)
    # A word that is only in the description may belong to the text: "play radio paradise"
    verb_said = any(word.stem in tool.weights for word in heard.words[: start - 1])
    mentioned = verb_said and 0 < tool.own.get(before.stem, 0.0) < 1
    return _COST_AFTER_OWN_WORD + _COST_AFTER_MENTIONED * mentioned if own else _COST_UNASKED


def _may_end(tool: Tool, heard: Heard, end: int, members: _Members) -> bool:
    """A text ends before a word that may lead to another slot."""
    if heard.plain[end - 1] in _NEVER_LAST:
        return False
    if end in members.starts:
        return True
    if len(tool.slots) < 2 and heard.words[end].stem not in tool.nouns:
        return heard.plain[end] in _BEFORE_TOOL and _nouns_follow(tool, heard, end)
    word = heard.words[end]
    return (
        word.plain in _BEFORE_NEXT_SLOT
        or any(word.stem in slot.heads or word.plain in slot.intros for slot in tool.slots)
        or _amount_follows(heard, end + (word.plain == "of"))
        or doubtful_at(heard.plain, end) is not None
        or word.stem in tool.nouns
    )


def _amount_follows(heard: Heard, at: int) -> bool:
    return at < len(heard.plain) and number_at(heard.plain, at) is not None


def _nouns_follow(tool: Tool, heard: Heard, at: int) -> bool:
    return any(word.stem in tool.nouns for word in heard.words[at + 1 : at + 4]) or (
        at == len(heard.words) - 1
    )
