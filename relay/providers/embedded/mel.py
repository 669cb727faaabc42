"""Log-mel features as Whisper wants them. Pure arithmetic.

Source: Whisper's published preprocessing: 16 kHz, windows of 400 samples every 160, 80 bands
(128 in its largest models) on Slaney's mel scale, log10 clamped to 8 below its highest value,
then (x + 4) / 4.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
HOP = 160
_WINDOW = 400
BANDS = 80
_LINEAR_HZ = 200.0 / 3
_KNEE_HZ, _KNEE_MEL = 1_000.0, 15.0
_LOG_STEP = np.log(6.4) / 27.0

Floats = NDArray[np.float32]


def log_mel(samples: Floats, seconds: int, bands: int = BANDS) -> Floats:
    """Features [bands, 100 * seconds] of samples in -1..1, padded with silence or cut."""
    length = seconds * RATE_HZ
    padded = np.zeros(length + _WINDOW, dtype=np.float32)
    kept = samples[:length]
    padded[_WINDOW // 2 : _WINDOW // 2 + len(kept)] = kept
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP][: length // HOP]
    power = np.abs(np.fft.rfft(windows * _HANN, axis=1)) ** 2
    log = np.log10(np.maximum(_filters(bands) @ power.T, 1e-10))
    log = np.maximum(log, log.max() - 8.0)
    return np.ascontiguousarray((log + 4.0) / 4.0, dtype=np.float32)


def _mel_to_hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = mel * _LINEAR_HZ
    return np.where(
        mel < _KNEE_MEL, linear, _KNEE_HZ * np.exp(_LOG_STEP * np.maximum(mel - _KNEE_MEL, 0))
    )


@cache
def _filters(bands: int) -> NDArray[np.float64]:
    top = _KNEE_MEL + np.log(RATE_HZ / 2 / _KNEE_HZ) / _LOG_STEP
    edges = _mel_to_hz(np.linspace(0.0, top, bands + 2))
    bins = np.fft.rfftfreq(_WINDOW, 1 / RATE_HZ)
    widths = np.diff(edges)
    slopes = edges[:, None] - bins[None, :]
    rising = -slopes[:-2] / widths[:-1, None]
    falling = slopes[2:] / widths[1:, None]
    area = 2.0 / (edges[2:] - edges[:-2])
    return np.asarray(np.maximum(0.0, np.minimum(rising, falling)) * area[:, None])


_HANN = np.hanning(_WINDOW + 1)[:-1]
