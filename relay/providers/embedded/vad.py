"""Where speech begins and ends in a stream of sound. Its clock is the samples, never the time.

So a file that is streamed faster than real time, in pieces of any size, gives the same
utterances as a microphone.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Literal

import numpy as np
from msgspec import Struct

from relay.providers.embedded.wire import EAR_BYTES

RATE_HZ = 16_000
FRAME_BYTES = EAR_BYTES
FRAME_SAMPLES = FRAME_BYTES // 2
FRAME_MS = FRAME_SAMPLES * 1000 / RATE_HZ
Detector = Callable[[bytes], float]
"""The probability of speech in one frame; keeps state between the frames of one stream."""


class Edge(Enum):
    """What happened."""

    STARTED = "started"


class Utterance(Struct, frozen=True):
    """Speech with a little silence around it, PCM16 at `RATE_HZ`; perhaps empty."""

    pcm: bytes
    end_s: float
    """Where in the stream it ended."""
    by_hand: bool = False
    """The client said where it starts and ends."""


class Pause(Struct, frozen=True):
    """Speech that may be over: `pcm` is what the utterance will be unless it goes on."""

    pcm: bytes


EarEvent = Edge | Pause | Utterance


class Tuning(Struct, frozen=True, kw_only=True):
    """When a stream counts as speech."""

    on: float = 0.5
    off: float = 0.35
    onset_frames: int = 3
    end_silence_ms: float = 480
    before_ms: float = 320
    after_ms: float = 224
    utterance_max_ms: float = 20_000
    # A frame whose loudest sample is below this is silence; the detector is not asked.
    silence_peak: int = 48
    # While the engine speaks: what is quieter (root mean square, about -42 dBFS) may be its echo
    echo_level: float = 260
    echo_after_ms: float = 500


class Ears:
    """One session's stream."""

    def __init__(self, detector: Detector, tuning: Tuning | None = None) -> None:
        self._detector = detector
        self._tuning = tuning or Tuning()
        self._rest = b""
        self._heard_s = 0.0
        self._before: deque[bytes] = deque(maxlen=_frames(self._tuning.before_ms))
        self._onset = 0
        self._stands_out = False
        self._echo_until_s = -math.inf
        self._frames: list[bytes] = []
        self._silent = 0
        self._speaking = False
        self._by_hand: Literal["no", "open", "shut"] = "no"

    def push(self, pcm: bytes) -> Iterator[EarEvent]:
        """Hear whole samples; yields what happened, in its order."""
        data = self._rest + pcm
        whole = len(data) - len(data) % FRAME_BYTES
        self._rest = data[whole:]
        for start in range(0, whole, FRAME_BYTES):
            yield from self._frame(data[start : start + FRAME_BYTES])

    def expect_echo(self, seconds: float) -> None:
        """So much sound more will be played to the person; from any thread."""
        self._echo_until_s = max(self._echo_until_s, self._heard_s) + seconds

    def expect_no_echo(self) -> None:
        """What is still to be played is dropped."""
        self._echo_until_s = min(self._echo_until_s, self._heard_s)

    @property
    def spoken_s(self) -> float:
        """How long the utterance is that goes on, with what comes before it; 0 in silence."""
        return len(self._frames) * FRAME_SAMPLES / RATE_HZ

    def so_far(self) -> bytes:
        """What was said so far in it."""
        return b"".join(self._frames)

    def activity(self, kind: Literal["start", "end"]) -> Iterator[EarEvent]:
        """Take a push-to-talk edge; from the first one on the client's word alone counts."""
        if kind == "start":
            self._forget()
            self._by_hand = "open"
            yield Edge.STARTED
        elif self._by_hand == "open":
            utterance = Utterance(b"".join(self._frames) + self._rest, self._heard_s, by_hand=True)
            self._forget()
            self._by_hand = "shut"
            yield utterance

    def _frame(self, frame: bytes) -> Iterator[EarEvent]:
        self._heard_s += FRAME_SAMPLES / RATE_HZ
        if self._by_hand == "shut":
            return
        if self._by_hand == "open":
            self._frames.append(frame)
            if self._too_long():
                yield from self.activity("end")
            return
        speech = self._probability(frame)
        if self._speaking:
            yield from self._go_on(frame, speech)
        else:
            yield from self._wait(frame, speech)

    def _probability(self, frame: bytes) -> float:
        samples = np.frombuffer(frame, dtype="<i2")
        quiet = int(samples.max()) < self._tuning.silence_peak > -int(samples.min())
        return 0.0 if quiet and not self._speaking else self._detector(frame)

    def _wait(self, frame: bytes, speech: float) -> Iterator[Edge]:
        self._before.append(frame)
        self._onset = self._onset + 1 if speech >= self._tuning.on else 0
        self._stands_out = self._onset > 0 and (self._stands_out or not self._may_be_echo(frame))
        if self._onset >= self._tuning.onset_frames and self._stands_out:
            self._speaking = True
            self._frames = list(self._before)
            self._silent = 0
            yield Edge.STARTED

    def _may_be_echo(self, frame: bytes) -> bool:
        if self._heard_s >= self._echo_until_s + self._tuning.echo_after_ms / 1000:
            return False
        samples = np.frombuffer(frame, dtype="<i2").astype(np.float32)
        return float(np.sqrt(np.mean(samples * samples))) < self._tuning.echo_level

    def _go_on(self, frame: bytes, speech: float) -> Iterator[EarEvent]:
        self._frames.append(frame)
        self._silent = 0 if speech >= self._tuning.off else self._silent + 1
        if self._silent == _frames(self._tuning.after_ms):
            yield Pause(b"".join(self._frames))
        if self._silent >= _frames(self._tuning.end_silence_ms) or self._too_long():
            surplus = max(self._silent - _frames(self._tuning.after_ms), 0)
            kept = self._frames[: len(self._frames) - surplus]
            self._forget()
            yield Utterance(b"".join(kept), self._heard_s)

    def _too_long(self) -> bool:
        return len(self._frames) >= _frames(self._tuning.utterance_max_ms)

    def _forget(self) -> None:
        self._frames = []
        self._before.clear()
        self._rest = b"" if self._by_hand != "no" else self._rest
        self._onset = self._silent = 0
        self._speaking = self._stands_out = False


def _frames(ms: float) -> int:
    return round(ms / FRAME_MS)
