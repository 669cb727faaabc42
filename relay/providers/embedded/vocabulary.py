"""The prompt that tells the recogniser which words to expect. Pure."""

from collections.abc import Sequence

from relay.providers.embedded.lexicon import examples
from relay.providers.embedded.wire import ToolCard
from relay.providers.embedded.words import spoken

_PROMPT_MAX_CHARS, _DESCRIPTIONS_MAX_CHARS = 600, 400
_DESCRIPTION_MAX_CHARS = 90
_EXAMPLES_MAX_CHARS = 120
_MEMBERS_MAX = 40


def vocabulary(cards: Sequence[ToolCard]) -> str:
    """Each description, each distinct word of the values once, the examples; as ordinary text."""
    sentences = [_short(card.description) for card in cards]
    known: set[str] = set()
    phrases = [
        " ".join(fresh)
        for card in cards
        for schema in card.parameters.get("properties", {}).values()
        for value in schema.get("enum", ())[:_MEMBERS_MAX]
        if isinstance(value, str) and (fresh := _fresh(spoken(value), known))
    ]
    listed = [", ".join(phrases) + "."] if phrases else []
    said = ", ".join(text for card in cards for text in examples(card.description))
    quoted = [said[:_EXAMPLES_MAX_CHARS] + "."] if said else []
    return " ".join([*_last_that_fit(sentences), *quoted, *listed])[-_PROMPT_MAX_CHARS:]


def _last_that_fit(sentences: Sequence[str]) -> list[str]:
    """The tools that came last: the relay's own are declared first and are asked for least."""
    kept: list[str] = []
    room = _DESCRIPTIONS_MAX_CHARS
    for sentence in reversed(sentences):
        room -= len(sentence) + 1
        if room < 0:
            break
        kept.insert(0, sentence)
    return kept


def _fresh(words: Sequence[str], known: set[str]) -> list[str]:
    """The words that have not been listed, which then have been."""
    fresh = [word for word in words if word not in known]
    known.update(fresh)
    return fresh


def _short(description: str) -> str:
    """Its first sentence or clause."""
    head = description[:_DESCRIPTION_MAX_CHARS]
    for stop in (". ", "; ", ": "):
        head = head.split(stop)[0]
    return head.rstrip(" .,;:") + "."
