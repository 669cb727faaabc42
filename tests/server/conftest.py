"""A whole relay in the test's own loop: real routes and sockets, the model in the test's hands."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType
from aiohttp.test_utils import TestClient, TestServer

from relay.protocol.limits import Limits
from relay.server.app import make_app
from relay.settings import Settings
from relay.shelf.host import ShelfHost
from tests.fakes.models import FakeModel

TOKEN = "vbx_" + "0123456789abcdef" * 3
PATIENCE_S = 30.0  # a message that a busy machine delays and a fault prevents


class Relay:
    """A running relay and what tests say to it."""

    def __init__(self, client: TestClient[Any, Any], model: FakeModel) -> None:
        self.client = client
        self.model = model
        self.bearer = {"Authorization": f"Bearer {TOKEN}"}

    async def ask(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        headers = self.bearer | more.pop("headers", {})
        async with self.client.request(method, path, headers=headers, **more) as response:
            return response.status, await response.json()

    async def app_tools(self, room: str = "main") -> list[str]:
        """The names of the tools that apps registered (the relay's own are always there)."""
        _, told = await self.ask("GET", f"/api/tools?room={room}")
        return [tool["name"] for tool in told["tools"] if tool["host"] != "built-in"]

    async def socket(self, path: str, **hello: Any) -> "Peer":
        peer = Peer(await self.client.ws_connect(path))
        await peer.say(type="hello", token=TOKEN, **hello)
        return peer


class Peer:
    """The other end of one socket."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, **message: Any) -> None:
        await self.socket.send_json(message)

    async def next(self, kind: str | None = None, **facts: Any) -> dict[str, Any]:
        """The next message, or the next of that type with these facts."""
        while True:
            message = await self.socket.receive(timeout=PATIENCE_S)
            assert message.type is WSMsgType.TEXT, message
            told: dict[str, Any] = message.json()
            if kind is None or (told["type"] == kind and facts.items() <= told.items()):
                return told

    async def closed(self) -> int:
        """Read to the end; the close code."""
        while not self.socket.closed:
            await self.socket.receive(timeout=PATIENCE_S)
        assert self.socket.close_code is not None
        return self.socket.close_code


async def until(condition: Callable[[], object]) -> None:
    """Let the relay go on until the condition holds; the test's own timeout bounds it."""
    while not condition():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.005)


StartRelay = Callable[..., Awaitable[Relay]]


@pytest.fixture
async def start_relay(
    aiohttp_client: Callable[..., Awaitable[TestClient[Any, Any]]], tmp_path: Path
) -> StartRelay:
    """Start a relay with an empty shelf, unless a shelf folder is named."""

    async def start(*, shelf: Path | None = None, **bounds: int) -> Relay:
        limits = Limits(**bounds)
        settings = Settings(state_dir=tmp_path / "state", home=tmp_path, provider="fake")
        model = FakeModel()
        app = make_app(
            settings,
            token=TOKEN,
            limits=limits,
            models={"fake": model},
            shelf=ShelfHost(folder=shelf or tmp_path / "empty", limits=limits, admitted=None),
        )
        return Relay(await aiohttp_client(TestServer(app)), model)

    return start


@pytest.fixture
async def relay(start_relay: StartRelay) -> Relay:
    """A relay with ordinary limits."""
    return await start_relay()
