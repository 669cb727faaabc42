"""All sessions of one engine, between the thread that hears and the one that understands.

The first one takes frames and finds speech, and never waits for the second, which recognises,
decides and speaks, one job at a time. What needs neither is done on the thread that asks.
"""

import threading
from collections.abc import Callable

from relay.providers.embedded import wire
from relay.providers.embedded.began import Began, begin
from relay.providers.embedded.dialogue import Dialogue, Say
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.jobs import Jobs
from relay.providers.embedded.listening import glimpse, listen
from relay.providers.embedded.loudness import Nearness
from relay.providers.embedded.recogniser import Recogniser
from relay.providers.embedded.scribe import EVERY_S, Scribe, SoFar
from relay.providers.embedded.sounds import Sounds
from relay.providers.embedded.vad import EarEvent, Ears, Edge, Pause, Utterance

_WAITING_MAX = 32
_TYPED_MAX_CHARS = 2_000
_Job = Callable[[], None]


class Engine:
    """All sessions of one engine process."""

    def __init__(
        self,
        *,
        recogniser: Recogniser,
        say: Say,
        sounds: Sounds,
        ears: Callable[[], Ears],
        emit: Callable[[wire.FromEngine], None],
    ) -> None:
        self._recogniser = recogniser
        self._say = say
        self._sounds = sounds
        self._new_ears = ears
        self._emit = emit
        self.jobs: Jobs[_Job] = Jobs(most=_WAITING_MAX)
        self._ears: dict[str, Ears] = {}
        self._dialogues: dict[str, Dialogue] = {}
        self._nearness: dict[str, Nearness] = {}
        self._paused: dict[str, bytes] = {}
        self._presumed: dict[str, tuple[bytes, str, list[Guess]]] = {}
        self._uncaptioned: set[str] = set()
        self._being_said: dict[str, Began] = {}
        self._said = threading.Lock()
        self.scribe = Scribe(write=self._write, show=self._show)

    def take(self, message: wire.ToEngine) -> None:
        """Do what a message asks for, or leave it to the other thread."""
        match message:
            case wire.Open(session=session):
                self._ears[session] = self._new_ears()
                if not message.captions:
                    self._uncaptioned.add(session)
                self.jobs.put(lambda: self._begin(message))
            case wire.Hear(session=session, pcm=pcm) if session in self._ears:
                for event in self._ears[session].push(pcm):
                    self._on_ear(session, event)
                self._caption(session)
            case wire.Activity(session=session, kind=kind) if session in self._ears:
                for event in self._ears[session].activity(kind):
                    self._on_ear(session, event)
            case wire.Close(session=session):
                self._ears.pop(session, None)
                self._paused.pop(session, None)
                self._uncaptioned.discard(session)
                self._end_of_speech(session)
                self.jobs.put(lambda: self._forget(session))
            case wire.Ping():
                self._emit(wire.Pong())
            case _:
                self._take_words(message)

    def _take_words(self, message: wire.ToEngine) -> None:
        match message:
            case wire.Tools(session=session, tools=tools):
                self.jobs.put(lambda: self._with(session, lambda one: one.use(tools)))
            case wire.Typed(session=session, text=text):
                guesses = [Guess(text[:_TYPED_MAX_CHARS])] if text.strip() else []
                began = begin(self._answered(session))
                job = lambda: self._with(session, lambda one: one.heard(guesses, began))  # noqa: E731
                self._offer(session, began, job)
            case wire.Outcome(session=session):
                self.jobs.put(
                    lambda: self._with(session, lambda one: one.outcome(message)), first=True
                )
            case wire.Interrupt(session=session):
                self._with(session, Dialogue.hush)
                if session in self._ears:
                    self._ears[session].expect_no_echo()
                self.jobs.put(lambda: self._with(session, Dialogue.interrupt), first=True)
            case _:
                pass  # sound of a session that is gone

    def _on_ear(self, session: str, event: EarEvent) -> None:
        match event:
            case Edge():
                self._being_said[session] = begin(self._answered(session))
                self._emit(wire.Started(session))
            case Pause(pcm=pcm):
                self._paused[session] = pcm
                self.jobs.offer(lambda: self._presume(session, pcm))
            case Utterance():
                began = self._end_of_speech(session) or begin(0)
                self._emit(wire.Stopped(session))
                self._offer(session, began, lambda: self._understand(session, event, began))

    def _answered(self, session: str) -> int:
        dialogue = self._dialogues.get(session)
        return 0 if dialogue is None else dialogue.answered

    def _offer(self, session: str, began: Began, job: _Job) -> None:
        """Leave an utterance to the other thread, or an answer that there is no room for it."""
        if not self.jobs.offer(job):
            self.jobs.put(lambda: self._with(session, lambda one: one.busy(began)), first=True)

    # ---- captions ---------------------------------------------------------------------------

    def _caption(self, session: str) -> None:
        """Have what is being said written down, if nothing else is to be done."""
        began = self._being_said.get(session)
        alone = len(self._being_said) == 1 and session not in self._uncaptioned
        ears = self._ears[session]
        idle = self.jobs.idle and self.scribe.ready
        if began is not None and alone and idle and ears.spoken_s >= EVERY_S:
            self.scribe.offer(SoFar(session, began.turn_id, ears.so_far()))

    def _write(self, so_far: SoFar) -> str:
        """On the scribe's thread."""
        dialogue = self._dialogues.get(so_far.session)
        if dialogue is None:
            return ""
        return glimpse(self._recogniser, so_far.pcm, dialogue)

    def _show(self, so_far: SoFar, text: str) -> None:
        """On the scribe's thread: show a caption unless the person has finished meanwhile."""
        with self._said:
            began = self._being_said.get(so_far.session)
            if began is not None and began.turn_id == so_far.turn_id:
                began.captioned = True
                turn_id = began.turn_id
                self._emit(wire.Caption(so_far.session, turn_id, "user", text, final=False))

    def _end_of_speech(self, session: str) -> Began | None:
        with self._said:
            return self._being_said.pop(session, None)

    # ---- the other thread -------------------------------------------------------------------

    def _begin(self, opened: wire.Open) -> None:
        self._nearness[opened.session] = Nearness()
        self._dialogues[opened.session] = Dialogue(
            opened.session,
            opened.tools,
            emit=self._emit_with_echo if opened.echo_cancellation else self._emit,
            say=self._say,
            sounds=self._sounds,
        )

    def _emit_with_echo(self, message: wire.FromEngine) -> None:
        """Say something of which the session's ears may hear traces."""
        if isinstance(message, wire.Sound):
            ears = self._ears.get(message.session)
            if ears is not None:
                ears.expect_echo(len(message.pcm) / 2 / wire.SPEECH_HZ)
        self._emit(message)

    def _presume(self, session: str, pcm: bytes) -> None:
        """Recognise before it is certain that the person has finished: the silence is not lost."""
        dialogue = self._dialogues.get(session)
        if dialogue is not None and self._paused.get(session) is pcm:
            guesses = listen(self._recogniser, pcm, dialogue)
            self._presumed[session] = (pcm, dialogue.prompt, guesses)

    def _understand(self, session: str, utterance: Utterance, began: Began) -> None:
        dialogue = self._dialogues.get(session)
        if dialogue is None:
            return
        presumed = self._presumed.pop(session, None)
        if self._nearness[session].is_background(utterance):
            dialogue.overheard(began)
        elif presumed is not None and presumed[:2] == (utterance.pcm, dialogue.prompt):
            dialogue.heard(presumed[2], began)
        else:
            dialogue.heard(listen(self._recogniser, utterance.pcm, dialogue), began)

    def _with(self, session: str, act: Callable[[Dialogue], None]) -> None:
        dialogue = self._dialogues.get(session)
        if dialogue is not None:
            act(dialogue)

    def _forget(self, session: str) -> None:
        self._dialogues.pop(session, None)
        self._nearness.pop(session, None)
        self._presumed.pop(session, None)
