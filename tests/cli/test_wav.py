import math
import struct
import wave
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.cli.error import CommandError
from relay.cli.wav import read_wav, write_wav
from tests.cli.waves import EXTENSIBLE, FLOAT, PCM, chunk, encoded, form, riff, sine, wav

ENCODINGS = [(PCM, 8), (PCM, 16), (PCM, 24), (PCM, 32), (FLOAT, 32), (FLOAT, 64)]


def read(data: bytes, folder: Path, rate_hz: int = 24_000) -> "memoryview[int]":
    file = folder / "sound.wav"
    file.write_bytes(data)
    return memoryview(read_wav(file).pcm16(rate_hz)).cast("h")


def loudness(samples: "memoryview[int]") -> float:
    return math.sqrt(sum(s * s for s in samples) / len(samples)) / 32_768


@pytest.mark.parametrize(("encoding", "bits"), ENCODINGS)
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_every_width_and_channel_count_sounds_the_same(
    encoding: int, bits: int, channels: int, tmp_path: Path
) -> None:
    samples = read(wav(encoding=encoding, bits=bits, channels=channels), tmp_path)
    wanted = sine(24_000)
    assert len(samples) == len(wanted)
    worst = max(abs(s / 32_768 - w) for s, w in zip(samples, wanted, strict=True))
    assert worst < (0.01 if bits == 8 else 0.0001)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 192_000])
@pytest.mark.parametrize("to_hz", [16_000, 24_000])
def test_every_rate_becomes_the_rate_that_is_wanted(
    rate_hz: int, to_hz: int, tmp_path: Path
) -> None:
    samples = read(wav(rate_hz), tmp_path, to_hz)
    assert abs(len(samples) - to_hz // 4) <= 1
    middle = samples[len(samples) // 4 : -len(samples) // 4]
    assert loudness(middle) == pytest.approx(0.5 / math.sqrt(2), rel=0.02)
    crossings = sum(a < 0 <= b for a, b in pairwise(samples))
    assert 108 <= crossings <= 112, "the pitch stays"


def test_sixteen_bits_at_the_same_rate_stay_as_they_are(tmp_path: Path) -> None:
    levels = [-32_768, -1, 0, 1, 32_767]
    data = riff(
        chunk(b"fmt ", form(PCM, 1, 24_000, 16)), chunk(b"data", struct.pack("<5h", *levels))
    )
    assert read(data, tmp_path).tolist() == levels


def test_floats_beyond_full_scale_are_clipped(tmp_path: Path) -> None:
    loud = wav(encoding=FLOAT, bits=32, samples=[-3.0, 0.0, 3.0])
    assert read(loud, tmp_path).tolist() == [-32_768, 0, 32_767]


def test_channels_are_mixed(tmp_path: Path) -> None:
    opposite = encoded([0.5, -0.5, 0.25, -0.25], PCM, 16)
    data = riff(chunk(b"fmt ", form(PCM, 2, 24_000, 16)), chunk(b"data", opposite))
    assert read(data, tmp_path).tolist() == [0, 0]


def test_what_else_is_in_the_file_is_passed_over(tmp_path: Path) -> None:
    guid = struct.pack("<H", PCM) + bytes.fromhex("000000001000800000aa00389b71")
    long_form = form(EXTENSIBLE, 1, 24_000, 16) + struct.pack("<HHI", 22, 16, 4) + guid
    data = riff(
        chunk(b"LIST", b"odd"),
        chunk(b"fmt ", long_form),
        chunk(b"fact", b"\0\0\0\0"),
        chunk(b"data", encoded([0.5, 0.25], PCM, 16)),
        chunk(b"ID3 ", b"tags"),
    )
    assert read(data, tmp_path).tolist() == [16_384, 8_192]


def test_a_file_that_was_cut_or_streamed_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    body = encoded([0.5, 0.25], PCM, 16) + b"\1"
    data = riff(chunk(b"fmt ", form(PCM, 1, 24_000, 16)), chunk(b"data", body, 0xFFFFFFFF))
    assert read(data.rstrip(b"\0"), tmp_path).tolist() == [16_384, 8_192]


GOOD_FORM = chunk(b"fmt ", form(PCM, 1, 24_000, 16))
SOUND = chunk(b"data", b"\0\0")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "RIFF"),
        (b"hello, I am a text", "RIFF"),
        (b"RIFF\0\0\0\0AVI ", "RIFF"),
        (riff(), "no format or no sound"),
        (riff(GOOD_FORM), "no format or no sound"),
        (riff(SOUND), "no format or no sound"),
        (riff(GOOD_FORM, chunk(b"data", b"")), "holds no sound"),
        (riff(GOOD_FORM, chunk(b"data", b"\0")), "holds no sound"),
        (riff(chunk(b"fmt ", b"\1\0"), SOUND), "cut short"),
        (riff(chunk(b"fmt ", form(PCM, 0, 24_000, 16)), SOUND), "0 channels"),
        (riff(chunk(b"fmt ", form(PCM, 1, 7, 16)), SOUND), "7 Hz"),
        (riff(chunk(b"fmt ", form(PCM, 1, 24_000, 12)), SOUND), "12 bits"),
        (riff(chunk(b"fmt ", form(PCM, 1, 24_000, 0)), SOUND), "0 bits"),
        (riff(chunk(b"fmt ", form(7, 1, 24_000, 8)), SOUND), "encoding 7"),
        (riff(chunk(b"fmt ", form(EXTENSIBLE, 1, 24_000, 16)), SOUND), "encoding 65534"),
        (wav(encoding=FLOAT, bits=32, samples=[math.nan]), "not finite"),
        (wav(encoding=FLOAT, bits=64, samples=[math.inf]), "not finite"),
    ],
)
def test_what_is_no_sound_is_one_sentence(data: bytes, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        read(data, tmp_path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    data=st.binary(max_size=80)
    | st.binary(max_size=40).map(lambda body: riff(chunk(b"fmt ", body), SOUND))
    | st.tuples(st.binary(min_size=16, max_size=16), st.binary(max_size=64)).map(
        lambda parts: riff(chunk(b"fmt ", parts[0]), chunk(b"data", parts[1]))
    )
)
def test_any_file_is_read_or_refused(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / "any.wav"
    file.write_bytes(data)
    try:
        sound = read_wav(file)
    except CommandError as error:
        assert "\n" not in str(error)  # noqa: PT017 - reading it is as right as refusing it
    else:
        assert len(sound.samples) > 0


def test_files_that_can_not_be_opened_are_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.wav", tmp_path):
        with pytest.raises(CommandError, match="can't be read"):
            read_wav(path)
        with pytest.raises(CommandError, match="can't be written"):
            write_wav(tmp_path / "gone" / "x.wav" if path != tmp_path else path, b"", 24_000)


def test_what_is_written_can_be_read_by_others(tmp_path: Path) -> None:
    file = tmp_path / "answer.wav"
    write_wav(file, b"\1\0\2\0", 22_050)
    with wave.open(str(file)) as written:
        assert written.getparams()[:4] == (1, 2, 22_050, 2)
        assert written.readframes(2) == b"\1\0\2\0"
    assert read(file.read_bytes(), tmp_path, 22_050).tolist() == [1, 2]
