"""Text to speech, and text to phonemes, by espeak-ng. Only the engine process imports this.

espeak-ng (GPL-3.0-or-later) is loaded here by ctypes and has global state: one thread uses it.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache

import espeakng_loader
import numpy as np
import soxr

from relay.providers.embedded.wire import SPEECH_HZ

RATE_HZ = SPEECH_HZ
_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_UTF8 = 1
_PHONEMES_ASCII = 0
_RATE, _WORD_GAP = 1, 7
_WORDS_PER_MINUTE = 165
_SamplesCallback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


class Voice:
    """The synthesiser. Raises on construction: OSError, RuntimeError."""

    def __init__(self, name: str = "en-us") -> None:
        self._lib = ctypes.CDLL(espeakng_loader.get_library_path())
        data = str(espeakng_loader.get_data_path()).removesuffix("/espeak-ng-data")
        self._own_rate = self._lib.espeak_Initialize(_SYNCHRONOUS, 0, data.encode(), _DONT_EXIT)
        if self._own_rate <= 0:
            raise RuntimeError("the speech synthesiser found no data")
        if self._lib.espeak_SetVoiceByName(name.encode()) != 0:
            raise RuntimeError(f"the speech synthesiser has no voice {name}")
        self._lib.espeak_SetParameter(_RATE, _WORDS_PER_MINUTE, 0)
        self._pieces: list[bytes] = []
        self._callback = _SamplesCallback(self._take)
        self._lib.espeak_SetSynthCallback(self._callback)
        self._lib.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._lib.espeak_TextToPhonemes.argtypes = [
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.c_int,
            ctypes.c_int,
        ]

    def say(self, text: str) -> bytes:
        """The text as PCM16 little-endian mono at `RATE_HZ`; markup in it is read, not obeyed."""
        self._pieces.clear()
        data = text.encode("utf-8", "replace").replace(b"\0", b" ")
        self._lib.espeak_Synth(data, len(data) + 1, 0, 1, 0, _UTF8, None, None)
        samples = np.frombuffer(b"".join(self._pieces), dtype="<i2")
        if not len(samples):
            return b""
        return bytes(soxr.resample(samples, self._own_rate, RATE_HZ, quality="HQ").tobytes())

    def phonemes(self) -> Callable[[str], str]:
        """A (remembering) function from words to a string with one letter or so per sound."""
        return lru_cache(maxsize=8_192)(self._phonemes_of)

    def _phonemes_of(self, text: str) -> str:
        pointer = ctypes.c_char_p(text.encode("utf-8", "replace").replace(b"\0", b" "))
        clauses: list[str] = []
        while pointer.value is not None:
            sounds = self._lib.espeak_TextToPhonemes(ctypes.byref(pointer), _UTF8, _PHONEMES_ASCII)
            if sounds is None:
                break
            clauses.append(sounds.decode("ascii", "replace"))
        kept = "".join(clauses)
        return "".join(letter for letter in kept if letter not in " '`,_:|-%=;~?")

    def _take(self, samples: "ctypes._Pointer[ctypes.c_short]", count: int, _: object) -> int:
        if count > 0:  # the last call of a text has none
            self._pieces.append(ctypes.string_at(samples, 2 * count))
        return 0
