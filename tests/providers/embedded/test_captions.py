"""What is shown while somebody still speaks, and when nothing is."""

import pytest

from relay.providers.embedded import wire
from relay.providers.embedded.guess import Guess
from tests.fakes.voice import ALL_CARDS

pytest.importorskip("ctranslate2", reason="the speech engine is not installed")
from tests.providers.embedded.test_hearing import CALLED, LOUD, OPEN, QUIET, STOP, Bench, kinds


def half_said(bench: Bench, **options: bool) -> Bench:
    """A second and a half of speech that goes on."""
    bench.take(wire.Open("s", ALL_CARDS, **options))
    bench.work()
    return bench.take(wire.Hear("s", LOUD * 47))


def captions(said: list[wire.FromEngine]) -> list[tuple[str, bool, str]]:
    return [(one.text, one.final, one.turn_id) for one in said if isinstance(one, wire.Caption)]


def test_what_is_being_said_is_captioned_in_the_turn_that_follows() -> None:
    bench = half_said(Bench(STOP, Guess("stop the time")))
    bench.write()
    bench.take(wire.Hear("s", QUIET * 30))
    said = bench.work()
    assert kinds(said) == ["Started", "Caption", *CALLED[1:]]
    assert bench.recogniser.asked == 2
    (turn,) = [one.turn_id for one in said if isinstance(one, wire.Turn)]
    assert captions(said) == [(STOP.text, False, turn), (STOP.text, True, turn)]


def test_a_caption_that_is_too_late_is_not_shown() -> None:
    bench = half_said(Bench(STOP)).take(wire.Hear("s", QUIET * 30))
    bench.write()
    said = bench.work()
    assert [final for _, final, _ in captions(said)] == [True]
    bench = half_said(Bench(STOP)).take(wire.Close("s"))
    bench.work()
    bench.write()
    assert bench.work() == []


@pytest.mark.parametrize(
    "before",
    [
        [wire.Typed("s", "hello")],
        [wire.Open("t", ALL_CARDS), wire.Hear("t", LOUD * 5)],
        [wire.Close("s"), wire.Open("s", ALL_CARDS, captions=False)],
    ],
    ids=["something waits", "somebody else speaks", "nobody reads"],
)
def test_no_caption_is_written_when(before: list[wire.ToEngine]) -> None:
    bench = Bench(STOP).take(OPEN)
    bench.work()
    bench.take(*before, wire.Hear("s", LOUD * 47))
    bench.write()
    assert bench.recogniser.asked == 0


def test_a_short_word_has_no_caption_before_its_end() -> None:
    bench = Bench(STOP).take(OPEN)
    bench.work()
    bench.take(wire.Hear("s", LOUD * 15))
    bench.write()
    assert kinds(bench.work()) == ["Started"]


def test_words_that_turn_out_to_be_none_are_taken_back() -> None:
    bench = half_said(Bench(STOP))
    bench.write()
    bench.recogniser.guesses = []
    said = bench.take(wire.Hear("s", QUIET * 30)).work()
    assert kinds(said) == ["Started", "Caption", "Stopped", "Turn", "Caption", "Done"]
    assert [(text, final) for text, final, _ in captions(said)] == [(STOP.text, False), ("", True)]


def test_a_second_session_does_not_end_the_captions_of_the_first_for_good() -> None:
    bench = Bench(STOP).take(OPEN, wire.Open("t", ALL_CARDS))
    bench.work()
    bench.take(wire.Hear("t", LOUD * 5), wire.Close("t"), wire.Hear("s", LOUD * 47))
    bench.work()
    bench.take(wire.Hear("s", LOUD))
    bench.write()
    assert bench.recogniser.asked == 1
