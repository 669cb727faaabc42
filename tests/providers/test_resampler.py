import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.providers.resampler import Resampler


def tone(rate_hz: int, seconds: float) -> bytes:
    time = np.arange(int(rate_hz * seconds)) / rate_hz
    return (12_000 * np.sin(2 * np.pi * 1_000 * time)).astype("<i2").tobytes()


def resampled(pcm: bytes, from_hz: int, to_hz: int, piece_bytes: int) -> np.ndarray:
    resampler = Resampler(from_hz, to_hz)
    pieces = [
        resampler.push(pcm[start : start + piece_bytes])
        for start in range(0, len(pcm), piece_bytes)
    ]
    return np.frombuffer(b"".join([*pieces, resampler.end()]), dtype="<i2")


@pytest.mark.parametrize(
    ("from_hz", "to_hz"), [(48_000, 24_000), (16_000, 24_000), (44_100, 24_000), (8_000, 24_000)]
)
def test_a_minute_of_a_tone_has_its_length_and_no_click(from_hz: int, to_hz: int) -> None:
    heard = resampled(tone(from_hz, 60), from_hz, to_hz, piece_bytes=from_hz // 50 * 2)
    assert abs(len(heard) - 60 * to_hz) <= to_hz // 50  # within one frame of 20 ms
    middle = heard[to_hz // 10 : -to_hz // 10].astype(np.int64)
    wanted = 12_000 * np.sin(2 * np.pi * 1_000 * np.arange(len(heard)) / to_hz)
    error = middle - wanted[to_hz // 10 : -to_hz // 10]
    assert np.abs(error).max() < 12_000 * 0.02


@given(st.lists(st.integers(1, 400), min_size=1, max_size=20))
def test_the_size_of_the_pieces_changes_nothing(sizes: list[int]) -> None:
    pcm = tone(48_000, 0.05)
    resampler, start, pieces = Resampler(48_000, 24_000), 0, []
    for size in sizes:
        pieces.append(resampler.push(pcm[start : start + 2 * size]))
        start += 2 * size
    pieces += [resampler.push(pcm[start:]), resampler.end()]
    whole = resampled(pcm, 48_000, 24_000, piece_bytes=len(pcm))
    heard = np.frombuffer(b"".join(pieces), dtype="<i2")
    assert len(heard) == len(whole)
    assert np.abs(heard.astype(int) - whole.astype(int)).max() <= 2  # its rounding is dithered
