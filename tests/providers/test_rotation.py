import asyncio

from relay.providers.rotation import Rotation


async def test_it_is_due_when_its_time_has_come_and_no_longer_on_the_next_connection() -> None:
    rang = asyncio.Event()
    rotation = Rotation(after_s=0.01, on_due=rang.set)
    rotation.begin()
    assert not rotation.due
    await rang.wait()
    assert rotation.due
    rotation.end()
    rotation.begin()
    assert not rotation.due
    rotation.end()


async def test_without_a_time_it_is_due_only_where_the_server_asks() -> None:
    rotation = Rotation(after_s=None, on_due=lambda: None)
    rotation.begin()
    rotation.ask()
    assert rotation.due
    rotation.end()


async def test_a_connection_that_has_ended_is_never_due() -> None:
    first, later = Rotation(after_s=0.01, on_due=lambda: None), asyncio.Event()
    first.begin()
    first.end()
    second = Rotation(after_s=0.02, on_due=later.set)
    second.begin()
    await later.wait()
    assert not first.due
