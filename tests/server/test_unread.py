"""When a connection whose peer reads nothing is dropped; no clock, no socket."""

import asyncio

import pytest

from relay.protocol.limits import LIMITS, Limits
from relay.server.unread import Unread

LOOKS = LIMITS.http_stuck_ms // 1_000
MAX = LIMITS.http_unread_max_bytes


class Pipe:
    """An outlet that holds what the test says."""

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.dropped = False

    def waiting_bytes(self) -> int:
        return self.size

    def drop(self) -> None:
        self.dropped = True
        self.size = 0


def watched(*pipes: Pipe) -> Unread:
    unread = Unread(LIMITS)
    for pipe in pipes:
        unread.add(pipe)
    return unread


async def weighed(unread: Unread) -> None:
    unread.grew()
    unread.grew()
    await asyncio.sleep(0)


def test_a_connection_of_which_nothing_is_read_is_dropped_after_so_many_looks() -> None:
    stuck = Pipe(100)
    unread = watched(stuck)
    for _ in range(LOOKS):
        unread.look()
        assert not stuck.dropped
    unread.look()
    assert stuck.dropped


def test_what_is_added_to_it_meanwhile_saves_it_not() -> None:
    stuck = Pipe()
    unread = watched(stuck)
    for _ in range(LOOKS + 1):
        stuck.size += 10
        unread.look()
    assert stuck.dropped


@pytest.mark.parametrize("step", [1, 1_000_000])
def test_one_that_reads_however_slowly_is_kept(step: int) -> None:
    slow = Pipe(100_000_000)
    unread = watched(slow)
    for look in range(LOOKS * 9):
        if look % (LOOKS - 1) == 0:
            slow.size -= step
        unread.look()
    assert not slow.dropped


def test_one_that_had_read_most_before_more_was_written_is_kept() -> None:
    busy = Pipe(70_000)
    unread = watched(busy)
    for look in range(LOOKS * 9):
        if look % (LOOKS - 1) == 0:
            unread.moved(busy)
        unread.look()
    assert not busy.dropped


def test_an_idle_connection_is_kept() -> None:
    idle = Pipe()
    unread = watched(idle)
    for _ in range(LOOKS * 9):
        unread.look()
    assert not idle.dropped


def test_one_that_is_closed_is_looked_at_no_more() -> None:
    closed = Pipe(100)
    unread = watched(closed)
    unread.forget(closed)
    unread.forget(closed)
    unread.moved(closed)
    for _ in range(LOOKS + 1):
        unread.look()
    assert not closed.dropped


def test_a_stop_waits_for_nobody_who_does_not_read() -> None:
    stuck, reading = Pipe(100), Pipe(100)
    unread = watched(stuck, reading)
    unread.look()
    unread.hurry()
    reading.size = 50
    unread.look()
    assert (stuck.dropped, reading.dropped) == (True, False)


async def test_over_the_bound_who_has_read_nothing_for_longest_is_dropped_first() -> None:
    old, reading, large, small = (Pipe(size) for size in (MAX // 4, MAX // 2, MAX // 2, MAX // 8))
    unread = watched(old, reading)
    for _ in range(2):
        unread.look()
        reading.size -= 1
    for pipe in (large, small):
        unread.add(pipe)
    await weighed(unread)
    assert [pipe.dropped for pipe in (old, reading, large, small)] == [True, False, True, False]


async def test_within_the_bound_nobody_is_dropped() -> None:
    halves = Pipe(MAX // 2), Pipe(MAX // 2)
    await weighed(watched(*halves))
    assert not any(half.dropped for half in halves)


@pytest.mark.parametrize("stuck_ms", [1, 100, 10_000, 3_600_000])
async def test_it_goes_on_looking(stuck_ms: int) -> None:
    unread = Unread(Limits(http_stuck_ms=stuck_ms))
    stuck = Pipe(100)
    unread.add(stuck)
    unread.hurry()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        watching = group.create_task(unread.watch())
        while not stuck.dropped:  # noqa: ASYNC110 - a drop has no event
            await asyncio.sleep(0.005)
        watching.cancel()
