"""What is said to a person: short sentences, made from results as data. Pure."""

import json
import re
from typing import Any

from relay.providers.embedded.english import listed
from relay.providers.embedded.lexicon import Slot
from relay.providers.embedded.words import spoken

NOT_UNDERSTOOD = "Sorry, I did not get that."
NO_TOOLS = "There is nothing that I can act on yet."
GIVEN_UP = "Okay."
BUSY = "Too much is waiting. Please say that again in a moment."
_SPOKEN_MAX_CHARS = 240
_FIELDS_MAX = 4
_NO_ARTICLE = listed("all my the every off on out up down over to from")
_TELLING = ("say", "message", "answer", "text", "summary", "speech")
_ENDS, _CLAUSES = re.compile(r"(?<=[.!?])\s+"), re.compile(r"(?<=[,;:])\s+")
_CLAUSE_MIN_CHARS = 80
_UNHEARD = re.compile(r"[\x00-\x1f\x7f<>{}\[\]|\\^`*_#~]+")


def question(slot: Slot) -> str:
    """What asks for a missing value."""
    return heard_well(_question(slot))


def _question(slot: Slot) -> str:
    name = " ".join(spoken(slot.name))
    if slot.kind in {"number", "integer"}:
        return f"How many {name}?" if name.endswith("s") else f"What {name}?"
    if slot.kind == "enum" and 1 < len(slot.members) <= 4:
        members = [" ".join(words) for _, words in slot.members]
        return f"Which {name}: {', '.join(members[:-1])} or {members[-1]}?"
    if slot.kind == "boolean":
        return f"{name.capitalize()}: yes or no?"
    return f"Which {name}?" if slot.kind == "enum" else f"What is the {name}?"


def heard_as(value: str) -> str:
    """What reads a doubtful text back."""
    return f"I heard: {heard_well(value)} Is that right?"


def are_you_sure(description: str, name: str, args: dict[str, Any]) -> str:
    """What asks before a call that destroys something: "Delete the page Plans. Are you sure?"."""
    verb, *nouns = spoken(name) or [name]
    if nouns and nouns[0] not in _NO_ARTICLE and spoken(description)[:1] == [verb]:
        nouns.insert(0, "the")
    values = [value for value in args.values() if isinstance(value, str)]
    more = [
        f"{' '.join(spoken(key))} {_value(value)}"
        for key, value in args.items()
        if not isinstance(value, str)
    ]
    wish = ", ".join([" ".join([verb.capitalize(), *nouns, *values[:1]]), *values[1:], *more])
    return f"{heard_well(wish)} Are you sure?"


def done(args: dict[str, Any], result_json: bytes) -> str:
    """What a result says beyond the arguments, in a length that a person wants to hear."""
    try:
        result = json.loads(result_json)
    except ValueError:
        return "Done."
    match result:
        case str():
            told = heard_well(result)
        case bool() | int() | float():
            told = f"Done: {_value(result)}."
        case list():
            told = heard_well(f"Done: {_listed(result)}")
        case dict():
            told = _object(args, result)
        case _:
            told = ""
    return told or "Done."


def _object(args: dict[str, Any], result: dict[str, Any]) -> str:
    if result.get("ok") is False:
        return failed(str(result.get("why") or result.get("error") or ""))
    for key in _TELLING:
        told = result.get(key)
        if isinstance(told, str) and told.strip():
            return heard_well(told)
    return _fields(args, result)


def failed(why: str) -> str:
    """A refusal, honestly."""
    told = heard_well(why)
    return f"That did not work: {told}" if told else "That did not work."


def heard_well(text: str) -> str:
    """Text from a tool as plain speech: no markup, one sentence's length."""
    plain = " ".join(_UNHEARD.sub(" ", text).split())
    if len(plain) > _SPOKEN_MAX_CHARS:
        plain = plain[:_SPOKEN_MAX_CHARS].rsplit(" ", 1)[0] + ", and more"
    return plain if not plain or plain[-1] in ".!?" else plain + "."


def sentences(text: str) -> list[str]:
    """The text in pieces that can be spoken one by one: sentences, of long ones clauses."""
    found: list[str] = []
    for sentence in _ENDS.split(text):
        long = len(sentence) > _CLAUSE_MIN_CHARS
        found.extend(_CLAUSES.split(sentence) if long else [sentence])
    return [piece for piece in found if piece]


def _fields(args: dict[str, Any], result: dict[str, Any]) -> str:
    told = [
        f"{' '.join(spoken(key))} {_value(value)}"
        for key, value in result.items()
        if key != "ok" and _speakable(value) and args.get(key) != value
    ]
    if not told:
        lists = [value for key, value in result.items() if isinstance(value, list) and value]
        return heard_well(f"Done: {_listed(lists[0])}") if lists else "Done."
    return heard_well("Done: " + ", ".join(told[:_FIELDS_MAX]))


def _speakable(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) < 80)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _listed(items: list[Any]) -> str:
    names = [
        str(item.get("name") or item.get("title") or item.get("id") or "")
        if isinstance(item, dict)
        else str(item)
        for item in items[:_FIELDS_MAX]
    ]
    told = ", ".join(name for name in names if name)
    count = f"{len(items)} item{'s' * (len(items) != 1)}"
    return f"{count}: {told}" if told else count
