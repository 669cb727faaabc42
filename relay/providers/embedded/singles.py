"""What a word means to a tool when it is no value: proof, filler, or unexplained. Pure."""

from functools import lru_cache

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
from relay.providers.embedded.filling import Heard
from relay.providers.embedded.lexicon import Tool
from relay.providers.embedded.numbers import number_at
from relay.providers.embedded.sounds import distance
from relay.providers.embedded.words import Word

COST_AGAINST = 2.0
_COST_FILLER, _COST_CARRIER, _COST_UNKNOWN, _COST_NUMBER = 0.04, 0.15, 1.0, 1.2
_COST_QUESTION, _COST_COPULA = 2.5, 0.6
_COST_COMPOUND, _COMPOUND_COUNTS, _COMPOUND_MIN = 0.2, 0.6, 4
_COST_WEAK, _COST_SOUNDS_LIKE, _SOUNDS_LIKE_MAX = 0.3, 0.35, 0.2
_COST_VERB, _COST_STATEMENT, _COST_SUBTRACTS = 0.5, 0.6, 0.1
_PROOF_SUBTRACTS, _RARITY_OF_SYNONYMS = 0.6, 0.8
_COPULAS = listed("is are was were am has have had does did")
_POLITE = listed("please can could would will you hey ok okay now so and just then i to")
_DO_A = {("a",), ("an",), ("the",), ("my",), ("me",)}
_SUBJECTS = listed("i we you he she they it")


class Single(Struct, frozen=True):
    """One word for one tool."""

    cost: float
    proof: float = 0.0
    names_it: bool = False
    negates: bool = False
    """It turns an addition into a subtraction."""


def single(tool: Tool, heard: Heard, at: int, rarity: dict[str, float]) -> Single:
    """What the word at a position means to a tool."""
    word = heard.words[at]
    against = _against(tool, word)
    if against is not None:
        return against
    weight = tool.weights.get(word.stem, 0.0)
    if weight:
        proof = weight * rarity.get(word.stem, _RARITY_OF_SYNONYMS)
        return Single(_COST_WEAK * (1 - weight), proof, word.stem in _named(tool.nouns))
    relative = _relative(tool, word)
    if relative is not None:
        proof = _COMPOUND_COUNTS * tool.own[relative]
        return Single(_COST_COMPOUND, proof, relative in tool.nouns)
    return Single(_stranger(tool, heard, at) + _statement(heard, at))


def _against(tool: Tool, word: Word) -> Single | None:
    if word.plain in NEGATIONS:
        return Single(COST_AGAINST)
    if word.plain == "off" and any(slot.kind == "boolean" for slot in tool.slots):
        return Single(_COST_UNKNOWN)  # a switch was named, so it must be used
    if word.stem in tool.own:
        return None
    if word.stem in tool.subtracts:
        return Single(
            _COST_SUBTRACTS, tool.weights.get(stem("add"), _PROOF_SUBTRACTS), negates=True
        )
    return Single(COST_AGAINST) if word.stem in tool.contrary else None


def _stranger(tool: Tool, heard: Heard, at: int) -> float:
    word = heard.words[at].plain
    if word == "do" and tuple(heard.plain[at + 1 : at + 2]) in _DO_A:
        return _COST_FILLER
    if word in QUESTIONS:
        cost = _COST_COPULA if at and word in _COPULAS else _COST_QUESTION
        return _COST_FILLER if tool.asks else cost
    if word in FILLERS:
        return _COST_FILLER
    if word in CARRIERS or word in PARTICLES:
        return _COST_CARRIER
    if number_at(heard.plain, at) is not None:
        return _COST_NUMBER
    return _content(tool, heard, at)


def _content(tool: Tool, heard: Heard, at: int) -> float:
    """A word with a meaning of its own, which this tool does not know."""
    word = heard.words[at].plain
    said = heard.sounds(word)
    if len(word) > 3 and any(
        len(known) > 3 and distance(said, heard.sounds(known)) <= _SOUNDS_LIKE_MAX
        for known in tool.own
    ):
        return _COST_SOUNDS_LIKE
    # Where a command has its verb, any verb may carry the command
    opens = all(before in _POLITE for before in heard.plain[:at]) and at + 1 < len(heard.words)
    return _COST_VERB if opens else _COST_UNKNOWN


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


@lru_cache(maxsize=1_024)
def _named(nouns: frozenset[str]) -> frozenset[str]:
    return nouns.union(*(ALIKE.get(noun, frozenset()) for noun in nouns))
