"""Speech to text: Whisper by CTranslate2, five guesses for each utterance."""

import re
from pathlib import Path

import ctranslate2
import numpy as np
from tokenizers import Tokenizer

from relay.providers.embedded.guess import Guess
from relay.providers.embedded.mel import RATE_HZ, Floats, log_mel

GUESSES = 5
PROMPT_MAX_TOKENS = 160
_WINDOW_S, _LONG_WINDOW_S = 10, 30
_LONGEST_IN_WINDOW_S = 9.5
_SHORTEST_S = 0.15
_LOOP_WORDS = 3


class Recogniser:
    """Holds the model. Raises on construction: RuntimeError, ValueError, OSError."""

    def __init__(self, folder: Path) -> None:
        self._model = ctranslate2.models.Whisper(
            str(folder), device="cpu", compute_type="int8", intra_threads=1, inter_threads=1
        )
        self._tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._start = self._id("<|startoftranscript|>")
        self._previous = self._id("<|startofprev|>")
        self._end_of_text = self._id("<|endoftext|>")

    def _id(self, token: str) -> int:
        number: int | None = self._tokens.token_to_id(token)
        if number is None:
            raise ValueError(f"the speech model's tokenizer has no {token}")
        return number

    def prompt(self, text: str) -> list[int]:
        """The tokens of a vocabulary prompt, cut at its bound."""
        ids: list[int] = self._tokens.encode(" " + text.strip(), add_special_tokens=False).ids
        return ids[:PROMPT_MAX_TOKENS]

    def hear(self, pcm: bytes, prompt: list[int]) -> list[Guess]:
        """Guesses at what PCM16 at 16 kHz says, the likeliest first; none for next to nothing."""
        samples: Floats = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / np.float32(32_768)
        seconds = len(samples) / RATE_HZ
        if seconds < _SHORTEST_S:
            return []
        window = _WINDOW_S if seconds <= _LONGEST_IN_WINDOW_S else _LONG_WINDOW_S
        features = ctranslate2.StorageView.from_array(log_mel(samples, window)[None])
        # Timestamps stay on: without them a short clip is repeated until the length is used up.
        start = [self._previous, *prompt, self._start] if prompt else [self._start]
        # The library halves max_length and takes the prompt off it; both must leave this many.
        room = int(10 + 6 * seconds)
        result = self._model.generate(
            features,
            [start],
            beam_size=GUESSES,
            num_hypotheses=GUESSES,
            max_length=max(len(start) + room, 2 * room),
            repetition_penalty=1.1,
            return_scores=True,
        )[0]
        return self._guesses(result.sequences_ids, result.scores)

    def _guesses(self, sequences: list[list[int]], scores: list[float]) -> list[Guess]:
        seen: dict[str, Guess] = {}
        for ids, score in zip(sequences, scores, strict=True):
            words = [number for number in ids if number < self._end_of_text]
            text = cut_loop(self._tokens.decode(words).strip())
            if text:
                seen.setdefault(text, Guess(text, score))
        return list(seen.values())


def cut_loop(text: str) -> str:
    """The text up to where its first words begin again, which is how Whisper loops."""
    words = text.split()
    keys = [re.sub(r"[^a-z0-9]", "", word.lower()) for word in words]
    head = keys[:_LOOP_WORDS]
    for start in range(_LOOP_WORDS, len(keys) - _LOOP_WORDS + 1):
        if keys[start : start + _LOOP_WORDS] == head:
            return " ".join(words[:start]).rstrip(" ,.;")
    return text
