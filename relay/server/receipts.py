"""How much of the sound a client has really read, told by the pings that follow the sound.

TCP takes many seconds of sound for a client that has stopped reading, and an interruption could
not take them back. A WebSocket client answers a ping when it comes to it, so its pong says that
everything before has been read. A client that never answered one is not held back. Pure.
"""

from collections import deque
from collections.abc import Callable
from time import monotonic

from msgspec import Struct

_EVERY_MS = 100.0  # or half the lead, if that is less
_PREFIX = b"read:"
_OUTSTANDING_MAX = 64


class _Mark(Struct, frozen=True):
    payload: bytes
    total_ms: float
    at: float


class Receipts:
    """The sound of one client. At most `lead_ms`, and what is in flight, may be unread."""

    def __init__(self, lead_ms: float, clock: Callable[[], float] = monotonic) -> None:
        self._lead_ms = lead_ms
        self._every_ms = min(_EVERY_MS, lead_ms / 2)
        self._clock = clock
        self._sent_ms = 0.0
        self._marked_ms = 0.0
        self._read_ms = 0.0
        self._marks: deque[_Mark] = deque(maxlen=_OUTSTANDING_MAX)
        self._round_trip_ms: float | None = None  # the shortest seen: what the way alone takes

    def first(self) -> bytes:
        """Return a ping to send before any sound."""
        return self._mark()

    def has_room(self, ms: float) -> bool:
        """Whether so much more may be sent."""
        if self._round_trip_ms is None or not self._marks:
            return True  # nothing that could be answered, so nothing to wait for
        unread_ms = self._sent_ms - self._read_ms
        return unread_ms + ms <= self._lead_ms + 2 * self._round_trip_ms

    def sent(self, ms: float) -> bytes | None:
        """Note sound that was sent; return the ping to send after it, if one is due."""
        self._sent_ms += ms
        if self._sent_ms - self._marked_ms < self._every_ms:
            return None
        return self._mark()

    def answered(self, payload: bytes) -> None:
        """Note a pong; one that answers no ping of ours means nothing."""
        if not any(mark.payload == payload for mark in self._marks):
            return
        while self._marks:
            mark = self._marks.popleft()
            if mark.payload == payload:
                self._read_ms = mark.total_ms
                took_ms = (self._clock() - mark.at) * 1000
                shortest = self._round_trip_ms
                self._round_trip_ms = took_ms if shortest is None else min(shortest, took_ms)
                return

    def _mark(self) -> bytes:
        self._marked_ms = self._sent_ms
        payload = _PREFIX + str(round(self._sent_ms)).encode()
        self._marks.append(_Mark(payload, self._sent_ms, self._clock()))
        return payload
