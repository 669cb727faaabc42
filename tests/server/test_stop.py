"""What peers see when the relay stops."""

import asyncio

from tests.server.conftest import Relay


async def test_a_stop_says_goodbye_on_every_kind_of_socket(relay: Relay) -> None:
    live = await relay.socket("/live")
    page = await relay.socket("/workspace")
    observer = await relay.socket("/frames")
    await live.next("state", state="connecting")
    await page.next("welcome")
    session = await relay.model.opened.get()
    stopping = asyncio.create_task(relay.client.server.close())
    told = await live.next("state", state="closed")
    assert told["code"] == 1001
    assert [await peer.closed() for peer in (live, page, observer)] == [1001, 1001, 1001]
    await stopping
    assert session.closed
