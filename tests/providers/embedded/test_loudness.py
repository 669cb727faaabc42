import numpy as np

from relay.providers.embedded.loudness import Nearness, foreground
from relay.providers.embedded.vad import RATE_HZ, Utterance

RANDOM = np.random.default_rng(1)


def noise(level: float, seconds: float) -> bytes:
    samples = RANDOM.normal(0, level, int(seconds * RATE_HZ))
    return np.clip(samples, -32_000, 32_000).astype("<i2").tobytes()


def test_clear_speech_is_left_alone() -> None:
    pcm = noise(2, 1) + noise(4_000, 1) + noise(2, 1)
    assert foreground(pcm) == pcm


def test_noise_around_louder_speech_is_cut_off() -> None:
    loud = noise(6_000, 1)
    kept = foreground(noise(800, 3) + loud + noise(800, 3))
    assert loud in kept
    assert len(kept) < 2 * RATE_HZ * 2


def test_something_tiny_stays_as_it_is() -> None:
    assert foreground(b"") == b""
    assert foreground(bytes(640)) == bytes(640)


def test_quieter_speech_right_after_is_background_but_not_for_ever() -> None:
    nearness = Nearness()
    assert not nearness.is_background(Utterance(noise(6_000, 1), end_s=2))
    assert nearness.is_background(Utterance(noise(600, 1), end_s=5))
    assert not nearness.is_background(Utterance(noise(600, 1), end_s=5, by_hand=True))
    assert not nearness.is_background(Utterance(noise(3_000, 1), end_s=6))
    assert not nearness.is_background(Utterance(noise(600, 1), end_s=60))
    assert not nearness.is_background(Utterance(b"", end_s=60))


def test_a_sound_that_never_changes_stays_whole() -> None:
    for level in (0, 9_000):
        steady = np.full(RATE_HZ, level, dtype="<i2").tobytes()
        assert foreground(steady) == steady


def test_a_pause_and_a_weaker_end_belong_to_the_speech() -> None:
    loud, weak = noise(6_000, 1), noise(1_400, 0.5)
    spoken = loud + noise(300, 0.3) + loud + weak
    kept = foreground(noise(300, 2) + spoken + noise(300, 2))
    assert spoken in kept
    assert len(kept) < len(spoken) + 2 * RATE_HZ


def test_somebody_further_away_is_cut_off_before_and_after() -> None:
    other, loud = noise(1_500, 1), noise(6_000, 1.5)
    kept = foreground(other + noise(400, 0.7) + loud + noise(400, 0.7) + other)
    assert loud in kept
    assert other not in kept
