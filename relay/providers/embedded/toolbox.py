"""From what was heard to what is to be done: act, ask back, or decline. Pure.

It acts only when it is sure; the thresholds stand here.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from relay.providers.embedded.english import listed
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.lexicon import CONFIRMATIONS, Slot, rarity, tools_of
from relay.providers.embedded.parser import WORDS_MAX, Parser, Reading
from relay.providers.embedded.sounds import Sounds, spelled
from relay.providers.embedded.wire import ToolCard
from relay.providers.embedded.words import Word, words_of

_COST_A_SLOT_MAX = 0.5
_COST_MAX = 1.9
_ASK_COST_MAX = 0.6
_SCORE_WEIGHT = 2.0
_AGREEMENT = 0.3
_SCORE_MIN = -0.75
_TIE = 0.04
_COST_CLEAR, _COST_PLAIN = 0.5, 0.6
_WISHES = {
    (one, other)
    for one, others in {
        "i": "want have get need",
        "id": "like love",
        "would": "like love",
        "we": "want need have",
        "get": "me us",
        "give": "me us",
        "make": "me us",
        "bring": "me us",
    }.items()
    for other in others.split()
}
_YES = listed("yes yeah yep sure okay ok confirm confirmed absolutely")
_NO = listed("no nope dont cancel never")
_WITH_YES = listed("please do it that delete i am go ahead of course thanks")
_FORGET_WORDS = listed("cancel nevermind never mind stop no forget nothing")


class Act(Struct, frozen=True):
    """Call the tool."""

    text: str
    name: str
    args: dict[str, Any]


class Ask(Struct, frozen=True):
    """The command is clear but for one value."""

    text: str
    name: str
    args: dict[str, Any]
    slot: Slot


class Decline(Struct, frozen=True):
    """Not a command, or not a clear one; `dropped` is a question that is given up."""

    text: str
    dropped: bool = False


Decision = Act | Ask | Decline


class Toolbox:
    """The tools of one session, ready to be spoken to."""

    def __init__(self, cards: Sequence[ToolCard], sounds: Sounds = spelled) -> None:
        self.cards = list(cards)
        self._tools = tools_of(cards)
        self._by_name = {tool.name: tool for tool in self._tools}
        self._parser = Parser(self._tools, rarity(self._tools), sounds)

    def decide(self, guesses: Sequence[Guess], asked: Ask | None = None) -> Decision:
        """What to do about an utterance; `asked` is the question that it may answer."""
        if not guesses:
            return Decline("")
        best_score = guesses[0].score
        found: dict[bytes, tuple[float, Decision]] = {}
        for guess in guesses:
            decision, cost = self._one(words_of(guess.text), guess.text, asked)
            if guess.score < _SCORE_MIN and not isinstance(decision, Decline):
                continue
            cost += _SCORE_WEIGHT * (best_score - guess.score)
            key = _key(decision)
            known = found.get(key)
            if known is None:
                found[key] = (cost, decision)
            else:
                kept = known[1] if known[0] <= cost else decision
                found[key] = (min(known[0], cost) - _AGREEMENT / len(guesses), kept)
        sure = [entry for entry in found.values() if not isinstance(entry[1], Decline)]
        if not sure:
            return Decline(guesses[0].text, dropped=_gives_up(guesses[0].text, asked))
        acting = [entry for entry in sure if isinstance(entry[1], Act)]
        return min(acting or sure, key=lambda entry: entry[0])[1]

    def confirmed(self, act: Act) -> Act | None:
        """The call with the person's yes in it; None when the tool knows no such thing."""
        tool = self._by_name.get(act.name)
        names = [slot.name for slot in tool.slots] if tool is not None else []
        for name in CONFIRMATIONS:
            if name in names and name not in act.args:
                return Act(act.text, act.name, {**act.args, name: True})
        return None

    def _one(self, words: Sequence[Word], text: str, asked: Ask | None) -> tuple[Decision, float]:
        readings = self._parser.read(words)
        if readings and _sure(readings, wished=_is_wish(words)):
            best = readings[0]
            return Act(text, best.tool.name, best.values), best.score
        if asked is not None:
            answered = self._answer(words, text, asked)
            if answered is not None:
                return answered
        for reading in readings[:3]:
            if _worth_asking(reading):
                return Ask(text, reading.tool.name, reading.values, reading.missing[0]), (
                    reading.score
                )
        return Decline(text), readings[0].score if readings else 9.0

    def _answer(
        self, words: Sequence[Word], text: str, asked: Ask
    ) -> tuple[Decision, float] | None:
        """The utterance as the value that was asked for."""
        tool = self._by_name.get(asked.name)
        if tool is None or not 0 < len(words) <= WORDS_MAX:
            return None
        if asked.slot.kind == "text":
            if _gives_up(text, asked):
                return None
            values = {**asked.args, asked.slot.name: text.strip(" .?!")}
            return self._completed(tool.name, values, text, 0.5)
        only = msgspec.structs.replace(tool, slots=(asked.slot,))
        reading = self._parser.read_for(only, words)
        if reading.missing or reading.cost > _COST_A_SLOT_MAX:
            return None
        return self._completed(tool.name, {**asked.args, **reading.values}, text, reading.score)

    def _completed(
        self, name: str, values: dict[str, Any], text: str, cost: float
    ) -> tuple[Decision, float]:
        tool = self._by_name[name]
        for slot in tool.slots:
            if slot.required and slot.name not in values:
                return Ask(text, name, values, slot), cost
        return Act(text, name, values), cost


