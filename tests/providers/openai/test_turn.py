from hypothesis import given
from hypothesis import strategies as st

from relay.providers.openai.turn import Truncation, Turn

SECOND = bytes(48_000)


def test_an_item_is_truncated_where_it_was_heard_to() -> None:
    turn = Turn("t1")
    turn.hear("a", 0, SECOND)
    turn.hear("b", 0, SECOND)
    assert turn.truncations(1_250) == [Truncation(item_id="b", content_index=0, audio_end_ms=250)]


def test_what_was_not_heard_at_all_keeps_one_millisecond() -> None:
    turn = Turn("t1")
    turn.hear("a", 0, SECOND)
    turn.hear("b", 0, SECOND)
    assert [cut.audio_end_ms for cut in turn.truncations(500)] == [500, 1]


def test_a_turn_without_sound_or_heard_to_its_end_is_not_truncated() -> None:
    turn = Turn("t1")
    assert turn.truncations(100) == []
    turn.hear("a", 0, SECOND)
    assert turn.truncations(1_000) == []
    assert turn.truncations(5_000) == []


@given(sizes=st.lists(st.integers(0, 10_000), max_size=6), played_ms=st.floats(0, 2_000))
def test_no_truncation_is_beyond_the_sound_that_was_received(
    sizes: list[int], played_ms: float
) -> None:
    turn = Turn("t1")
    received = {}
    for number, size in enumerate(sizes):
        received[f"item_{number}"] = len(turn.hear(f"item_{number}", 0, bytes(size)))
    for cut in turn.truncations(played_ms):
        assert 1 <= cut.audio_end_ms <= received[cut.item_id] / 48


@given(pieces=st.lists(st.binary(min_size=1, max_size=50), min_size=1, max_size=8))
def test_samples_stay_whole_across_odd_pieces(pieces: list[bytes]) -> None:
    turn = Turn("t1")
    whole = b"".join(turn.hear("a", 0, piece) for piece in pieces)
    joined = b"".join(pieces)
    assert whole == joined[: len(joined) // 2 * 2]


def test_half_a_sample_of_one_item_never_meets_another() -> None:
    turn = Turn("t1")
    turn.hear("a", 0, b"\1\2\3")
    assert turn.hear("b", 0, b"\4\5") == b"\4\5"


def test_the_text_of_several_items_is_one() -> None:
    turn = Turn("t1")
    turn.say("a", "One ", final=False)
    turn.say("a", "moment.", final=False)
    turn.say("a", "One moment.", final=True)
    assert turn.say("b", "Done.", final=True) == "One moment. Done."
