"""How loud an utterance is: what of it stands out, and whether it is only background. Pure.

Arithmetic on samples alone, so that a recording gives the same result as a microphone.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from relay.providers.embedded.vad import FRAME_SAMPLES, RATE_HZ, Utterance

_SMOOTH_FRAMES = 5
_FLOOR_DB = -90.0
# Who speaks to the microphone is at the loudest sound and, from there on, in what is not far below
# it; then in what stands out from the rest, and is not too far below
_LOUDEST_DB, _NEAR_DB, _ABOVE_REST_DB, _FAR_DB = 5.0, 10.0, 8.0, 30.0
_REST_PERCENT = 35
_PAUSE_S, _AWAY_S, _REST_MIN_S = 0.5, 0.2, 0.3
_BEFORE_S, _AFTER_S = 0.25, 0.4
_NOISY_DB = 36.0
_BACKGROUND_DB = 9.0
_MEMORY_S = 15.0
_Levels = NDArray[np.float64]


def foreground(pcm: bytes) -> bytes:
    """The utterance without quieter sound before and after, if it is noisy; else as it is."""
    levels = _levels(pcm)
    if len(levels) <= _SMOOTH_FRAMES:
        return pcm
    low, high = np.percentile(levels, (10, 95))
    if high - low > _NOISY_DB:
        return pcm
    loudest = float(levels.max())
    near = np.flatnonzero(levels > loudest - _LOUDEST_DB)
    start, end = _grown(levels, int(near[0]), int(near[-1]) + 1, loudest - _NEAR_DB)
    away = _frames(_AWAY_S)
    rest = np.concatenate([levels[: max(start - away, 0)], levels[end + away :]])
    if len(rest) < _frames(_REST_MIN_S):
        return pcm
    usual = float(np.percentile(rest, _REST_PERCENT)) + _ABOVE_REST_DB
    least = min(loudest - _NEAR_DB, max(usual, loudest - _FAR_DB))
    start, end = _grown(levels, start, end, least)
    first = max(start * FRAME_SAMPLES - int(_BEFORE_S * RATE_HZ), 0)
    last = end * FRAME_SAMPLES + int(_AFTER_S * RATE_HZ)
    return pcm[2 * first : 2 * last]


def _grown(levels: _Levels, start: int, end: int, least: float) -> tuple[int, int]:
    """The stretch of frames with all that is loud enough and no more than a pause away from it."""
    pause, loud = _frames(_PAUSE_S), levels > least
    while (before := np.flatnonzero(loud[max(start - pause, 0) : start])).size:
        start = max(start - pause, 0) + int(before[0])
    while (after := np.flatnonzero(loud[end : end + pause])).size:
        end += int(after[-1]) + 1
    return start, end


def _frames(seconds: float) -> int:
    return int(seconds * RATE_HZ / FRAME_SAMPLES)


class Nearness(Struct):
    """Tells the person who speaks to the microphone from other people behind."""

    level_db: float = _FLOOR_DB
    until_s: float = 0.0

    def is_background(self, utterance: Utterance) -> bool:
        """Whether it is far quieter than what was heard shortly before."""
        levels = _levels(utterance.pcm)
        if utterance.by_hand or not len(levels):
            return False
        level_db = float(np.percentile(levels, 95))
        recent = utterance.end_s < self.until_s + _MEMORY_S
        if recent and level_db < self.level_db - _BACKGROUND_DB:
            return True
        self.level_db, self.until_s = level_db, utterance.end_s
        return False


def _levels(pcm: bytes) -> _Levels:
    """Level of each frame in dB below full scale, smoothed."""
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float64) / 32_768
    whole = len(samples) // FRAME_SAMPLES
    frames = samples[: whole * FRAME_SAMPLES].reshape(whole, FRAME_SAMPLES)
    power = (frames**2).mean(axis=1)
    if whole >= _SMOOTH_FRAMES:
        power = np.convolve(power, np.full(_SMOOTH_FRAMES, 1 / _SMOOTH_FRAMES), mode="same")
    return np.asarray(np.maximum(10 * np.log10(power + 1e-12), _FLOOR_DB))
