"""From what was heard to what is to be done: act, ask back, read back, or decline. Pure.

It acts only when it is sure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from relay.providers.embedded.breath import corrects, differ, halves, may_be_undone, swallows
from relay.providers.embedded.choice import Judged, choose, confusable, rivals
from relay.providers.embedded.consent import gives_up
from relay.providers.embedded.decisions import Act, Ask, Check, Decision, Decline
from relay.providers.embedded.filling import BEGUN, whole_values
from relay.providers.embedded.gate import COST_A_SLOT_MAX, sure, worth_asking
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.lexicon import CONFIRMATIONS, Slot, Tool, rarity, tools_of
from relay.providers.embedded.parser import WORDS_MAX, Parser, Reading
from relay.providers.embedded.sounds import Sounds, distance, spelled
from relay.providers.embedded.texts import whole
from relay.providers.embedded.wire import ToolCard
from relay.providers.embedded.words import Word, words_of

# A dearer reading as one command is doubted when there is one as two
_COST_ONE = 0.6
# Below this share of the guesses a free text is read back before it is used
_SHARE_MIN = 0.8
# Above this share for another value it is asked for; of "unlock" the "un" is easily lost
_OTHER_VALUE_MAX, _LIKE_SOUND_MAX, _CONTRARY_MAX = 0.4, 0.15, 0.05
_ALIKE_MAX, _ALIKE_SOUNDS_MAX = 0.2, 3.0


class Toolbox:
    """The tools of one session, ready to be spoken to."""

    def __init__(self, cards: Sequence[ToolCard], sounds: Sounds = spelled) -> None:
        self.cards = list(cards)
        self._sounds = sounds
        self.tools = tools_of(cards)
        self._by_name = {tool.name: tool for tool in self.tools}
        self._parser = Parser(self.tools, rarity(self.tools), sounds)
        self._kept: tuple[tuple[tuple[Guess, ...], Ask | None], list[Judged]] | None = None

    def decide(self, guesses: Sequence[Guess], asked: Ask | None = None) -> Decision:
        """What to do about an utterance; `asked` is the question that it may answer."""
        judged = self._judged(guesses, asked) if guesses else []
        chosen = choose(judged, self._key) if judged else None
        if chosen is None:
            text = guesses[0].text if guesses else ""
            return Decline(text, dropped=gives_up(text, asked))
        decision, share = chosen
        others: Mapping[str, float] = {}
        if isinstance(decision, Act) and not decision.then:
            others = rivals(judged, decision)
            alike = confusable(judged, decision)
            decision = self._asked_again(decision, others, alike) or decision
        doubtful = share < _SHARE_MIN or _was_doubtful(asked, decision)
        return self._read_back(decision, others) if doubtful else decision

    def tool(self, name: str) -> Tool:
        """One of the tools. Raises: KeyError."""
        return self._by_name[name]

    def likeliest(self, guesses: Sequence[Guess], asked: Ask | None) -> tuple[Decision, float]:
        """The best decision, none of its values asked for again, and its share of the guesses."""
        chosen = choose(self._judged(guesses, asked), self._key) if guesses else None
        return chosen or (Decline(guesses[0].text if guesses else ""), 0.0)

    def read(self, text: str, name: str | None = None) -> Reading | None:
        """The best reading of a text, for one tool or for any; None for a text without words."""
        words = words_of(text)
        if name is None:
            return next(iter(self._parser.read(words)), None)
        readable = 0 < len(words) <= WORDS_MAX and name in self._by_name
        return self._parser.read_for(self._by_name[name], words) if readable else None

    def alike(self, one: str, other: str) -> bool:
        """Whether two texts sound the same but for a few sounds."""
        said, meant = self._sounds(one.lower()), self._sounds(other.lower())
        far = distance(said, meant)
        return far <= _ALIKE_MAX and far * max(len(said), len(meant)) <= _ALIKE_SOUNDS_MAX

    def _judged(self, guesses: Sequence[Guess], asked: Ask | None) -> list[Judged]:
        """What each guess would lead to; kept, for the same ones may be asked about again."""
        key = (tuple(guesses), asked)
        if self._kept is None or self._kept[0] != key:
            judged = [self._one(words_of(guess.text), guess, asked) for guess in guesses]
            self._kept = key, judged
        return self._kept[1]

    def _asked_again(
        self, act: Act, others: Mapping[str, float], alike: frozenset[str]
    ) -> Ask | None:
        """A question for the value that was as likely another one."""
        tool = self._by_name[act.name]
        for slot in tool.slots:
            most = _LIKE_SOUND_MAX if slot.name in alike else _OTHER_VALUE_MAX
            doubted = False
            if act.args.get(slot.name) is True and tool.reverses(slot):
                most, doubted = _CONTRARY_MAX, may_be_undone(words_of(act.text), slot.heads)
            if slot.kind != "text" and (doubted or others.get(slot.name, 0.0) > most):
                args = {name: value for name, value in act.args.items() if name != slot.name}
                return Ask(act.text, act.name, args, slot)
        return None

    def _read_back(self, decision: Decision, others: Mapping[str, float]) -> Decision:
        """The decision, with the text in it that is most in doubt read back first."""
        if not isinstance(decision, Act | Ask):
            return decision
        if isinstance(decision, Act) and any(self._texts(act) for act in decision.then):
            return Decline(decision.text)  # one question can't settle two commands
        texts = self._texts(decision)
        if not texts:
            return decision
        if isinstance(decision, Ask):
            return msgspec.structs.replace(decision, doubtful=True)
        return Check(decision, max(texts, key=lambda slot: others.get(slot.name, 0.0)))

    def reworded(self, check: Check, guesses: Sequence[Guess]) -> Decision | None:
        """What "no, buy bread" means after a text was read back; None when it is no such thing."""
        said = _corrections(guesses)
        return self.decide(said, self.wrong(check, said[0].text)) if said else None

    def _texts(self, decision: Act | Ask) -> list[Slot]:
        slots = self._by_name[decision.name].slots
        return [slot for slot in slots if slot.kind == "text" and slot.name in decision.args]

    def wrong(self, check: Check, text: str) -> Ask:
        """What to ask when a text that was read back is not what was said."""
        args = {name: value for name, value in check.act.args.items() if name != check.slot.name}
        return Ask(text, check.act.name, args, check.slot)

    def confirmed(self, act: Act) -> Act | None:
        """The call with the person's yes in it; None when the tool knows no such thing."""
        tool = self._by_name.get(act.name)
        names = [slot.name for slot in tool.slots] if tool is not None else []
        for name in CONFIRMATIONS:
            if name in names and name not in act.args:
                return msgspec.structs.replace(act, args={**act.args, name: True})
        return None

    def _key(self, decision: Decision) -> bytes:
        """The same for decisions that no listener could tell apart."""
        if not isinstance(decision, Act | Ask):
            return b""
        texts = {slot.name for slot in self._texts(decision)}
        args = [
            (name, self._sounds(str(value).lower()) if name in texts else value)
            for name, value in sorted(decision.args.items())
        ]
        asks = decision.slot.name if isinstance(decision, Ask) else None
        then = [self._key(act) for act in decision.then] if isinstance(decision, Act) else []
        return msgspec.msgpack.encode((decision.name, args, asks, then))

    def _one(self, words: Sequence[Word], guess: Guess, asked: Ask | None) -> Judged:
        decision, cost = self._read(words, guess.text, asked)
        return Judged(guess, decision, cost)

    def _read(self, words: Sequence[Word], text: str, asked: Ask | None) -> tuple[Decision, float]:
        readings = self._parser.read(words)
        done = self._done(readings, words, text)
        if done is not None:
            return done
        if asked is not None:
            answered = self._answer(words, text, asked)
            if answered is not None:
                return answered
        for reading in readings[:3]:
            if worth_asking(reading):
                values = whole_values(reading.values)
                return Ask(text, reading.tool.name, values, reading.missing[0]), reading.score
        return Decline(text), readings[0].score if readings else 9.0

    def _done(
        self, readings: Sequence[Reading], words: Sequence[Word], text: str
    ) -> tuple[Decision, float] | None:
        """What to do when it is sure: one call, or two that were said in one breath."""
        one = readings[0] if readings and sure(readings, words) else None
        if one is None or one.cost > _COST_ONE or swallows(one.values):
            two = self._two(words, text)
            if two is not None:
                return two
        if one is None:
            return None
        begun = [slot for slot in one.filled if one.values[slot.name] is BEGUN]
        if not begun:
            return Act(text, one.tool.name, one.values), one.score
        if len(begun) > 1:
            return None
        return Ask(text, one.tool.name, whole_values(one.values), begun[0]), one.score

    def _two(self, words: Sequence[Word], text: str) -> tuple[Decision, float] | None:
        for first, second in halves(words):
            one = self._alone(first, text)
            if one is None or self._is_open(one[0], first):
                continue
            other = self._alone(second, text)
            if other is None:
                act = self.amended(one[0], second, text)
                other = (
                    None if act is None or not self._chooses(act, one[0], second) else (act, one[1])
                )
            if other is not None and differ(one[0], other[0]):
                act = msgspec.structs.replace(one[0], then=(other[0],))
                return act, max(one[1], other[1])
        return None

    def _alone(self, words: Sequence[Word], text: str) -> tuple[Act, float] | None:
        readings = self._parser.read(words)
        if not readings or not sure(readings, words):
            return None
        if BEGUN in readings[0].values.values():
            return None
        return Act(text, readings[0].tool.name, readings[0].values), readings[0].score

    def _is_open(self, act: Act, words: Sequence[Word]) -> bool:
        """Whether it ends in a text that it needs, so that what follows may be more of it."""
        last = words[-1]
        ends = [words_of(act.args[slot.name])[-1:] for slot in self._texts(act) if slot.required]
        return not last.ends and any(word.plain == last.plain for end in ends for word in end)

    def amended(self, act: Act, words: Sequence[Word], text: str) -> Act | None:
        """The call again with other values for what it had; None unless that explains all words."""
        tool = self._by_name.get(act.name)
        if tool is None or not 0 < len(words) <= WORDS_MAX:
            return None
        had = tuple(slot for slot in tool.slots if slot.name in act.args and slot.kind != "text")
        reading = self._parser.read_for(msgspec.structs.replace(tool, slots=had), words)
        if not reading.filled or reading.cost > COST_A_SLOT_MAX or BEGUN in reading.values.values():
            return None
        args = {name: value for name, value in act.args.items() if name not in CONFIRMATIONS}
        return Act(text, act.name, {**args, **reading.values})

    def _chooses(self, act: Act, before: Act, words: Sequence[Word]) -> bool:
        """Whether words name another thing for the same tool: not a number or a value alone."""
        tool = self._by_name[act.name]
        changed = {name for name in act.args if act.args[name] != before.args.get(name)}
        other = any(slot.name in changed and slot.kind == "enum" for slot in tool.slots)
        return other and any(word.stem in tool.own for word in words)

    def corrected(self, guesses: Sequence[Guess], last: Act) -> Decision | None:
        """What a correction right after a call means: "no, the away team"; None for no such."""
        said = _corrections(guesses)
        again = self.decide(said)
        if isinstance(again, Act | Check):
            return again
        for guess in said:
            act = self.amended(last, words_of(guess.text), guess.text)
            if act is not None and act.args != last.args:
                return act
        return None

    def _answer(
        self, words: Sequence[Word], text: str, asked: Ask
    ) -> tuple[Decision, float] | None:
        """The utterance as the value that was asked for."""
        tool = self._by_name.get(asked.name)
        if tool is None or not 0 < len(words) <= WORDS_MAX:
            return None
        if asked.slot.kind == "text":
            if gives_up(text, asked):
                return None
            values = {**asked.args, asked.slot.name: whole(words) or text.strip(" .?!")}
            return self._completed(tool.name, values, text, 0.5)
        only = msgspec.structs.replace(tool, slots=(asked.slot,))
        reading = self._parser.read_for(only, words)
        if reading.missing or reading.cost > COST_A_SLOT_MAX or BEGUN in reading.values.values():
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


def _was_doubtful(asked: Ask | None, decision: Decision) -> bool:
    """Whether it completes a command of which a text may have been misheard."""
    return (
        asked is not None
        and asked.doubtful
        and isinstance(decision, Act | Ask)
        and decision.name == asked.name
        and asked.args.items() <= decision.args.items()
    )


def _corrections(guesses: Sequence[Guess]) -> list[Guess]:
    """What stands behind "no," or "sorry, I meant", by guess."""
    rests = [(corrects(words_of(guess.text)), guess.score) for guess in guesses]
    return [Guess(" ".join(word.raw for word in rest), score) for rest, score in rests if rest]
