"""Whatever a peer sends, it gets a structured answer: no crash, no traceback, no bug told."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import WSMsgType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay.protocol import messages
from relay.server.openapi import Route
from relay.server.routes import API
from tests.server.conftest import PATIENCE_S, TOKEN, Peer, Relay

SOCKETS = {
    "/live": ["text", "activity", "playback", "interrupt", "stop"],
    "/workspace": ["register_tools", "app_closed", "tool_result", "app_state"],
    "/frames": ["hello"],
}
LAST = "the-last-word"
ENDS = {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED}
ONE_RELAY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
FIELDS = sorted(
    {
        field
        for struct in vars(messages).values()
        if isinstance(struct, type) and issubclass(struct, messages.Message)
        for field in struct.__struct_encode_fields__
    }
)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
BODIES = st.dictionaries(st.sampled_from([*FIELDS, "html", "fileName", "id"]), JSON, max_size=5)


def is_structured(told: Any) -> bool:
    if told["ok"]:
        return True
    return told["refused"] != "internal-error" and "Traceback" not in told["why"]


@pytest.mark.parametrize("route", API, ids=lambda route: f"{route.method} {route.path}")
@ONE_RELAY
@given(
    body=st.binary(max_size=200) | BODIES.map(lambda body: json.dumps(body).encode()),
    query=st.dictionaries(
        st.sampled_from(["id", "room", "last", "x"]), st.text(max_size=30), max_size=3
    ),
)
async def test_no_request_breaks_a_route(
    relay: Relay, route: Route, body: bytes, query: dict[str, str]
) -> None:
    content = {"Content-Type": "application/json"} if route.method != "GET" else {}
    status, told = await relay.ask(
        route.method,
        route.path,
        params={name: value.encode("utf-8", "replace").decode() for name, value in query.items()},
        data=body if content else None,
        headers=content,
    )
    assert status < 500 or told["refused"] in {"server-full", "shelf-unavailable"}
    assert is_structured(told)


@pytest.mark.parametrize("path", SOCKETS)
@ONE_RELAY
@given(data=st.data())
async def test_no_message_breaks_a_socket(relay: Relay, path: str, data: st.DataObject) -> None:
    peer = await relay.socket(path)
    kinds = st.sampled_from([*SOCKETS[path], "rate", "nonsense", ""])
    sent = st.one_of(
        st.binary(max_size=50),
        st.text(max_size=50),
        st.tuples(kinds, st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4)).map(
            lambda message: json.dumps({**message[1], "type": message[0]})
        ),
    )
    messages_sent = data.draw(st.lists(sent, min_size=1, max_size=5))
    for message in messages_sent:
        if isinstance(message, bytes):
            await peer.socket.send_bytes(message)
        else:
            await peer.socket.send_str(message)
    told = [text async for text in until_last(peer, len(messages_sent) + 1)]
    assert told
    assert not any("internal-error" in text or "Traceback" in text for text in told)
    assert peer.socket.close_code in {None, 1000}
    await peer.socket.close()
    _, health = await relay.ask("GET", "/api/health")
    assert health["ok"]


async def until_last(peer: Peer, refused_max: int) -> AsyncIterator[str]:
    """All that the relay says, up to the refusal of a last nonsense or the end of the socket."""
    await peer.say(type=LAST)
    refused = 0
    while (message := await peer.socket.receive(timeout=PATIENCE_S)).type not in ENDS:
        if message.type is WSMsgType.TEXT:
            yield message.data
            refused += json.loads(message.data)["type"] == "refused"
            if LAST in message.data or refused == refused_max:
                return


@pytest.mark.parametrize("path", SOCKETS)
@ONE_RELAY
@given(first=st.text(max_size=60) | BODIES.map(lambda body: json.dumps({"type": "hello", **body})))
async def test_no_first_message_breaks_a_socket(relay: Relay, path: str, first: str) -> None:
    socket = await relay.client.ws_connect(path)
    await socket.send_str(first)
    told = await socket.receive(timeout=PATIENCE_S)
    refusal = json.loads(told.data)
    assert refusal["type"] == "refused"
    assert refusal["refused"] in {
        "bad-json",
        "bad-request",
        "bearer-refused",
        "rate-limited",
        "unauthenticated-call",
        "unknown-message",
    }
    assert TOKEN not in told.data
    await socket.close()
