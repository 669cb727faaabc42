"""One session's side of the conversation, in the engine: what to do about each utterance.

It never sees sound. What it does depends on what was said and on the tools, never on when.
"""

import secrets
from collections.abc import Callable, Sequence

from msgspec import Struct

from relay.providers.embedded import answers, wire
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.sounds import Sounds
from relay.providers.embedded.toolbox import Act, Ask, Decision, Decline, Toolbox, yes_or_no
from relay.providers.embedded.vocabulary import vocabulary

Emit = Callable[[wire.FromEngine], None]
Say = Callable[[str], bytes]
_PIECE_BYTES = 24_000


class _Running(Struct, frozen=True):
    """A call that was made, and the turn that waits for it."""

    turn_id: str
    act: Act


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
        decision = self._confirmation(guesses) or self._toolbox.decide(guesses, self._asked)
        self._emit(wire.Caption(self._session, turn_id, "user", decision.text))
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
        if outcome.result_json is not None:
            text = answers.done(running.act.args, outcome.result_json)
            self._confirming = self._toolbox.confirmed(running.act) if text.endswith("?") else None
        else:
            text = answers.failed(outcome.why or "")
        self._answer(running.turn_id, text, "completed")

    def _confirmation(self, guesses: Sequence[Guess]) -> Decision | None:
        """What a yes or a no to a tool's own question means; anything else is a new command."""
        confirmed, self._confirming = self._confirming, None
        if confirmed is None:
            return None
        for guess in guesses:
            said = yes_or_no(guess.text)
            if said is not None:
                text = guess.text
                dropped = Decline(text, dropped=True)
                return Act(text, confirmed.name, confirmed.args) if said else dropped
        return None

    def interrupt(self) -> None:
        """Say nothing more in the turns that still wait for a call."""
        self._cut.update(running.turn_id for running in self._running.values())

    def _do(self, decision: Decision, turn_id: str) -> None:
        self._asked = None
        match decision:
            case Act(name=name, args=args):
                call_id = f"call_{secrets.token_hex(16)}"
                self._running[call_id] = _Running(turn_id, decision)
                self._emit(wire.Call(self._session, turn_id, call_id, name, args))
            case Ask(slot=slot):
                self._asked = decision
                self._answer(turn_id, answers.question(slot), "asked")
            case Decline(dropped=True):
                self._answer(turn_id, answers.GIVEN_UP, "declined")
            case Decline():
                text = answers.NOT_UNDERSTOOD if self._toolbox.cards else answers.NO_TOOLS
                self._answer(turn_id, text, "declined")

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
