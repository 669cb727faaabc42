"""What one peer, or many, may take from everybody else."""

from contextlib import suppress

import pytest
from aiohttp import WSServerHandshakeError

from relay.providers import model as upstream
from relay.tools.tool import CallId
from tests.fakes.declared import SET_SCORE
from tests.server.conftest import TOKEN, Peer, Relay, StartRelay, until

WRONG = "vbx_" + "f" * 48


async def test_a_relay_full_of_sockets_refuses_the_next_before_the_upgrade(
    start_relay: StartRelay,
) -> None:
    relay = await start_relay(sockets_max=1)
    first = await relay.socket("/frames")
    with pytest.raises(WSServerHandshakeError) as caught:
        await relay.client.ws_connect("/frames")
    assert caught.value.status == 503
    await first.socket.close()


@pytest.mark.parametrize("kind", ["live", "workspace", "frames"])
async def test_a_kind_of_socket_over_its_cap_is_refused_and_the_others_are_not(
    start_relay: StartRelay, kind: str
) -> None:
    relay = await start_relay(**{f"{kind}_sockets_max": 1})
    first = await relay.socket(f"/{kind}")
    status, told = await relay.ask("GET", f"/{kind}")
    assert (status, told["refused"]) == (503, "server-full")
    for other in {"live", "workspace", "frames"} - {kind}:
        peer = await relay.socket(f"/{other}")
        await peer.socket.close()
    await first.socket.close()
    while (await relay.ask("GET", f"/{kind}"))[0] == 503:  # it is being closed
        pass


async def test_sockets_that_say_no_hello_leave_room_for_those_that_do(
    start_relay: StartRelay,
) -> None:
    relay = await start_relay(sockets_before_hello_max=2, hello_timeout_ms=60_000)
    silent = [Peer(await relay.client.ws_connect("/frames")) for _ in range(2)]
    friend = await relay.socket("/live")
    assert (await friend.next())["type"] == "rate"
    assert await silent[0].closed() == 1008
    await relay.socket("/frames")
    assert not silent[1].socket.closed
    await silent[1].say(type="hello", token=TOKEN)
    await relay.ask("POST", "/api/call", json={"name": "nothing"})
    assert (await silent[1].next())["type"] == "tool"


async def test_pings_are_no_hello_and_win_no_time(start_relay: StartRelay) -> None:
    relay = await start_relay(hello_timeout_ms=200)
    peer = Peer(await relay.client.ws_connect("/frames"))
    while not peer.socket.closed:
        with suppress(ConnectionError):
            await peer.socket.ping()
        with suppress(TimeoutError):
            await peer.socket.receive(timeout=0.02)
    assert peer.socket.close_code == 1008


async def test_wrong_tokens_are_slowed_down_and_the_right_one_is_not(
    start_relay: StartRelay,
) -> None:
    relay = await start_relay(hello_failures_burst_max=1, hello_failures_per_second_max=0)
    codes = []
    for _ in range(3):
        peer = Peer(await relay.client.ws_connect("/live"))
        await peer.say(type="hello", token=WRONG)
        codes.append((await peer.next())["refused"])
    assert codes == ["bearer-refused", "rate-limited", "rate-limited"]
    good = Peer(await relay.client.ws_connect("/live"))
    await good.say(type="hello", token=TOKEN)
    assert (await good.next())["type"] == "rate"


async def test_a_page_that_registers_without_end_keeps_what_it_has(
    start_relay: StartRelay,
) -> None:
    relay = await start_relay(registrations_burst_max=1, registrations_per_second_max=0)
    page = await relay.socket("/workspace")
    register = {"type": "register_tools", "appId": "app_x"}
    await page.say(**register, tools=[SET_SCORE])
    await page.next("tools_registered")
    await page.say(**register, tools=[])
    assert (await page.next("refused"))["refused"] == "rate-limited"
    assert await relay.app_tools() == ["set_score"]


async def test_a_session_that_calls_without_end_is_refused_and_lives_on(
    start_relay: StartRelay,
) -> None:
    relay = await start_relay(calls_burst_max=1, calls_per_second_max=0)
    peer = await relay.socket("/live")
    live = await relay.model.opened.get()
    live.play(upstream.Ready())
    await peer.next("state", state="ready")
    codes = []
    for number in range(2):
        call_id = CallId(f"c{number}")
        live.play(upstream.ToolCallRequested(call_id=call_id, name="list_extensions", args={}))
        codes.append((await peer.next("tool", state="done")).get("refused"))
    assert codes == [None, "rate-limited"]


async def test_a_client_that_floods_is_read_slowly_and_the_others_are_not(
    start_relay: StartRelay,
) -> None:
    relay = await start_relay(messages_burst_max=64, messages_per_second_max=1)
    flooding = await relay.socket("/live")
    live = await relay.model.opened.get()
    live.play(upstream.Ready())
    await flooding.next("state", state="ready")
    for _ in range(1_000):
        await flooding.socket.send_bytes(b"\0\1")
    other = await relay.socket("/live")
    await other.next("state", state="connecting")
    for _ in range(32):
        await other.say(type="text", text="too early")
        await other.next("refused")
    assert 64 <= len(live.heard) < 1_000
    flooding.socket._response.connection.transport.abort()
    await until(lambda: live.closed)  # nobody waits for one that has left


async def test_a_burst_of_sound_lets_others_have_their_turn(relay: Relay) -> None:
    peer = await relay.socket("/live")
    live = await relay.model.opened.get()
    live.play(upstream.Ready())
    await peer.next("state", state="ready")
    for _ in range(2_000):
        await peer.socket.send_bytes(b"\0\1" * 480)
    status, _ = await relay.ask("GET", "/api/health")
    assert status == 200
    await peer.say(type="stop")
    assert await peer.closed() == 1000
    assert sum(map(len, live.heard)) == 2_000 * 960
