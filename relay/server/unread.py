"""What peers leave unread: how long it may wait, and how much of it in all.

Looks at the write buffer of each connection, so it holds for whatever fills that: a file, a JSON
answer, a stream, the last words to a socket. It knows no routes and no protocol; a WebSocket has
stricter rules of its own beside this one (`client_socket`).
"""

import asyncio
from typing import Protocol

import structlog

from relay.protocol.limits import Limits

_LOOKS_MIN = 8
_LOOK_MAX_S = 1.0  # a stop waits for no more than two looks
_log = structlog.get_logger(__name__)


class Outlet(Protocol):
    """The way to one peer."""

    def waiting_bytes(self) -> int:
        """What was written and has not left for the peer."""
        ...

    def drop(self) -> None:
        """End the connection at once, with all that waits."""
        ...


class _Seen:
    """How an outlet was at the last look."""

    __slots__ = ("size", "still")

    def __init__(self) -> None:
        self.size = 0
        self.still = 0  # looks in a row at which something waited and nothing had moved

    def note(self, size: int) -> None:
        self.still = self.still + 1 if 0 < self.size <= size else 0
        self.size = size


class Unread:
    """Every open connection, and what its peer has not read."""

    def __init__(self, limits: Limits) -> None:
        self._max_bytes = limits.http_unread_max_bytes
        stuck_s = limits.http_stuck_ms / 1000
        self._pause_s = min(stuck_s / _LOOKS_MIN, _LOOK_MAX_S)
        # Looks in a row, not a time: a stall of the event loop counts as one, and harms nobody
        self._looks = round(stuck_s / self._pause_s)
        self._open: dict[Outlet, _Seen] = {}
        self._asked = False

    def add(self, outlet: Outlet) -> None:
        """Watch a connection from its first moment."""
        self._open[outlet] = _Seen()

    def forget(self, outlet: Outlet) -> None:
        """The connection is closed and its buffer is gone."""
        self._open.pop(outlet, None)

    def moved(self, outlet: Outlet) -> None:
        """The peer took most of what waited; more may wait again by the next look."""
        if outlet in self._open:
            self._open[outlet] = _Seen()

    def grew(self) -> None:
        """Much waits somewhere: weigh all of it, once the write that did it has returned."""
        if not self._asked:
            self._asked = True
            asyncio.get_running_loop().call_soon(self._weigh)

    def hurry(self) -> None:
        """The relay stops: whoever does not read now is not waited for."""
        self._looks = 1

    async def watch(self) -> None:
        """Look again and again; ends only by cancellation."""
        while True:
            await asyncio.sleep(self._pause_s)
            self.look()

    def look(self) -> None:
        """End the connections of which nothing was read since so many looks."""
        for outlet, seen in tuple(self._open.items()):
            seen.note(outlet.waiting_bytes())
            if seen.still >= self._looks:
                self._end(outlet, seen.size)

    def _weigh(self) -> None:
        """While too much waits in all, end who has read nothing for longest, the largest first."""
        self._asked = False
        sizes = {outlet: outlet.waiting_bytes() for outlet in self._open}
        excess = sum(sizes.values()) - self._max_bytes
        if excess <= 0:
            return
        for outlet in sorted(sizes, key=lambda each: (self._open[each].still, sizes[each]))[::-1]:
            self._end(outlet, sizes[outlet])
            excess -= sizes[outlet]
            if excess <= 0:
                return

    def _end(self, outlet: Outlet, size: int) -> None:
        _log.info("unread_dropped", bytes=size)
        outlet.drop()
