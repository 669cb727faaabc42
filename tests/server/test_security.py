import asyncio
from hmac import compare_digest
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSServerHandshakeError

from relay.protocol.refusals import RefusalCode
from relay.server.openapi import Route
from relay.server.routes import API as ROUTES
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


@pytest.mark.parametrize(
    "wrong_place",
    [
        {"params": {"token": TOKEN, "access_token": TOKEN, "bearer": TOKEN}},
        {"headers": {"Cookie": f"token={TOKEN}; Authorization=Bearer {TOKEN}"}},
        {"headers": {"X-Token": TOKEN, "Proxy-Authorization": f"Bearer {TOKEN}"}},
        {"headers": {"Authorization": f"Basic {TOKEN}"}},
        {"headers": {"Authorization": f"bearer={TOKEN}"}},
        {"headers": {"Authorization": TOKEN}},
        {"headers": {"Sec-WebSocket-Protocol": TOKEN}},
    ],
    ids=str,
)
async def test_a_token_in_another_place_is_no_token(
    relay: Relay, wrong_place: dict[str, Any], assert_refused: Any
) -> None:
    async with relay.client.get("/api/tools", **wrong_place) as response:
        assert response.status == 401
        assert_refused(await response.json(), RefusalCode.UNAUTHENTICATED_CALL)


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_socket_takes_the_token_from_hello_only(relay: Relay, path: str) -> None:
    headers = {**relay.bearer, "Cookie": f"token={TOKEN}"}
    peer = Peer(await relay.client.ws_connect(f"{path}?token={TOKEN}", headers=headers))
    await peer.say(type="hello")
    assert (await peer.next())["refused"] == "unauthenticated-call"
    assert await peer.closed() == 1008


# DELETE has no body, and no form sends it
MUTATING = [route for route in ROUTES if route.body is not None]


@pytest.mark.parametrize("route", MUTATING, ids=lambda route: f"{route.method} {route.path}")
@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
async def test_what_a_form_can_send_changes_nothing(
    relay: Relay, route: Route, media: str, assert_refused: Any
) -> None:
    body = b'{"html":"<p>x","name":"hash","appId":"app_x","tools":[]}'
    headers = {"Content-Type": media}
    status, told = await relay.ask(route.method, route.path, data=body, headers=headers)
    assert status == 415
    assert_refused(told, RefusalCode.UNSUPPORTED_CONTENT_TYPE)


async def test_asking_changes_nothing(relay: Relay, tmp_path: Path) -> None:
    def on_disk() -> set[Path]:
        return set(tmp_path.rglob("*"))

    async def told() -> Any:
        paths = ("/api/tools", "/api/mini-apps", "/api/shelf")
        frames = (await relay.ask("GET", "/api/frames"))[1]["frames"]
        called = {frame["name"] for frame in frames} - {"list_extensions"}  # a look, by its tool
        return called, [await relay.ask("GET", path) for path in paths]

    # the first worker tells once what confines it
    while (await relay.ask("GET", "/api/shelf"))[1]["worker"]["hardening"] is None:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    before, files = await told(), on_disk()
    for route in ROUTES:
        if route.method == "GET":
            query = {"id": "app_timer", "room": "main", "last": "5", "html": "<p>x", "name": "hash"}
            await relay.ask("GET", route.path, params=query, json={"name": "hash"})
    assert await told() == before
    assert on_disk() == files


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/", "", 200),
        ("/dashboard", "", 200),
        ("/mini-app-bridge.html", "", 200),
        ("/api/health", "", 200),
        ("/api/tools", "", 401),
        ("/no/such/page", "", 404),
        ("/", "evil.test", 421),
        ("/live", "", 400),
    ],
)
async def test_no_answer_leaves_without_its_headers(
    relay: Relay, path: str, host: str, status: int
) -> None:
    headers = {"Host": host} if host else {}
    async with relay.client.get(path, headers=headers) as response:
        assert response.status == status
        told = response.headers
    assert told["X-Content-Type-Options"] == "nosniff"
    assert told["Referrer-Policy"] == "no-referrer"
    assert told["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors" in told["Content-Security-Policy"]
    assert "camera=()" in told["Permissions-Policy"]
    if path != "/mini-app-bridge.html":  # it stands in a frame of the room
        assert told["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Set-Cookie" not in told
    assert not [name for name in told if name.startswith("Access-Control-")]


async def test_what_a_page_loads_is_of_its_type_and_for_its_origin_only(relay: Relay) -> None:
    async with relay.client.get("/static/app.js") as response:
        told = response.headers
    assert told["X-Content-Type-Options"] == "nosniff"
    assert told["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "default-src 'none'" in told["Content-Security-Policy"]
    assert not [name for name in told if name.startswith(("Access-Control-", "Set-Cookie"))]


async def test_the_token_is_compared_in_constant_time(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return compare_digest(one, other)

    monkeypatch.setattr("relay.server.security.hmac.compare_digest", compare)
    await relay.ask("GET", "/api/tools")
    await relay.ask("GET", "/api/tools", headers={"Authorization": "Bearer short"})
    peer = await relay.socket("/frames")
    await peer.say(type="stop")
    await peer.next()
    own = TOKEN.encode()
    assert compared == [(own, own), (b"short", own), (own, own)]
