"""From the sound of an utterance to guesses at it: at what stands out of it, or at the whole.

What is quieter around whoever is loudest is not listened to. Now and then that is the end of what
the same person says. So where a command is in doubt without it, the whole is heard as well.
"""

from collections.abc import Sequence
from typing import Protocol

from relay.providers.embedded.guess import Guess
from relay.providers.embedded.loudness import foreground
from relay.providers.embedded.mel import RATE_HZ
from relay.providers.embedded.recogniser import GUESSES, Recogniser

# Less than this holds no word
_CUT_MIN_S = 0.3
_BYTES_A_SECOND = 2 * RATE_HZ


class Listener(Protocol):
    """Who knows what may be said: a dialogue."""

    prompt: str

    def doubts(self, guesses: Sequence[Guess]) -> bool:
        """Whether no clear command was heard."""

    def prefers(self, whole: Sequence[Guess], part: Sequence[Guess]) -> bool:
        """Whether the whole of an utterance says more than the loudest part of it."""

    def closer(self, guesses: Sequence[Guess]) -> frozenset[str] | None:
        """The words to listen for once more."""


def listen(recogniser: Recogniser, pcm: bytes, listener: Listener) -> list[Guess]:
    """Guesses at PCM16 at 16 kHz, of one reading or two; see `Recogniser.hear`."""
    prompt = recogniser.prompt(listener.prompt)
    loudest = foreground(pcm)
    if len(pcm) - len(loudest) < _CUT_MIN_S * _BYTES_A_SECOND:
        return recogniser.hear(loudest, prompt, GUESSES, listener.closer)
    better: list[Guess] = []

    def closer(part: list[Guess]) -> frozenset[str] | None:
        if listener.doubts(part):
            whole = recogniser.hear(
                pcm,
                prompt,
                GUESSES,
                lambda whole: listener.closer(whole) if listener.prefers(whole, part) else None,
            )
            if listener.prefers(whole, part):
                better.extend(whole)
                return None
        return listener.closer(part)

    found = recogniser.hear(loudest, prompt, GUESSES, closer)
    return better or found


def glimpse(recogniser: Recogniser, pcm: bytes, listener: Listener) -> str:
    """The likeliest words alone, of what was said so far."""
    found = recogniser.hear(foreground(pcm), recogniser.prompt(listener.prompt), 1)
    return found[0].text if found else ""
