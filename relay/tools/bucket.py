"""A token bucket that refuses; it never makes anyone wait."""

from collections.abc import Callable
from time import monotonic


class TokenBucket:
    """Holds up to `burst` tokens and gains `per_s` of them each second."""

    def __init__(self, *, burst: int, per_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._burst = burst
        self._per_s = per_s
        self._clock = clock
        self._tokens = float(burst)
        self._counted_at = clock()

    def take(self) -> bool:
        """Take one token; False when there is none."""
        now = self._clock()
        gained = (now - self._counted_at) * self._per_s
        self._tokens = min(self._tokens + gained, self._burst)
        self._counted_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
