"""How loud an utterance is: what of it stands out, and whether it is only background. Pure.

Arithmetic on samples alone, so that a recording gives the same result as a microphone.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from relay.providers.embedded.vad import FRAME_SAMPLES, RATE_HZ, Utterance

_SMOOTH_FRAMES = 5
_FLOOR_DB = -90.0
# Of the way from the noise to the speech; what is quieter at either end is cut off
_STANDS_OUT = 0.4
_MARGIN_S = 0.3
_NOISY_DB = 24.0
_BACKGROUND_DB = 9.0
_MEMORY_S = 15.0
_Levels = NDArray[np.float64]


def foreground(pcm: bytes) -> bytes:
    """The utterance without quieter sound at its ends, if it is noisy; else as it is."""
    levels = _levels(pcm)
    if len(levels) <= _SMOOTH_FRAMES:
        return pcm
    quiet, loud = np.percentile(levels, (10, 95))
    if loud - quiet > _NOISY_DB:
        return pcm
    above = np.flatnonzero(levels > quiet + _STANDS_OUT * (loud - quiet))
    margin = int(_MARGIN_S * RATE_HZ)
    start = max(int(above[0]) * FRAME_SAMPLES - margin, 0)
    end = (int(above[-1]) + 1) * FRAME_SAMPLES + margin
    return pcm[2 * start : 2 * end]


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
