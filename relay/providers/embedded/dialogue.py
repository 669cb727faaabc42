"""One session's side of the conversation, in the engine: what to do about each utterance.

It never sees sound. What it does depends on what was said and on the tools, never on when.
"""

import secrets
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from relay.providers.embedded import answers, wire
from relay.providers.embedded.decisions import Act, Ask, Check, Decision, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.sounds import Sounds
from relay.providers.embedded.toolbox import Toolbox, yes_or_no
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
        self._confirming: Act | None = None
        self._before = _Before()
        self._running: dict[str, _Running] = {}
        self._cut: set[str] = set()
        self.use(tools)

    def use(self, tools: list[wire.ToolCard]) -> None:
        """Speak to these tools from now on."""
        self._toolbox = Toolbox(tools, self._sounds)
        self.prompt = vocabulary(tools)

    def heard(self, guesses: Sequence[Guess]) -> None:
        """Take an utterance, as its guesses; none for one that said nothing."""
        turn_id = f"turn_{secrets.token_hex(8)}"
        self._emit(wire.Turn(self._session, turn_id))
        if not guesses:
            self._emit(wire.Done(self._session, turn_id, "nothing-heard"))
            return
        decision = self._follows(guesses) or self._toolbox.decide(guesses, self._asked)
        texts = [guess.text for guess in guesses]
        said = decision.text if decision.text in texts else texts[0]
        self._emit(wire.Caption(self._session, turn_id, "user", said))
        self._do(decision, turn_id)

    def overheard(self) -> None:
        """Let an utterance pass that came from somebody further away."""
        turn_id = f"turn_{secrets.token_hex(8)}"
        self._emit(wire.Turn(self._session, turn_id))
        self._emit(wire.Done(self._session, turn_id, "overheard"))

    def busy(self) -> None:
        """Take an utterance that could not be heard for want of room."""
        turn_id = f"turn_{secrets.token_hex(8)}"
        self._emit(wire.Turn(self._session, turn_id))
        self._emit(wire.Trouble(self._session, "busy", "too many utterances are waiting"))
        self._answer(turn_id, answers.BUSY, "busy")

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
        if asks is None and running.act.then:
            self._call(_Running(running.turn_id, running.act.then[0], told))
            return
        self._confirming = asks
        self._answer(running.turn_id, " ".join(dict.fromkeys(told)), "completed")

    def _follows(self, guesses: Sequence[Guess]) -> Decision | None:
        """What an utterance means that refers to the one before; None for a new command."""
        before, self._before = self._before, _Before()
        confirmed, self._confirming = self._confirming, None
        if before.check is not None:
            return self._checked(before.check, guesses)
        for guess in guesses:
            said = yes_or_no(guess.text)
            if said is not None and confirmed is not None:
                agreed = structs.replace(confirmed, text=guess.text)
                return agreed if said else Decline(guess.text, dropped=True)
        return None if before.act is None else self._toolbox.corrected(guesses, before.act)

    def _checked(self, check: Check, guesses: Sequence[Guess]) -> Decision | None:
        """What was said to a text that was read back."""
        for guess in guesses:
            said = yes_or_no(guess.text)
            if said is not None:
                agreed = structs.replace(check.act, text=guess.text)
                return agreed if said else self._toolbox.wrong(check, guess.text)
        return self._toolbox.reworded(check, guesses)

    def interrupt(self) -> None:
        """Say nothing more in the turns that still wait for a call."""
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
        else:
            self._emit(wire.Caption(self._session, turn_id, "assistant", text))
            pcm = self._say(text)
            for start in range(0, len(pcm), _PIECE_BYTES):
                piece = pcm[start : start + _PIECE_BYTES]
                self._emit(wire.Sound(self._session, turn_id, piece))
        self._emit(wire.Done(self._session, turn_id, reason))
