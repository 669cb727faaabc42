"""One session's side of the conversation, in the engine: what to do about each utterance.

It never sees sound. What it does depends on what was said and on the tools, never on when.
"""

import secrets
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from relay.providers.embedded import answers, wire
from relay.providers.embedded.began import Began, begin
from relay.providers.embedded.consent import yes_or_no
from relay.providers.embedded.decisions import Act, Ask, Check, Confirm, Decision, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.second_ear import SecondEar
from relay.providers.embedded.sounds import Sounds
from relay.providers.embedded.toolbox import Toolbox
from relay.providers.embedded.vocabulary import vocabulary

Emit = Callable[[wire.FromEngine], None]
Say = Callable[[str], bytes]
_PIECE_BYTES = 24_000


class _Running(Struct, frozen=True):
    """A call that was made, and the turn that waits for it."""

    turn_id: str
    act: Act
    told: tuple[str, ...] = ()
    """What the calls before it in the same turn had to say."""


class _Before(Struct, frozen=True):
    """What the last utterance led to, which the next one may refer to."""

    act: Act | None = None
    check: Check | None = None


class _Wish(Struct, frozen=True):
    """What waits for a yes."""

    confirm: Confirm
    answered: int
    """How many answers had been given with its question: an earlier yes is to something else."""


