"""Noise for the bench of the embedded voice: babble and a kitchen, at a level in dB.

The level is the public Picovoice speech-to-intent benchmark's: the energy of the loudest frame of
128 ms of the speech, over that of the loudest frame of the noise. So a kitchen is measured by the
ringing of its dishes, and at the same dB speech stands out less from it than by the mean of both.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
LEVELS_DB = (24, 18, 12, 6)
NOISY = tuple(f"{kind} {level}" for kind in ("babble", "kitchen") for level in LEVELS_DB)
_FRAME_SAMPLES = 2_048
_TALKERS = 6
_BABBLE_HZ = 4_000
_PEAK = 32_000
_ALONE_S, _ALONE_PEAK = 5, 8_000
Samples = NDArray[np.float64]


def mixed(pcm: bytes, condition: str, seed: str, others: Sequence[bytes]) -> bytes:
    """PCM16 with noise in it; always the same for the same seed. `others` talk in the babble."""
    if condition == "clean":
        return pcm
    kind, level_db = condition.split()
    rng = np.random.default_rng(list(f"{seed} {condition}".encode()))
    speech = _samples(pcm)
    noise = _babble(rng, len(speech), others) if kind == "babble" else _kitchen(rng, len(speech))
    wanted = loudest(speech) / 10 ** (float(level_db) / 10)
    both = speech + noise * np.sqrt(wanted / loudest(noise))
    return bytes((both * min(1.0, _PEAK / np.abs(both).max())).astype("<i2").tobytes())


def alone(kind: str, seed: str, others: Sequence[bytes]) -> bytes:
    """PCM16 of nothing but noise, for five seconds."""
    rng = np.random.default_rng(list(seed.encode()))
    length = _ALONE_S * RATE_HZ
    noise = _babble(rng, length, others) if kind == "babble" else _kitchen(rng, length)
    return bytes((noise * (_ALONE_PEAK / np.abs(noise).max())).astype("<i2").tobytes())


def loudest(sound: Samples) -> float:
    """The energy of its loudest frame."""
    whole = len(sound) // _FRAME_SAMPLES * _FRAME_SAMPLES
    frames = sound[:whole].reshape(-1, _FRAME_SAMPLES)
    return float((frames**2).sum(axis=1).max())


def _samples(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, dtype="<i2").astype(np.float64)


def _babble(rng: np.random.Generator, length: int, others: Sequence[bytes]) -> Samples:
    """Six talkers, each as loud as the others, behind a low-pass."""
    total = np.zeros(length)
    for number in rng.choice(len(others), _TALKERS, replace=len(others) < _TALKERS):
        talker = _samples(others[int(number)])
        talker = np.resize(talker / max(float(talker.std()), 1.0), length)
        total += np.roll(talker, int(rng.integers(length)))
    spectrum = np.fft.rfft(total)
    spectrum[np.fft.rfftfreq(length, 1 / RATE_HZ) > _BABBLE_HZ] = 0
    return np.fft.irfft(spectrum, length)


def _kitchen(rng: np.random.Generator, length: int) -> Samples:
    """Pink noise and the ringing of dishes."""
    spectrum = np.fft.rfft(rng.standard_normal(length))
    spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 20))
    noise = np.fft.irfft(spectrum, length)
    noise /= noise.std()
    for _ in range(max(1, length // (RATE_HZ // 2))):
        start = int(rng.integers(length - 1))
        seconds = np.arange(min(RATE_HZ // 7, length - start)) / RATE_HZ
        ring = 6 * np.exp(-60 * seconds) * np.sin(2 * np.pi * rng.uniform(800, 4_000) * seconds)
        noise[start : start + len(seconds)] += ring
    return noise
