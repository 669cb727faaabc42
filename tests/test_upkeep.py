"""Endless work goes on behind a fault, and ends when it is told to."""

import asyncio

import pytest

from relay.upkeep import keep_up
from tests.shelf.shelves import until


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("can't start new thread")])
async def test_work_that_breaks_begins_anew(fault: Exception) -> None:
    lives = []

    async def work() -> None:
        lives.append(fault)
        if len(lives) < 3:
            raise fault
        await asyncio.Event().wait()

    task = asyncio.create_task(keep_up(work, pause_s=0), name="work")
    await until(lambda: len(lives) == 3)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_work_that_is_done_stays_done() -> None:
    lives = []

    async def work() -> None:
        lives.append(1)

    await keep_up(work, pause_s=0)
    assert lives == [1]
