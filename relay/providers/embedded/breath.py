"""What belongs together in speech: two commands in one breath, and a correction after one. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from relay.providers.embedded.decisions import Act
from relay.providers.embedded.english import listed
from relay.providers.embedded.words import Word

_JOINTS = listed("and then also")
# Each half is read for every tool: longer utterances and more joints would cost too much
_WORDS_MAX, _SPLITS_MAX = 40, 3
_TAKES_BACK = listed("no nope sorry wait actually oops meant mean rather")
_POLITE = listed("please can could would will you i id want like need lets hey okay ok just is")
_AROUND = listed("i oh uh um well that its")


def halves(words: Sequence[Word]) -> Iterator[tuple[Sequence[Word], Sequence[Word]]]:
    """The words before and after each joint that may stand between two commands."""
    if len(words) > _WORDS_MAX:
        return
    found, at = 0, 1
    while at < len(words) - 1 and found < _SPLITS_MAX:
        after = at
        while after < len(words) and words[after].plain in _JOINTS:
            after += 1
        if after > at or words[at - 1].ends:
            if after < len(words):
                found += 1
                yield words[:at], words[after:]
            at = after
        at += 1


def swallows(values: Mapping[str, Any]) -> bool:
    """Whether a text among the values may hold another command."""
    return any(
        isinstance(value, str) and not _JOINTS.isdisjoint(value.lower().split())
        for value in values.values()
    )


def differ(one: Act, other: Act) -> bool:
    """Whether they are two commands, and not one that was said, or heard, twice."""
    if one.name != other.name:
        return True
    return any(one.args[name] != other.args[name] for name in one.args.keys() & other.args.keys())


def corrects(words: Sequence[Word]) -> Sequence[Word]:
    """The words after "no," or "sorry, I meant"; none when nothing is taken back."""
    start, taken_back = 0, False
    while start < len(words) and words[start].plain in _TAKES_BACK | _AROUND:
        taken_back = taken_back or words[start].plain in _TAKES_BACK
        start += 1
    return words[start:] if taken_back else ()


def may_be_undone(words: Sequence[Word], verbs: frozenset[str]) -> bool:
    """Whether an "un" before a verb may have been heard as other words: "then mute"."""
    before = list(takewhile(lambda word: word.stem not in verbs, words))
    return 0 < len(before) < len(words) and _POLITE.isdisjoint(word.plain for word in before)
