"""What a tool's declaration says about how people will speak to it. Pure.

Nothing is trained: names, descriptions and schemas are all there is.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from relay.providers.embedded.english import (
    ALIKE,
    CARRIERS,
    FILLERS,
    OPPOSITE,
    QUESTIONS,
    listed,
    stem,
    stems,
)
from relay.providers.embedded.numbers import is_number_word
from relay.providers.embedded.wire import ToolCard
from relay.providers.embedded.words import spoken, words_of

# Never filled by a command: a spoken yes to the tool's own question fills it
CONFIRMATIONS = ("confirmed", "confirm")
# What is declared beyond these can be called by other clients, but not spoken to
SLOTS_MAX, MEMBERS_MAX, PHRASES_MAX = 32, 256, 32
_PHRASE_WORDS_MIN = 2
_EXAMPLES = re.compile(r"\b(?:say|said as|spoken as|for example|examples?)\b", re.IGNORECASE)
_QUOTED = re.compile(r'["\u201c]([^"\u201c\u201d]{1,80})["\u201d]')
_NAME, _DESCRIPTION, _SLOT, _SLOT_TEXT, _ALIKE = 1.0, 0.7, 0.6, 0.4, 0.85
_ASKING = stems(
    "get list show tell read check find search look what convert calculate compute translate"
)
# A verb that says little: the noun must be heard too
_GENERIC = stems(
    "get set add make do run use call create update change put start give take list show "
    "turn switch new send open"
)
_TAKING_AWAY = stems("remove subtract deduct take minus decrease")
_UNITS_MS = {
    "millisecond": 1, "ms": 1, "second": 1_000, "sec": 1_000, "minute": 60_000, "min": 60_000,
    "hour": 3_600_000, "hr": 3_600_000, "day": 86_400_000, "week": 604_800_000,
}  # fmt: skip
TIME_UNITS = {stem(word): ms for word, ms in _UNITS_MS.items()}
TIME_WORDS = frozenset({form for word in _UNITS_MS for form in (word, f"{word}s")})


class Slot(Struct, frozen=True, kw_only=True):
    """A parameter as it is spoken to."""

    name: str
    bit: int
    kind: str
    """number, integer, boolean, enum, text, or other (can't be spoken)."""
    required: bool
    heads: frozenset[str]
    """Stems of its name (units included)."""
    members: tuple[tuple[Any, tuple[str, ...]], ...] = ()
    """Enum: the value, and the words in which it is spoken."""
    unit_ms: int | None = None
    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()
    intros: frozenset[str] = frozenset()
    minimum: float | None = None
    maximum: float | None = None
    words: tuple[str, ...] = ()

    @property
    def spoken(self) -> set[str]:
        """The words of its members."""
        return {word for _, words in self.members for word in words}


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as it is spoken to."""

    name: str
    slots: tuple[Slot, ...]
    weights: dict[str, float]
    """By stem: how much a word speaks for this tool, 0..1."""
    own: dict[str, float]
    """The same without synonyms."""
    contrary: frozenset[str]
    nouns: frozenset[str]
    asks: bool
    """It answers questions rather than doing something."""
    subtracts: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]
    """What its author says that people will say, as stems."""
    touches: frozenset[str]
    """Stems without any of which it can't be meant."""

    def reverses(self, slot: Slot) -> bool:
        """Whether a breath turns a switch of it into its contrary: lock and unlock."""
        return slot.kind == "boolean" and any(f"un{word}" in self.own for word in slot.heads)


def tools_of(cards: Sequence[ToolCard]) -> list[Tool]:
    """Every tool that can be spoken to."""
    return [_tool(card) for card in cards]


def rarity(tools: Sequence[Tool]) -> dict[str, float]:
    """By stem: 1 for a word that one tool uses, less the more tools use it."""
    counts = Counter(word for tool in tools for word in tool.own)
    return {word: 1.0 if count == 1 else 0.5 + 0.5 / count for word, count in counts.items()}


def _tool(card: ToolCard) -> Tool:
    properties = list(card.parameters.get("properties", {}).items())[:SLOTS_MAX]
    slots = tuple(
        _slot(name, schema, position, card.parameters)
        for position, (name, schema) in enumerate(properties)
    )
    own = _own_words(card, slots)
    weights = dict(own)
    for word, weight in own.items():
        for other in ALIKE.get(word, ()):
            if other not in OPPOSITE.get(word, ()):
                weights[other] = max(weights.get(other, 0.0), _ALIKE * weight)
    name_words = [stem(word) for word in spoken(card.name)]
    contrary = {far for word in name_words for far in OPPOSITE.get(word, ())}
    verbs = {*name_words, *(stem(w.plain) for w in words_of(card.description)[:1])}
    adds = bool(verbs & {stem("add"), stem("increase")})
    takes_away = any(slot.kind in {"number", "integer"} for slot in slots) and adds
    far = set(_TAKING_AWAY)
    phrases = _phrases(card.description)
    spoken_values = {stem(word) for slot in slots for word in slot.spoken}
    return Tool(
        name=card.name,
        slots=slots,
        weights=weights,
        own=own,
        contrary=frozenset(contrary - own.keys() | (far - own.keys() if adds else set())),
        nouns=frozenset(name_words) - _GENERIC or frozenset(name_words),
        asks=bool({*name_words} & _ASKING),
        subtracts=frozenset(far) if takes_away else frozenset(),
        phrases=phrases,
        touches=frozenset(weights).union(spoken_values, *phrases),
    )


def examples(description: str) -> list[str]:
    """What people will say, by a description: the quotes behind "Say" or "for example"."""
    asked_for = _EXAMPLES.search(description)
    quoted = _QUOTED.findall(description, asked_for.end()) if asked_for else []
    return [text.strip() for text in quoted[:PHRASES_MAX]]


def _phrases(description: str) -> tuple[tuple[str, ...], ...]:
    phrases = (tuple(word.stem for word in words_of(text)) for text in examples(description))
    return tuple(phrase for phrase in phrases if len(phrase) >= _PHRASE_WORDS_MIN)


def _own_words(card: ToolCard, slots: Sequence[Slot]) -> dict[str, float]:
    found: dict[str, float] = {}

    def take(text: Sequence[str], weight: float) -> None:
        for word in text:
            if word in FILLERS - {"add"} or word in QUESTIONS or is_number_word(word):
                continue
            key = stem(word)
            found[key] = max(found.get(key, 0.0), weight)

    take(spoken(card.name), _NAME)
    take([word.plain for word in words_of(card.description)], _DESCRIPTION)
    for slot in slots:
        take([*spoken(slot.name)], _SLOT)
        take(slot.words, _SLOT_TEXT)
    return {word: weight * (0.6 if word in CARRIERS else 1) for word, weight in found.items()}


def _slot(name: str, schema: dict[str, Any], position: int, parameters: dict[str, Any]) -> Slot:
    # A parameter called "a" is not named whenever an article is said
    heads = frozenset(stem(word) for word in spoken(name) if len(word) > 1)
    text = tuple(word.plain for word in words_of(str(schema.get("description", ""))))
    yes, no = _booleans(name, str(schema.get("description", "")))
    return Slot(
        name=name,
        bit=1 << position,
        kind="other" if name in CONFIRMATIONS else _kind(schema),
        required=name in parameters.get("required", ()),
        heads=heads,
        members=_members(schema),
        unit_ms=_unit(heads, text),
        yes=yes,
        no=no,
        intros=_intros(heads, text),
        minimum=schema.get("minimum"),
        maximum=schema.get("maximum"),
        words=text,
    )


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return "enum"
    kind = str(schema.get("type"))
    return {"string": "text"}.get(
        kind, kind if kind in {"number", "integer", "boolean"} else "other"
    )


def _members(schema: dict[str, Any]) -> tuple[tuple[Any, tuple[str, ...]], ...]:
    members = schema.get("enum", ())[:MEMBERS_MAX]
    return tuple((value, tuple(spoken(str(value)))) for value in members)


def _unit(heads: frozenset[str], text: Sequence[str]) -> int | None:
    for word in (*heads, *(stem(word) for word in text)):
        if word in TIME_UNITS:
            return TIME_UNITS[word]
    return None


_TELLS_NOTHING = listed("true false or turn turns add adds set sets is are when if")
_TRUE = re.compile(
    r"true\s+(?:to|for|if|when|turns?|means?|is|=)?\s*((?:\w+\s*){1,4})", re.IGNORECASE
)
_FALSE = re.compile(
    r"false\s+(?:to|for|if|when|turns?|means?|is|=)?\s*((?:\w+\s*){1,4})", re.IGNORECASE
)


def _booleans(name: str, description: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that say yes and no to a switch."""
    yes = {"yes", "true", "on", "enabl", "with", "activat"} | {stem(w) for w in spoken(name)}
    no = {"no", "fals", "off", "disabl", "without", "deactivat"}
    yes |= _told(_TRUE, description) - no
    no |= _told(_FALSE, description) - yes
    for word in yes - {"yes", "true", "with"}:
        no |= OPPOSITE.get(word, frozenset()) - yes
        no |= {f"{before}{word}" for before in ("un", "dis", "de")}
    return frozenset(yes), frozenset(no)


def _told(pattern: re.Pattern[str], description: str) -> set[str]:
    """The first word that says something after "true" or "false"."""
    found: set[str] = set()
    for said in pattern.findall(description):
        telling = [w for w in said.lower().split() if w not in FILLERS and w not in _TELLS_NOTHING]
        found.update(stem(word) for word in telling[:1])
    return found


def _intros(heads: frozenset[str], text: Sequence[str]) -> frozenset[str]:
    """Words after which a free text begins."""
    usual = {
        "called",
        "named",
        "labelled",
        "labeled",
        "titled",
        "saying",
        "saving",
        "says",
        "reading",
    }
    return (
        frozenset(usual | {"for"} & set(text) | {word for word in text if word in {"to", "about"}})
        | heads
    )
