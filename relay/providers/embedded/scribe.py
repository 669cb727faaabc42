"""Captions while somebody speaks: what was said so far, heard again about once a second.

They are for the eye only. They are written on a thread of their own and only while the
recogniser has nothing else to do, so that no command waits for them or is changed by them.
"""

import threading
from collections.abc import Callable
from time import monotonic

from msgspec import Struct

EVERY_S = 1.0
# Of its own time: a machine that is busy, or a long utterance, gets fewer of them
_REST = 5.0


class SoFar(Struct, frozen=True):
    """What was said so far in a turn that goes on."""

    session: str
    turn_id: str
    pcm: bytes


class Scribe:
    """Takes one at a time; one that comes meanwhile, or too soon, is let pass."""

    def __init__(
        self, *, write: Callable[[SoFar], str], show: Callable[[SoFar, str], None]
    ) -> None:
        self._write = write
        self._show = show
        self._change = threading.Condition()
        self._next: SoFar | None = None
        self._busy = False
        self._not_before = 0.0
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether it would take one now."""
        return not self._busy and self._next is None and monotonic() >= self._not_before

    def offer(self, so_far: SoFar) -> None:
        """Leave one to be written, if it is ready."""
        with self._change:
            if self.ready:
                self._next = so_far
                self._change.notify()

    def close(self) -> None:
        """Let `work` end."""
        with self._change:
            self._closed = True
            self._change.notify()

    def work(self) -> None:
        """Write until `close`."""
        while (so_far := self._take()) is not None:
            began = monotonic()
            text = self._write(so_far)
            if text:
                self._show(so_far, text)
            ended = monotonic()
            self._not_before = max(began + EVERY_S, ended + _REST * (ended - began))
            self._busy = False

    def _take(self) -> SoFar | None:
        with self._change:
            while self._next is None and not self._closed:
                self._change.wait()
            so_far, self._next = self._next, None
            self._busy = so_far is not None
            return so_far
