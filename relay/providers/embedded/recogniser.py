"""Speech to text: Whisper by CTranslate2, five guesses for each utterance."""

import re
from collections.abc import Callable
from pathlib import Path

import ctranslate2
import numpy as np
from msgspec import structs
from tokenizers import Tokenizer

from relay.providers.embedded.guess import Guess
from relay.providers.embedded.mel import RATE_HZ, Floats, log_mel
from relay.providers.embedded.numbers import DIGIT_WORDS

GUESSES = 5
PROMPT_MAX_TOKENS = 160
_WINDOW_S, _LONG_WINDOW_S = 10, 30
_LONGEST_IN_WINDOW_S = 9.5
_SHORTEST_S = 0.15
_LOOP_WORDS = 3
_BARRED_BY_MODEL = -1  # what its own configuration bars
_TIMESTAMPS = 1_501  # each 20 ms of 30 s
_BETWEEN = (",", ".", "?")


class Recogniser:
    """Holds the model. Raises on construction what its libraries raise, which is anything."""

    def __init__(self, folder: Path) -> None:
        self._model = ctranslate2.models.Whisper(
            str(folder), device="cpu", compute_type="int8", intra_threads=1, inter_threads=2
        )
        self._tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._start = [self._id("<|startoftranscript|>")]
        if self._model.is_multilingual:
            self._start += [self._id("<|en|>"), self._id("<|transcribe|>")]
        self._previous = self._id("<|startofprev|>")
        self._end_of_text = self._id("<|endoftext|>")
        # It may say that speech begins at 0.00 s, and no other time: when an end is unsure, there
        # are hundreds to choose from, and five guesses would be five times and the same words.
        at_once = self._id("<|notimestamps|>") + 1
        self._barred = [_BARRED_BY_MODEL, *range(at_once + 1, at_once + _TIMESTAMPS)]
        self._narrowed: tuple[frozenset[str], list[int]] = frozenset(), []

    def _id(self, token: str) -> int:
        number: int | None = self._tokens.token_to_id(token)
        if number is None:
            raise ValueError(f"its tokenizer has no {token}")
        return number

    def use_language(self, language: str) -> None:
        """Hear another language than English from now on, by its code. Raises: ValueError."""
        if not self._model.is_multilingual:
            raise ValueError("it knows English only")
        self._start[1] = self._id(f"<|{language}|>")

    def prompt(self, text: str) -> list[int]:
        """The tokens of a vocabulary prompt, cut at its bound."""
        ids: list[int] = self._tokens.encode(" " + text.strip(), add_special_tokens=False).ids
        return ids[:PROMPT_MAX_TOKENS]

    def hear(
        self,
        pcm: bytes,
        prompt: list[int],
        guesses: int = GUESSES,
        closer: Callable[[list[Guess]], frozenset[str] | None] | None = None,
    ) -> list[Guess]:
        """Guesses at what PCM16 at 16 kHz says, the likeliest first; none for next to nothing.

        Where `closer` names words for the guesses, guesses that hold no others are added behind
        them. Two threads may hear at a time.
        """
        samples: Floats = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / np.float32(32_768)
        seconds = len(samples) / RATE_HZ
        if seconds < _SHORTEST_S:
            return []
        features = self._encoded(samples, seconds)
        # Timestamps stay on: without them a short clip is repeated until the length is used up.
        start = [self._previous, *prompt, *self._start] if prompt else self._start
        found = self._guesses(*self._decoded(features, start, seconds, guesses, self._barred))
        words = closer(found) if closer is not None and found else None
        if words:
            barred = [*self._barred, *self._all_but(words)]
            again = self._guesses(*self._decoded(features, start, seconds, guesses, barred))
            found += [structs.replace(guess, closer=True) for guess in again]
        return found

    def _encoded(self, samples: Floats, seconds: float) -> ctranslate2.StorageView:
        window = _WINDOW_S if seconds <= _LONGEST_IN_WINDOW_S else _LONG_WINDOW_S
        features = log_mel(samples, window, self._model.n_mels)[None]
        return self._model.encode(ctranslate2.StorageView.from_array(features))

    def _decoded(
        self,
        features: ctranslate2.StorageView,
        start: list[int],
        seconds: float,
        guesses: int,
        barred: list[int],
    ) -> tuple[list[list[int]], list[float]]:
        # The library halves max_length and takes the prompt off it; both must leave this many.
        room = int(10 + 6 * seconds)
        result = self._model.generate(
            features,
            [start],
            beam_size=guesses,
            num_hypotheses=guesses,
            max_length=max(len(start) + room, 2 * room),
            repetition_penalty=1.1,
            return_scores=True,
            suppress_tokens=barred,
        )[0]
        return result.sequences_ids, result.scores

    def _all_but(self, words: frozenset[str]) -> list[int]:
        """The tokens that belong to none of the words, nor to what stands between words."""
        if self._narrowed[0] != words:
            forms = [*_BETWEEN, *(f" {form}" for word in words for form in (word, word.title()))]
            encoded = self._tokens.encode_batch(forms, add_special_tokens=False)
            kept = {number for form in encoded for number in form.ids}
            barred = [number for number in range(self._end_of_text) if number not in kept]
            self._narrowed = words, barred
        return self._narrowed[1]

    def _guesses(self, sequences: list[list[int]], scores: list[float]) -> list[Guess]:
        seen: dict[str, Guess] = {}
        for ids, score in zip(sequences, scores, strict=True):
            words = [number for number in ids if number < self._end_of_text]
            text = cut_loop(self._tokens.decode(words).strip())
            if text:
                seen.setdefault(text, Guess(text, score))
        return list(seen.values())


def cut_loop(text: str) -> str:
    """The text up to where its first words begin again, which is how Whisper loops.

    The same words are the same, be it that a number is written as a word once and once in figures.
    """
    words = text.split()
    plain = [re.sub(r"[^a-z0-9]", "", word.lower()) for word in words]
    keys = [DIGIT_WORDS.get(word, word) for word in plain]
    head = keys[:_LOOP_WORDS]
    for start in range(_LOOP_WORDS, len(keys) - _LOOP_WORDS + 1):
        if keys[start : start + _LOOP_WORDS] == head:
            return " ".join(words[:start]).rstrip(" ,.;")
    return text
