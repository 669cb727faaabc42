"""Places for running calls, and the queue for them."""

import asyncio

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.places import Places


async def hold(places: Places, leave: asyncio.Event, order: list[int], number: int) -> None:
    async with places.place():
        order.append(number)
        await leave.wait()


async def test_places_are_given_in_the_order_of_asking() -> None:
    places, leave, order = Places(limits=Limits(wasm_running_max=2)), asyncio.Event(), []
    held = [asyncio.create_task(hold(places, leave, order, number)) for number in range(6)]
    await asyncio.sleep(0)
    assert (places.running, places.waiting, order) == (2, 4, [0, 1])
    leave.set()
    await asyncio.gather(*held)
    assert (places.running, places.waiting, order) == (0, 0, [0, 1, 2, 3, 4, 5])


async def test_a_full_queue_refuses_at_once() -> None:
    places = Places(limits=Limits(wasm_running_max=1, wasm_waiting_max=1))
    leave: asyncio.Event = asyncio.Event()
    held = [asyncio.create_task(hold(places, leave, [], number)) for number in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="1 calls run and 1 wait") as refused:
        async with places.place():
            pass
    assert refused.value.code is RefusalCode.SHELF_BUSY
    leave.set()
    await asyncio.gather(*held)


async def test_without_a_queue_a_free_place_is_still_given() -> None:
    places = Places(limits=Limits(wasm_running_max=1, wasm_waiting_max=0))
    async with places.place():
        with pytest.raises(Refusal, match="shelf-busy"):
            async with places.place():
                pass
    async with places.place():
        assert places.running == 1


async def test_who_waits_too_long_is_refused_and_leaves_the_queue() -> None:
    places = Places(limits=Limits(wasm_running_max=1, wasm_waiting_max_ms=10))
    async with places.place():
        with pytest.raises(Refusal, match="within 10 ms"):
            async with places.place():
                pass
        assert (places.running, places.waiting) == (1, 0)


async def test_a_place_comes_back_from_who_is_cancelled_or_fails() -> None:
    places = Places(limits=Limits(wasm_running_max=1))
    leave: asyncio.Event = asyncio.Event()
    holder = asyncio.create_task(hold(places, leave, [], 0))
    waiter = asyncio.create_task(hold(places, leave, [], 1))
    await asyncio.sleep(0)
    waiter.cancel()
    holder.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    with pytest.raises(ZeroDivisionError):
        async with places.place():
            raise ZeroDivisionError
    assert (places.running, places.waiting) == (0, 0)
