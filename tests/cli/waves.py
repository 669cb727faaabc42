"""WAV files as other programs write them."""

import math
import struct

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
_CODES = {(PCM, 16): "h", (PCM, 32): "i", (FLOAT, 32): "f", (FLOAT, 64): "d"}


def sine(rate_hz: int, *, ms: int = 250, hz: float = 440.0, level: float = 0.5) -> list[float]:
    return [level * math.sin(2 * math.pi * hz * n / rate_hz) for n in range(rate_hz * ms // 1000)]


def encoded(samples: list[float], encoding: int, bits: int) -> bytes:
    if encoding == FLOAT:
        return struct.pack(f"<{len(samples)}{_CODES[FLOAT, bits]}", *samples)
    levels = [min(round(x * 2 ** (bits - 1)), 2 ** (bits - 1) - 1) for x in samples]
    if bits == 8:
        return bytes(level + 128 for level in levels)
    if bits == 24:
        return b"".join(struct.pack("<i", level)[:3] for level in levels)
    return struct.pack(f"<{len(levels)}{_CODES[PCM, bits]}", *levels)


def chunk(name: bytes, body: bytes, length: int | None = None) -> bytes:
    said = len(body) if length is None else length
    return struct.pack("<4sI", name, said) + body + b"\0" * (len(body) % 2)


def form(encoding: int, channels: int, rate_hz: int, bits: int) -> bytes:
    block = channels * bits // 8
    return struct.pack("<HHIIHH", encoding, channels, rate_hz, rate_hz * block, block, bits)


def riff(*chunks: bytes) -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return struct.pack("<4sI", b"RIFF", len(body)) + body


def wav(
    rate_hz: int = 24_000,
    *,
    encoding: int = PCM,
    bits: int = 16,
    channels: int = 1,
    samples: list[float] | None = None,
) -> bytes:
    """A file with the same sound on every channel."""
    mono = sine(rate_hz) if samples is None else samples
    spread = [sample for sample in mono for _ in range(channels)]
    return riff(
        chunk(b"fmt ", form(encoding, channels, rate_hz, bits)),
        chunk(b"data", encoded(spread, encoding, bits)),
    )
