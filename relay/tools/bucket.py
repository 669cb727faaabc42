"""A token bucket: what may happen at once, and how often after that. It never waits itself."""

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
        self._gain()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def borrow(self) -> float:
        """Take one token in any case; the seconds after which none is owed. `per_s` is not 0."""
        self._gain()
        self._tokens -= 1
        return max(-self._tokens / self._per_s, 0.0)

    def _gain(self) -> None:
        now = self._clock()
        gained = (now - self._counted_at) * self._per_s
        self._tokens = min(self._tokens + gained, self._burst)
        self._counted_at = now
