"""When a connection is to be replaced, in an idle moment, before its server ends it."""

import asyncio
from collections.abc import Callable


class Rotation:
    """One timer a connection. `on_due` is called once `due` holds; it may be no idle moment."""

    def __init__(self, *, after_s: float | None, on_due: Callable[[], None]) -> None:
        """Without `after_s` nothing is due until `ask` says so."""
        self._after_s = after_s
        self._on_due = on_due
        self._timer: asyncio.TimerHandle | None = None
        self.due = False

    def begin(self) -> None:
        """A connection has begun."""
        self.due = False
        if self._after_s is not None:
            self._timer = asyncio.get_running_loop().call_later(self._after_s, self._ring)

    def ask(self) -> None:
        """The server wants the connection to be replaced."""
        self.due = True

    def end(self) -> None:
        """The connection has ended."""
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        self.due = True
        self._on_due()
