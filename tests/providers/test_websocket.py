import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web

from relay.protocol.limits import Limits
from relay.providers import loss
from relay.providers.loss import Lost
from relay.providers.websocket import Endpoint, Upstream, dial
from tests.fakes.talks import BRISK

HEEDLESS_S = 5.0  # half of the time that aiohttp itself waits for an answer to a close


@asynccontextmanager
async def dialled(serve: Any, **bounds: int) -> AsyncIterator[Upstream]:
    """A connection to a server that does what `serve` does with its WebSocket."""

    async def handle(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(compress=False)
        await ws.prepare(request)
        await serve(ws)
        return ws

    app = web.Application()
    app.router.add_get("/", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    limits: Limits = msgspec.structs.replace(BRISK, **bounds)
    port = runner.addresses[0][1]
    upstream = await dial(Endpoint(provider="Test", url=f"ws://127.0.0.1:{port}/"), limits)
    try:
        yield upstream
    finally:
        await upstream.close()
        await runner.cleanup()


async def echo(ws: web.WebSocketResponse) -> None:
    async for message in ws:
        await ws.send_str(message.data)


async def stare(ws: web.WebSocketResponse) -> None:
    """Read nothing and say nothing."""
    await asyncio.Event().wait()


async def chatter(ws: web.WebSocketResponse) -> None:
    """Talk on without reading, whatever the other side wants."""
    try:
        while True:
            await ws.send_str("x" * 1_000)
            await asyncio.sleep(0.001)
    except ConnectionError:
        return


def test_a_pong_may_take_half_a_minute() -> None:
    """Healthy servers were seen to take that long; aiohttp waits for half of the interval."""
    assert Limits().provider_ping_interval_ms / 2 >= 60_000


async def test_messages_leave_in_their_order() -> None:
    async with dialled(echo) as upstream:
        for number in range(5):
            upstream.send(str(number))
        assert [await upstream.receive() for _ in range(5)] == ["0", "1", "2", "3", "4"]


async def test_a_hang_up_ends_receiving_after_what_was_queued() -> None:
    async with dialled(echo) as upstream:
        upstream.send("last")
        upstream.hang_up()
        assert await upstream.receive() in {"last", None}
        assert await upstream.receive() is None


async def test_of_too_much_sound_the_oldest_is_dropped_and_messages_stay() -> None:
    async with dialled(echo, provider_audio_queue_max_bytes=30) as upstream:
        upstream.send("first")
        for number in range(9):
            upstream.send_audio(f"sound {number}".ljust(10))
        upstream.send("last")
        received = [await upstream.receive() for _ in range(5)]
        assert received == ["first", "sound 6   ", "sound 7   ", "sound 8   ", "last"]


async def test_sound_that_was_not_sent_can_be_forgotten() -> None:
    async with dialled(echo) as upstream:
        upstream.send("first")
        upstream.send_audio("sound")
        upstream.drop_audio()
        upstream.send("last")
        assert [await upstream.receive() for _ in range(2)] == ["first", "last"]


async def test_more_messages_than_may_wait_lose_the_connection() -> None:
    async with dialled(stare, provider_queue_max_messages=10) as upstream:
        for number in range(12):
            upstream.send(str(number))
        with pytest.raises(Lost) as caught:
            await upstream.receive()
        assert (caught.value.code, caught.value.retry) == (loss.FAILED, True)


async def test_a_peer_that_does_not_read_loses_the_connection() -> None:
    async with dialled(stare, provider_stuck_ms=50) as upstream:
        for _ in range(40):
            upstream.send("x" * 500_000)
        with pytest.raises(Lost):
            await upstream.receive()


@pytest.mark.parametrize("serve", [stare, chatter])
async def test_closing_does_not_wait_for_a_peer_that_does_not_answer(serve: Any) -> None:
    async with dialled(serve, provider_close_timeout_ms=50) as upstream:
        async with asyncio.timeout(HEEDLESS_S):
            await upstream.close()
        await upstream.close()  # and again
