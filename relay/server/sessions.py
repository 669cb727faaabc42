"""Counts voice sessions: how many were opened, how many are open."""

import secrets
from time import monotonic

from relay.metrics import Metrics


class Sessions:
    """The voice sessions of one relay."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._started = monotonic()
        self.created = 0
        self.open = 0

    @property
    def uptime_s(self) -> float:
        """Seconds since the relay started."""
        return round(monotonic() - self._started, 1)

    def begin(self) -> str:
        """A session opens; its id has 128 random bits."""
        self.created += 1
        self.open += 1
        self._metrics.sessions_created.inc()
        self._metrics.sessions_open.inc()
        return f"session_{secrets.token_hex(16)}"

    def end(self) -> None:
        """A session is over."""
        self.open -= 1
        self._metrics.sessions_open.dec()
