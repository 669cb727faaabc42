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