def _sure(readings: Sequence[Reading], *, wished: bool) -> bool:
    """Whether the best reading may be acted on."""
    best = readings[0]
    tied = len(readings) > 1 and readings[1].score - best.score < _TIE and not readings[1].missing
    dear = best.cost > min(_COST_MAX, _COST_A_SLOT_MAX * (1 + len(best.filled)))
    if best.missing or tied or dear:
        return False
    typed = sum(slot.kind != "text" for slot in best.filled)
    if typed:
        clear = best.cost < _COST_CLEAR and (typed >= 2 or (wished and best.evidence >= 0.4))
        named = best.names_it or best.evidence >= 1.2
        plain = typed >= 2 or named or best.cost <= _COST_PLAIN
        return clear or (plain and best.evidence >= 0.55)
    if best.filled:
        return best.evidence >= (0.6 if best.names_it else 1.2)
    return best.cost <= 0.6 and best.evidence >= (1.1 if best.names_it else 1.3)


def _is_wish(words: Sequence[Word]) -> bool:
    """Whether it begins as a wish: "can I have", "get me", "I'd like"."""
    plain = [word.plain for word in words[:5]]
    return any(pair in _WISHES for pair in pairwise(plain))


def _worth_asking(best: Reading) -> bool:
    if not best.missing or best.cost > _ASK_COST_MAX:
        return False
    if any(slot.kind != "text" for slot in best.filled):
        return best.evidence >= 0.7
    return best.evidence >= (0.9 if best.names_it else 1.2)


def yes_or_no(text: str) -> bool | None:
    """Whether a text is a plain yes or a plain no; None for anything else."""
    said = {word.plain for word in words_of(text)}
    if said & _YES and said <= _YES | _WITH_YES:
        return True
    return False if said & _NO and said <= _NO | _FORGET_WORDS | _WITH_YES else None


def _gives_up(text: str, asked: Ask | None) -> bool:
    words = [word.plain for word in words_of(text)]
    return asked is not None and bool(words) and set(words) <= _FORGET_WORDS | {"it", "that", "do"}


def _key(decision: Decision) -> bytes:
    match decision:
        case Act(name=name, args=args):
            return msgspec.msgpack.encode(("act", name, sorted(args.items())))
        case Ask(name=name, args=args, slot=slot):
            return msgspec.msgpack.encode(("ask", name, sorted(args.items()), slot.name))
        case Decline():
            return b""
