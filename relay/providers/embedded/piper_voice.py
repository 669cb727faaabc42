"""Text to speech by a Piper voice. Only the engine process imports this, if a voice is set.

piper-tts (GPL-3.0-or-later) is the user's own addition; it is no dependency of the relay.
"""

from pathlib import Path

import numpy as np
import piper
import soxr

from relay.providers.embedded.speech import RATE_HZ


class PiperVoice:
    """The synthesiser. Raises on construction what its library raises for a bad file."""

    def __init__(self, path: Path) -> None:
        self._voice = piper.PiperVoice.load(path)

    def say(self, text: str) -> bytes:
        """The text as PCM16 little-endian mono at `RATE_HZ`."""
        pieces = [chunk.audio_int16_array for chunk in self._voice.synthesize(text)]
        if not pieces:
            return b""
        samples = np.concatenate(pieces)
        own_rate = self._voice.config.sample_rate
        return bytes(soxr.resample(samples, own_rate, RATE_HZ, quality="HQ").tobytes())
