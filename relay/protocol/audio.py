"""PCM16 little-endian mono: the only sound on the relay's own sockets.

Converts milliseconds to bytes and keeps samples whole; it does not resample.
"""

from msgspec import Struct

BYTES_PER_SAMPLE = 2


class AudioFormat(Struct, frozen=True):
    """A mono PCM16 stream's sample rate."""

    rate_hz: int

    def bytes_for(self, ms: float) -> int:
        """Bytes of `ms` milliseconds, rounded down to a whole sample."""
        return int(self.rate_hz * ms / 1000) * BYTES_PER_SAMPLE

    def ms_of(self, byte_count: int) -> float:
        """Milliseconds that `byte_count` bytes last."""
        return byte_count / BYTES_PER_SAMPLE * 1000 / self.rate_hz


class AudioFrame(Struct, frozen=True):
    """Whole PCM16 little-endian mono samples of one moment of sound."""

    pcm: bytes


class SampleAligner:
    """Cut a byte stream into whole samples: an odd byte waits for the next piece."""

    def __init__(self) -> None:
        self._odd = b""

    def push(self, piece: bytes) -> AudioFrame:
        """Return the whole samples so far (possibly none); at most one byte stays behind."""
        joined = self._odd + piece
        whole = len(joined) - len(joined) % BYTES_PER_SAMPLE
        self._odd = joined[whole:]
        return AudioFrame(joined[:whole])
