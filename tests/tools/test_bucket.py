from relay.tools.bucket import TokenBucket


class Clock:
    """A clock that a test turns by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_taken_at_once_and_not_more() -> None:
    bucket = TokenBucket(burst=3, per_s=1, clock=Clock())
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_tokens_come_back_with_time() -> None:
    clock = Clock()
    bucket = TokenBucket(burst=1, per_s=2, clock=clock)
    assert bucket.take()
    clock.now = 0.25
    assert not bucket.take()
    clock.now = 0.5
    assert bucket.take()


def test_a_long_rest_saves_no_more_than_the_burst() -> None:
    clock = Clock()
    bucket = TokenBucket(burst=2, per_s=10, clock=clock)
    clock.now = 1_000
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_what_is_borrowed_is_waited_for() -> None:
    clock = Clock()
    bucket = TokenBucket(burst=1, per_s=2, clock=clock)
    assert [bucket.borrow() for _ in range(3)] == [0.0, 0.5, 1.0]
    clock.now = 1.0
    assert not bucket.take()
    assert bucket.borrow() == 0.5
