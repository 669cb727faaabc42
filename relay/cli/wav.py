"""WAV files in and out of a terminal command: any rate, width and channel count in.

Source: Multimedia Programming Interface and Data Specifications 1.0 (RIFF, WAVE) and the
WAVEFORMATEXTENSIBLE layout.
"""

import struct
import wave
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relay.cli.error import CommandError
from relay.protocol.limits import MIB

_FILE_MAX_BYTES = 128 * MIB
_EXTENSIBLE = 0xFFFE
_FULL_SCALE = 32_768


class Sound(NamedTuple):
    """What a file holds, mixed to mono: samples in -1..1 at `rate_hz`."""

    samples: npt.NDArray[np.float32]
    rate_hz: int

    def pcm16(self, rate_hz: int) -> bytes:
        """The same as PCM16 little-endian at another rate."""
        resampled = _resample(self.samples, self.rate_hz, rate_hz)
        levels = np.rint(resampled * _FULL_SCALE)
        return np.clip(levels, -_FULL_SCALE, _FULL_SCALE - 1).astype("<i2").tobytes()


class _Format(NamedTuple):
    encoding: int
    channels: int
    rate_hz: int
    bits: int


def read_wav(path: Path) -> Sound:
    """The sound in a WAV file of at most 128 MiB. Raises: CommandError."""
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}") from None
    if len(data) > _FILE_MAX_BYTES:
        raise CommandError(f"{path} is over {_FILE_MAX_BYTES // MIB} MiB")
    try:
        return _decode(data)
    except ValueError as error:
        raise CommandError(f"{path} is not a WAV file that can be read: {error}") from None


def write_wav(path: Path, pcm: bytes, rate_hz: int) -> None:
    """PCM16 mono as a WAV file. Raises: CommandError."""
    try:
        with path.open("wb") as raw, wave.open(raw, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate_hz)
            file.writeframes(pcm)
    except OSError as error:
        raise CommandError(f"{path} can't be written: {error.strerror}") from None


def _decode(data: bytes) -> Sound:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError("it does not begin with RIFF and WAVE")
    form: _Format | None = None
    position = 12
    while position + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, position)
        body = data[position + 8 : position + 8 + length]
        if name == b"fmt ":
            form = _format(body)
        elif name == b"data" and form is not None:
            return Sound(_samples(body, form), form.rate_hz)
        position += 8 + length + length % 2
    raise ValueError("it has no format or no sound")


def _format(body: bytes) -> _Format:
    if len(body) < 16:
        raise ValueError("its format is cut short")
    encoding, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", body)
    if encoding == _EXTENSIBLE and len(body) >= 26:
        (encoding,) = struct.unpack_from("<H", body, 24)
    if not (1 <= channels <= 64 and 1_000 <= rate_hz <= 768_000):
        raise ValueError(f"{channels} channels at {rate_hz} Hz make no sense")
    return _Format(encoding, channels, rate_hz, bits)


def _samples(body: bytes, form: _Format) -> npt.NDArray[np.float32]:
    frame_bytes = form.bits // 8 * form.channels
    if frame_bytes == 0 or form.bits % 8:
        raise ValueError(f"{form.bits} bits a sample are not supported")
    whole = body[: len(body) // frame_bytes * frame_bytes]
    if not whole:
        raise ValueError("it holds no sound")
    flat = _flat(whole, form.encoding, form.bits)
    if not np.isfinite(flat).all():
        raise ValueError("it holds numbers that are not finite")
    mono: npt.NDArray[np.float32] = flat.reshape(-1, form.channels).mean(axis=1, dtype=np.float32)
    return mono


def _flat(body: bytes, encoding: int, bits: int) -> npt.NDArray[np.floating]:
    match encoding, bits:
        case 1, 8:  # eight-bit WAV is unsigned
            return (np.frombuffer(body, "u1").astype(np.float32) - 128) / 128
        case 1, 16:
            return np.frombuffer(body, "<i2").astype(np.float32) / _FULL_SCALE
        case 1, 24:
            padded = np.zeros((len(body) // 3, 4), "u1")
            padded[:, 1:] = np.frombuffer(body, "u1").reshape(-1, 3)
            return padded.view("<i4").ravel() / 2_147_483_648.0
        case 1, 32:
            return np.frombuffer(body, "<i4") / 2_147_483_648.0
        case 3, 32:
            return np.frombuffer(body, "<f4")
        case 3, 64:
            return np.frombuffer(body, "<f8")
        case _:
            raise ValueError(f"encoding {encoding} with {bits} bits is not supported")


def _resample(
    samples: npt.NDArray[np.float32], from_hz: int, to_hz: int
) -> npt.NDArray[np.float32]:
    if from_hz == to_hz:
        return samples
    import soxr

    resampled: npt.NDArray[np.float32] = soxr.resample(samples, from_hz, to_hz)
    return resampled
