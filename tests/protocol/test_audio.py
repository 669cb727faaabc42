from hypothesis import given
from hypothesis import strategies as st

from relay.protocol.audio import BYTES_PER_SAMPLE, AudioFormat, SampleAligner

formats = st.integers(8_000, 48_000).map(AudioFormat)


@given(pieces=st.lists(st.binary(max_size=9), max_size=20))
def test_no_byte_is_lost_or_changed_however_the_stream_is_cut(pieces: list[bytes]) -> None:
    aligner = SampleAligner()
    heard = b"".join(aligner.push(piece).pcm for piece in pieces)
    sent = b"".join(pieces)
    assert heard == sent[: len(heard)]
    assert len(sent) - len(heard) == len(sent) % BYTES_PER_SAMPLE


@given(pieces=st.lists(st.binary(max_size=9), max_size=20))
def test_every_frame_holds_whole_samples(pieces: list[bytes]) -> None:
    aligner = SampleAligner()
    assert all(len(aligner.push(piece).pcm) % BYTES_PER_SAMPLE == 0 for piece in pieces)


def test_an_odd_byte_waits_for_the_next_piece() -> None:
    aligner = SampleAligner()
    assert aligner.push(b"\x01").pcm == b""
    assert aligner.push(b"\x02\x03").pcm == b"\x01\x02"
    assert aligner.push(b"").pcm == b""
    assert aligner.push(b"\x04").pcm == b"\x03\x04"


def test_two_streams_do_not_share_their_odd_byte() -> None:
    first, second = SampleAligner(), SampleAligner()
    first.push(b"\x01")
    assert second.push(b"\x02\x03").pcm == b"\x02\x03"


@given(audio=formats, ms=st.integers(0, 600_000))
def test_milliseconds_become_whole_samples_and_come_back(audio: AudioFormat, ms: int) -> None:
    size = audio.bytes_for(ms)
    assert size % BYTES_PER_SAMPLE == 0
    one_sample_ms = 1000 / audio.rate_hz
    assert ms - one_sample_ms < audio.ms_of(size) <= ms + 1e-6


def test_known_durations() -> None:
    assert AudioFormat(16_000).bytes_for(20) == 640
    assert AudioFormat(24_000).bytes_for(20) == 960
    assert AudioFormat(16_000).ms_of(32_000) == 1_000
    assert AudioFormat(22_050).bytes_for(20) == 882
