"""Sound from one sample rate to another, piece by piece and without a seam."""


class Resampler:
    """One stream of PCM16 little-endian mono; it keeps what the next piece needs."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        import soxr  # no provider needs it as long as its server keeps to the usual rate

        self._stream = soxr.ResampleStream(from_hz, to_hz, 1, dtype="int16", quality="HQ")

    def push(self, pcm: bytes) -> bytes:
        """Return what is ready of whole samples at the new rate; some of it comes later."""
        return self._run(pcm, last=False)

    def end(self) -> bytes:
        """Return the rest; nothing may be pushed after it."""
        return self._run(b"", last=True)

    def _run(self, pcm: bytes, *, last: bool) -> bytes:
        import numpy as np

        samples = self._stream.resample_chunk(np.frombuffer(pcm, dtype="<i2"), last=last)
        return bytes(samples.astype("<i2").tobytes())
