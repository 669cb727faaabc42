"""Answer audio on its way out: bounded in ms, paced, cleared at once on an interruption.

A client that reads nothing would otherwise swallow minutes of sound into its socket, and an
interruption could not take them back. So sound leaves at most `playout_lead_ms` ahead of real
time. Messages that belong after a piece of sound travel in the same queue.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from relay.protocol.audio import AudioFormat
from relay.protocol.limits import Limits
from relay.protocol.messages import Message

FRAME_MS = 20


class Sound(Struct, frozen=True):
    """PCM of one turn; at most one frame long once it is queued."""

    turn_id: str
    pcm: bytes


class Mark(Struct, frozen=True):
    """A message that follows the sound queued before it."""

    turn_id: str
    message: Message


class AudioQueue:
    """A queue of `Sound` and `Mark`; one consumer."""

    def __init__(
        self,
        *,
        audio: AudioFormat,
        limits: Limits,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._audio = audio
        self._limits = limits
        self._clock = clock
        self._items: deque[Sound | Mark] = deque()
        self._queued_ms = 0.0
        self._arrived = asyncio.Event()
        # real time at which everything sent so far will have been heard
        self._heard_until = 0.0
        self._sent_ms: dict[str, float] = {}

    def push(self, turn_id: str, pcm: bytes) -> bool:
        """Queue whole samples, cut into frames; False when the bound cuts the answer."""
        step = self._audio.bytes_for(FRAME_MS)
        for start in range(0, len(pcm), step):
            piece = pcm[start : start + step]
            duration = self._audio.ms_of(len(piece))
            if self._queued_ms + duration > self._limits.playout_queue_max_ms:
                return False
            self._queued_ms += duration
            self._items.append(Sound(turn_id, piece))
        self._arrived.set()
        return True

    def mark(self, turn_id: str, message: Message) -> None:
        """Send `message` once the sound queued so far is out."""
        self._items.append(Mark(turn_id, message))
        self._arrived.set()

    def clear(self) -> None:
        """Forget all sound, and all messages that waited behind it."""
        self._items.clear()
        self._queued_ms = 0.0
        self._heard_until = self._clock()

    def heard_ms(self, turn_id: str) -> float:
        """Of that turn, how much has been played by now, in ms (never more than was sent)."""
        ahead = max(self._heard_until - self._clock(), 0.0) * 1000
        return max(self._sent_ms.get(turn_id, 0.0) - ahead, 0.0)

    async def due(self) -> None:
        """Wait until the moment of the next item has come."""
        while (early := self._early_s()) is None or early > 0:
            if early is None:
                self._arrived.clear()
                await self._arrived.wait()
            else:
                await asyncio.sleep(early)  # a clear() meanwhile is seen on the next round

    def take(self) -> Sound | Mark | None:
        """The next item if its moment has come; whoever waited in between may find it cleared."""
        early = self._early_s()
        return None if early is None or early > 0 else self._take()

    def _early_s(self) -> float | None:
        """How long the next item has to wait; None when there is none."""
        if not self._items:
            return None
        if isinstance(self._items[0], Mark):
            return 0.0
        lead = self._heard_until - self._clock()
        return lead - self._limits.playout_lead_ms / 1000 + FRAME_MS / 1000

    def _take(self) -> Sound | Mark:
        item = self._items.popleft()
        if isinstance(item, Sound):
            duration = self._audio.ms_of(len(item.pcm))
            self._queued_ms -= duration
            self._heard_until = max(self._heard_until, self._clock()) + duration / 1000
            if item.turn_id not in self._sent_ms:
                self._sent_ms = {item.turn_id: 0.0}  # only the current turn can be interrupted
            self._sent_ms[item.turn_id] += duration
        return item
