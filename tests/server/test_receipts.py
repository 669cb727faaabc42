from hypothesis import given
from hypothesis import strategies as st

from relay.server.receipts import Receipts


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def flow(receipts: Receipts, clock: Clock, *, round_trip_ms: float, until_ms: float) -> float:
    """Send 20 ms frames as room allows to a client that reads at once; the time that it took."""
    sent, waiting = 0.0, []
    while sent < until_ms:
        waiting = [(at, ping) for at, ping in waiting if not _due(receipts, clock, at, ping)]
        if receipts.has_room(20):
            ping = receipts.sent(20)
            sent += 20
            if ping is not None:
                waiting.append((clock.now + round_trip_ms / 1000, ping))
        clock.now += 0.005
    return clock.now


def _due(receipts: Receipts, clock: Clock, at: float, ping: bytes) -> bool:
    if at > clock.now:
        return False
    receipts.answered(ping)
    return True


def test_a_client_that_answers_no_ping_is_not_held_back() -> None:
    receipts = Receipts(200)
    receipts.first()
    for _ in range(500):
        assert receipts.has_room(20)
        receipts.sent(20)


def test_a_client_that_stops_reading_gets_the_lead_and_no_more() -> None:
    clock = Clock()
    receipts = Receipts(200, clock)
    receipts.answered(receipts.first())
    sent = 0
    while receipts.has_room(20):
        receipts.sent(20)
        sent += 20
    assert sent == 200


def test_a_client_that_reads_on_gets_more() -> None:
    receipts = Receipts(200, Clock())
    receipts.answered(receipts.first())
    pings = [ping for _ in range(10) if (ping := receipts.sent(20)) is not None]
    assert len(pings) == 2
    assert not receipts.has_room(20)
    receipts.answered(pings[0])
    assert receipts.has_room(100)
    assert not receipts.has_room(120)
    receipts.answered(pings[1])
    assert receipts.has_room(200)


def test_a_far_client_is_not_starved() -> None:
    clock = Clock()
    receipts = Receipts(200, clock)
    first = receipts.first()
    clock.now += 0.3
    receipts.answered(first)
    began = clock.now
    assert flow(receipts, clock, round_trip_ms=300, until_ms=5_000) - began < 5


def test_a_pong_that_answers_nothing_changes_nothing() -> None:
    receipts = Receipts(200, Clock())
    receipts.answered(receipts.first())
    while receipts.has_room(20):
        receipts.sent(20)
    receipts.answered(b"")
    receipts.answered(b"read:999999")
    assert not receipts.has_room(20)


def test_what_is_kept_of_unanswered_pings_is_bounded() -> None:
    receipts = Receipts(200)
    for _ in range(10_000):
        receipts.sent(20)
    assert len(vars(receipts)["_marks"]) <= 64


@given(lead_ms=st.integers(1, 400), frames=st.lists(st.floats(0.1, 50), max_size=60))
def test_a_client_that_reads_is_never_stuck(lead_ms: int, frames: list[float]) -> None:
    receipts = Receipts(lead_ms, Clock())
    receipts.answered(receipts.first())
    unanswered: list[bytes] = []
    for ms in frames:
        while not receipts.has_room(ms):
            receipts.answered(unanswered.pop(0))  # empty here would mean: waiting for nothing
        ping = receipts.sent(ms)
        if ping is not None:
            unanswered.append(ping)