class Dialogue:
    """Decides, calls and answers; one thread uses it."""

    def __init__(
        self, session: str, tools: list[wire.ToolCard], *, emit: Emit, say: Say, sounds: Sounds
    ) -> None:
        self._session = session
        self._emit = emit
        self._say = say
        self._sounds = sounds
        self._asked: Ask | None = None
        self._wish: _Wish | None = None
        self._cards: dict[str, wire.ToolCard] = {}
        self.answered = 0
        """How many answers have been given."""
        self._before = _Before()
        self._running: dict[str, _Running] = {}
        self._cut: set[str] = set()
        self._hushed = False
        self.use(tools)

    def use(self, tools: list[wire.ToolCard]) -> None:
        """Speak to these tools from now on."""
        before, self._cards = self._cards, {card.name: card for card in tools}
        if self._wish is not None:
            name = self._wish.confirm.act.name
            if self._cards.get(name) != before.get(name):
                self._wish = None  # a yes would be to something else
        self._toolbox = Toolbox(tools, self._sounds)
        self._second = SecondEar(self._toolbox)
        self.prompt = vocabulary(tools)

    def doubts(self, guesses: Sequence[Guess]) -> bool:
        """Whether what was heard is no clear command."""
        return not self._second.is_clear(guesses, self._asked)

    def prefers(self, whole: Sequence[Guess], part: Sequence[Guess]) -> bool:
        """Whether to follow the whole of an utterance rather than the loudest part of it.

        Not while a yes is awaited: somebody behind must not turn it into a command.
        """
        awaited = self._wish is not None or self._before.check is not None
        return not awaited and self._second.prefers(whole, part, self._asked)

    def closer(self, guesses: Sequence[Guess]) -> frozenset[str] | None:
        """The words to listen for once more; None when what was heard is clear."""
        return self._second.words(guesses, self._asked)

    def heard(self, guesses: Sequence[Guess], began: Began | None = None) -> None:
        """Take an utterance, as its guesses; none for one that said nothing.

        `began` is what is known of its beginning, None if it began just now.
        """
        began = began or begin(self.answered)
        if not guesses:
            self._pass_over(began, "nothing-heard")
            return
        turn_id = began.turn_id
        self._emit(wire.Turn(self._session, turn_id))
        first = [guess for guess in guesses if not guess.closer]
        follows = self._follows(first, began.answered)
        decision = self._with_a_yes(follows or self._second.decide(guesses, self._asked))
        texts = [guess.text for guess in guesses]
        said = decision.text if decision.text in texts else texts[0]
        self._emit(wire.Caption(self._session, turn_id, "user", said))
        self._do(decision, turn_id)

    def overheard(self, began: Began) -> None:
        """Let an utterance pass that came from somebody further away."""
        self._pass_over(began, "overheard")

    def busy(self, began: Began) -> None:
        """Take an utterance that could not be heard for want of room."""
        self._open(began)
        self._emit(wire.Trouble(self._session, "busy", "too many utterances are waiting"))
        self._answer(began.turn_id, answers.BUSY, "busy")

    def outcome(self, outcome: wire.Outcome) -> None:
        """Answer a call that is done."""
        running = self._running.pop(outcome.call_id, None)
        if running is None:
            return
        asks = None
        if outcome.result_json is not None:
            text = answers.done(running.act.args, outcome.result_json)
            asks = self._toolbox.confirmed(running.act) if text.endswith("?") else None
        else:
            text = answers.failed(outcome.why or "")
        told = (*running.told, text)
        decision = self._with_a_yes(running.act.then[0]) if running.act.then else None
        if asks is None and isinstance(decision, Act):
            self._call(_Running(running.turn_id, decision, told))
            return
        if asks is not None:
            self._wish = _Wish(Confirm(asks, text), self.answered + 1)
        elif isinstance(decision, Confirm):
            told = (*told, decision.question)
            self._wish = _Wish(decision, self.answered + 1)
        self._answer(running.turn_id, " ".join(dict.fromkeys(told)), "completed")

    def _with_a_yes(self, decision: Decision) -> Decision:
        """The decision, with a question before what destroys something."""
        act = decision.act if isinstance(decision, Check) else decision
        if not isinstance(act, Act) or act.agreed:
            return decision
        card = self._cards.get(act.name)
        if card is None or not card.destructive:
            return decision
        return Confirm(act, answers.are_you_sure(card.description, act.name, act.args))

    def _follows(self, guesses: Sequence[Guess], answered: int) -> Decision | None:
        """What an utterance means that refers to the one before; None for a new command."""
        before, self._before = self._before, _Before()
        wish, self._wish = self._wish, None
        if before.check is not None:
            return self._checked(before.check, guesses)
        decision = None if wish is None else _settled(wish, guesses, answered)
        if decision is None and before.act is not None:
            return self._toolbox.corrected(guesses, before.act)
        return decision

    def _checked(self, check: Check, guesses: Sequence[Guess]) -> Decision | None:
        """What was said to a text that was read back."""
        for guess in guesses:
            said = yes_or_no(guess.text)
            if said is not None:
                agreed = structs.replace(check.act, text=guess.text)
                return agreed if said else self._toolbox.wrong(check, guess.text)
        return self._toolbox.reworded(check, guesses)

    def hush(self) -> None:
        """Stop after the sentence that is being made, until `interrupt`; from any thread."""
        self._hushed = True

    def interrupt(self) -> None:
        """Say nothing more in the turns that still wait for a call."""
        self._hushed = False
        self._cut.update(running.turn_id for running in self._running.values())

    def _do(self, decision: Decision, turn_id: str) -> None:
        self._asked = None
        match decision:
            case Act(then=then):
                self._before = _Before(act=then[-1] if then else decision)
                self._call(_Running(turn_id, decision))
            case Check(act=act, slot=slot):
                self._before = _Before(check=decision)
                self._answer(turn_id, answers.heard_as(str(act.args[slot.name])), "asked")
            case Ask(slot=slot):
                self._asked = decision
                self._answer(turn_id, answers.question(slot), "asked")
            case Confirm(act=act, question=question):
                self._before = _Before(act=None if act.then else act)
                self._wish = _Wish(decision, self.answered + 1)
                self._answer(turn_id, question, "asked")
            case Decline(dropped=True):
                self._answer(turn_id, answers.GIVEN_UP, "declined")
            case Decline():
                text = answers.NOT_UNDERSTOOD if self._toolbox.cards else answers.NO_TOOLS
                self._answer(turn_id, text, "declined")

    def _call(self, running: _Running) -> None:
        call_id = f"call_{secrets.token_hex(16)}"
        self._running[call_id] = running
        name, args = running.act.name, running.act.args
        self._emit(wire.Call(self._session, running.turn_id, call_id, name, args))

    def _answer(self, turn_id: str, text: str, reason: str) -> None:
        if turn_id in self._cut:
            self._cut.discard(turn_id)
            self._wish = None  # its question was not heard
        else:
            self._emit(wire.Caption(self._session, turn_id, "assistant", text))
            self._speak(turn_id, text)
        self.answered += 1
        self._emit(wire.Done(self._session, turn_id, reason))

    def _speak(self, turn_id: str, text: str) -> None:
        """One sentence after the other: the first one is heard while the next one is made."""
        for sentence in answers.sentences(text):
            if self._hushed:
                return
            pcm = self._say(sentence)
            for start in range(0, len(pcm), _PIECE_BYTES):
                piece = pcm[start : start + _PIECE_BYTES]
                self._emit(wire.Sound(self._session, turn_id, piece))

    def _open(self, began: Began) -> None:
        """Begin a turn without words; those that were shown already are taken back."""
        self._emit(wire.Turn(self._session, began.turn_id))
        if began.captioned:
            self._emit(wire.Caption(self._session, began.turn_id, "user", ""))

    def _pass_over(self, began: Began, reason: str) -> None:
        self._open(began)
        self._emit(wire.Done(self._session, began.turn_id, reason))


def _settled(wish: _Wish, guesses: Sequence[Guess], answered: int) -> Decision | None:
    """What was said to a question for a yes; the question again if that is in doubt."""
    said = [yes_or_no(guess.text) for guess in guesses]
    if said[0] is False:
        return Decline(guesses[0].text, dropped=True)
    if said[0] and False not in said and answered >= wish.answered:
        return structs.replace(wish.confirm.act, text=guesses[0].text, agreed=True)
    return wish.confirm if True in said else None
