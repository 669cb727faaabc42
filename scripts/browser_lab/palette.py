"""A screenshot as a PNG of few colours: half of its bytes, and to the eye the same page."""

import struct
import zlib
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 192
_BYTES_OF_KIND = {2: 3, 6: 4}


def with_few_colours(png: bytes) -> bytes:
    """Take the most frequent colours and give each other pixel the nearest of them."""
    pixels = _decode(png)
    height, width, _ = pixels.shape
    colours, index, counts = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    palette = colours[np.argsort(-counts)[:_COLOURS]]
    far = colours[:, None, :].astype(np.int32) - palette[None, :, :]
    nearest = (far**2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    rows = np.pad(nearest[index].reshape(height, width), ((0, 0), (1, 0)))  # filter 0
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", palette.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _decode(png: bytes) -> Pixels:
    """Eight bits a channel, not interlaced: what browsers write. Source: PNG, section 9."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    step = _BYTES_OF_KIND[kind]
    data = zlib.decompress(b"".join(_data_of(png)))
    size = width * step
    above = bytearray(size)
    rows = []
    for start, end in pairwise(range(0, (height + 1) * (size + 1), size + 1)):
        above = _unfilter(data[start], bytearray(data[start + 1 : end]), above, step)
        rows.append(bytes(above))
    return np.frombuffer(b"".join(rows), np.uint8).reshape(height, width, step)[:, :, :3]


def _data_of(png: bytes) -> list[bytes]:
    found = []
    at = len(_SIGNATURE)
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            found.append(png[at + 8 : at + 8 + size])
        at += size + 12
    return found


def _unfilter(kind: int, row: bytearray, above: bytearray, step: int) -> bytearray:
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guesses = (0, left, above[i], (left + above[i]) // 2, _paeth(left, above[i], corner))
        row[i] = (row[i] + guesses[kind]) & 0xFF
    return row


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
