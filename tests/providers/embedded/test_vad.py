"""The detector here calls a frame speech when it is loud; what is tested is the end-pointing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.providers.embedded.vad import (
    FRAME_BYTES,
    FRAME_MS,
    EarEvent,
    Ears,
    Edge,
    Pause,
    Tuning,
    Utterance,
)

QUIET, LOUD = bytes(FRAME_BYTES), np.full(FRAME_BYTES // 2, 9_000, dtype="<i2").tobytes()


def loudness(frame: bytes) -> float:
    assert len(frame) == FRAME_BYTES
    return float(np.abs(np.frombuffer(frame, dtype="<i2")).max() > 1_000)


def heard(stream: bytes, chunk: int = FRAME_BYTES) -> list[EarEvent]:
    ears = Ears(loudness)
    return [
        event
        for start in range(0, len(stream), chunk)
        for event in ears.push(stream[start : start + chunk])
    ]


SPOKEN = QUIET * 30 + LOUD * 20 + QUIET * 30


def test_speech_starts_and_ends_once() -> None:
    started, pause, utterance = heard(SPOKEN)
    assert started is Edge.STARTED
    assert isinstance(utterance, Utterance)
    assert pause == Pause(utterance.pcm)
    assert LOUD * 20 in utterance.pcm
    silence_ms = (len(utterance.pcm) / FRAME_BYTES - 20) * FRAME_MS
    assert silence_ms < 600


@pytest.mark.parametrize("end_ms", [250, 480, 1_000])
def test_the_silence_that_ends_a_turn_is_a_setting(end_ms: float) -> None:
    ears = Ears(loudness, Tuning(end_silence_ms=end_ms))
    frames = round(end_ms / FRAME_MS)
    events = list(ears.push(QUIET * 30 + LOUD * 20 + QUIET * (frames - 1)))
    assert not any(isinstance(event, Utterance) for event in events)
    (utterance,) = ears.push(QUIET)
    assert utterance == Utterance(heard(SPOKEN)[-1].pcm, utterance.end_s)  # type: ignore[union-attr]


def test_silence_and_a_click_are_no_speech() -> None:
    assert heard(QUIET * 200) == []
    assert heard(QUIET * 50 + LOUD * 2 + QUIET * 50) == []


def test_a_pause_inside_a_sentence_does_not_end_it() -> None:
    events = heard(QUIET * 20 + LOUD * 10 + QUIET * 12 + LOUD * 10 + QUIET * 30)
    started, first, second, utterance = events
    assert started is Edge.STARTED
    assert isinstance(first, Pause)
    assert isinstance(second, Pause)
    assert isinstance(utterance, Utterance)
    assert len(first.pcm) < len(second.pcm) == len(utterance.pcm)


def test_two_sentences_are_two_utterances() -> None:
    assert [type(event) for event in heard(SPOKEN + SPOKEN)] == 2 * [Edge, Pause, Utterance]


@given(st.integers(min_value=1, max_value=3_000).map(lambda samples: 2 * samples))
def test_the_size_of_the_pieces_changes_nothing(chunk: int) -> None:
    assert heard(SPOKEN + SPOKEN, chunk) == heard(SPOKEN + SPOKEN)


def test_endless_speech_is_cut_into_utterances() -> None:
    frames = int(2.2 * Tuning().utterance_max_ms / FRAME_MS)
    assert heard(LOUD * frames).count(Edge.STARTED) == 3


def test_the_detector_is_not_asked_about_silence() -> None:
    def never(_: bytes) -> float:
        raise AssertionError

    assert list(Ears(never).push(QUIET * 100)) == []


def test_push_to_talk_takes_everything_between_the_edges() -> None:
    ears = Ears(loudness)
    assert list(ears.push(LOUD * 2)) == []
    assert list(ears.activity("start")) == [Edge.STARTED]
    assert list(ears.push(QUIET * 40 + LOUD + QUIET[:10])) == []
    (utterance,) = ears.activity("end")
    assert isinstance(utterance, Utterance)
    assert (utterance.pcm, utterance.by_hand) == (QUIET * 40 + LOUD + QUIET[:10], True)
    assert list(ears.activity("end")) == []


def test_after_push_to_talk_nothing_else_is_heard() -> None:
    ears = Ears(loudness)
    empty = Utterance(b"", 0.0, by_hand=True)
    assert [*ears.activity("start"), *ears.activity("end")] == [Edge.STARTED, empty]
    assert list(ears.push(SPOKEN)) == []
    assert list(ears.activity("start")) == [Edge.STARTED]


@pytest.mark.parametrize("surplus_ms", [500, 5_000])
def test_a_held_button_is_bounded_too(surplus_ms: float) -> None:
    ears = Ears(loudness)
    frames = int((Tuning().utterance_max_ms + surplus_ms) / FRAME_MS)
    events = [*ears.activity("start"), *ears.push(LOUD * frames), *ears.activity("end")]
    assert len(events) == 2
    assert isinstance(events[1], Utterance)
    assert len(events[1].pcm) / FRAME_BYTES * FRAME_MS <= Tuning().utterance_max_ms + FRAME_MS
