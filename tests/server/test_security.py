from typing import Any

import pytest
from aiohttp import WSServerHandshakeError

from relay.protocol.refusals import RefusalCode
from tests.server.conftest import TOKEN, Peer, Relay, StartRelay

SOCKETS = ["/live", "/workspace", "/frames"]
API = ["/api/tools", "/api/frames", "/api/mini-apps", "/api/shelf", "/metrics"]
WRONG_TOKEN = "vbx_" + "f" * 48


@pytest.mark.parametrize("path", API)
async def test_an_api_without_a_token_is_refused(
    relay: Relay, path: str, assert_refused: Any
) -> None:
    async with relay.client.get(path) as response:
        assert response.status == 401
        assert_refused(await response.json(), RefusalCode.UNAUTHENTICATED_CALL)


@pytest.mark.parametrize("header", [f"Bearer {WRONG_TOKEN}", "Bearer x", "Bearer \xe9"])
async def test_a_wrong_token_is_refused(relay: Relay, header: str, assert_refused: Any) -> None:
    status, body = await relay.ask("GET", "/api/tools", headers={"Authorization": header})
    assert status == 401
    assert_refused(body, RefusalCode.BEARER_REFUSED)


@pytest.mark.parametrize("header", ["Basic eDp5", "Bearer ", ""])
async def test_what_is_no_bearer_is_no_token(
    relay: Relay, header: str, assert_refused: Any
) -> None:
    status, body = await relay.ask("GET", "/api/tools", headers={"Authorization": header})
    assert status == 401
    assert_refused(body, RefusalCode.UNAUTHENTICATED_CALL)


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/tools", *SOCKETS])
@pytest.mark.parametrize("host", ["rebind.test", "127.0.0.1:1", "127.0.0.1", ""])
async def test_a_foreign_host_is_refused_everywhere(
    relay: Relay, path: str, host: str, assert_refused: Any
) -> None:
    status, body = await relay.ask("GET", path, headers={"Host": host})
    assert status == 421
    assert_refused(body, RefusalCode.HOST_REFUSED)


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/tools", *SOCKETS])
@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1:1", "http://evil.test", ""])
async def test_a_foreign_origin_is_refused_before_any_upgrade(
    relay: Relay, path: str, origin: str, assert_refused: Any
) -> None:
    status, body = await relay.ask("GET", path, headers={"Origin": origin})
    assert status == 403
    assert_refused(body, RefusalCode.ORIGIN_REFUSED)


async def test_the_relays_own_names_are_welcome(relay: Relay) -> None:
    port = relay.client.port
    for name in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        headers = {"Host": name, "Origin": f"http://{name}"}
        status, _ = await relay.ask("GET", "/api/tools", headers=headers)
        assert status == 200


async def test_requests_that_another_site_caused_are_refused(
    relay: Relay, assert_refused: Any
) -> None:
    status, body = await relay.ask("GET", "/api/tools", headers={"Sec-Fetch-Site": "same-site"})
    assert status == 403
    assert_refused(body, RefusalCode.ORIGIN_REFUSED)


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_foreign_page_can_not_open_a_socket(relay: Relay, path: str) -> None:
    with pytest.raises(WSServerHandshakeError) as caught:
        await relay.client.ws_connect(path, headers={"Origin": "http://evil.test"})
    assert caught.value.status == 403


@pytest.mark.parametrize("path", SOCKETS)
@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"type": "hello", "token": WRONG_TOKEN}, "bearer-refused"),
        ({"type": "hello"}, "unauthenticated-call"),
        ({"type": "hello", "token": "vbx_\ud800"}, "bad-json"),
        ({"type": "stop"}, "unauthenticated-call"),
        ({"type": "hello", "token": TOKEN, "admin": True}, "bad-request"),
        ({"type": "hello", "token": TOKEN, "room": "../x"}, "bad-request"),
    ],
)
async def test_a_socket_without_a_good_hello_is_refused_and_closed(
    relay: Relay, path: str, first: dict[str, Any], code: str
) -> None:
    peer = Peer(await relay.client.ws_connect(path))
    await peer.say(**first)
    told = await peer.next()
    assert (told["type"], told["refused"]) == ("refused", code)
    assert await peer.closed() == 1008
    assert relay.model.opened.empty(), "nothing is dialled before hello is accepted"


@pytest.mark.parametrize("path", SOCKETS)
async def test_silence_and_sound_are_no_hello(start_relay: StartRelay, path: str) -> None:
    relay = await start_relay(hello_timeout_ms=20)
    for first in (None, b"\0\0"):
        peer = Peer(await relay.client.ws_connect(path))
        if first is not None:
            await peer.socket.send_bytes(first)
        assert (await peer.next())["refused"] == "unauthenticated-call"
        assert await peer.closed() == 1008


async def test_bearer_is_accepted_in_the_place_of_token(relay: Relay) -> None:
    peer = Peer(await relay.client.ws_connect("/frames"))
    await peer.say(type="hello", bearer=TOKEN)
    await peer.say(type="hello", bearer=TOKEN)
    assert (await peer.next())["refused"] == "unknown-message"


async def test_pages_forbid_framing_sniffing_and_foreign_code(relay: Relay) -> None:
    async with relay.client.get("/api/health") as response:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        policy = response.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert f"ws://127.0.0.1:{relay.client.port}" in policy
        assert "Access-Control-Allow-Origin" not in response.headers


async def test_the_bridge_closes_the_network_for_what_it_holds(relay: Relay) -> None:
    async with relay.client.get("/mini-app-bridge.html") as response:
        assert response.status == 200
        assert response.headers["Connection-Allowlist"] == "()"
        policy = response.headers["Content-Security-Policy"]
        assert "frame-src 'none'" in policy
        assert "'self'" not in policy.replace("frame-ancestors 'self'", "")
        page = await response.text()
        assert "/*{{" not in page
        assert "export {" not in page
