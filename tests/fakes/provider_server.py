"""What the fake providers share: a real WebSocket server on loopback, in the test's hands.

Every frame is kept with its time. What a client does wrong is answered as the real server
answers it, and noted in `faults`, which a test may not leave filled.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, Generic, Self, TypeVar

import orjson
from aiohttp import WSMsgType, web

Json = dict[str, Any]
CLOSE_TIMEOUT_S = 1.0


class ProviderConnection:
    """One accepted connection; a fake adds what is said over it."""

    def __init__(self, request: web.Request, ws: web.WebSocketResponse, faults: list[str]) -> None:
        self.request = request
        self.ws = ws
        self.faults = faults
        self.received: list[Json] = []
        self.times: list[float] = []
        self.close_code: int | None = None
        self.closed = asyncio.Event()
        self._news = asyncio.Event()

    async def serve(self) -> None:
        """Read until the client is gone."""
        try:
            await self.greet()
            async for message in self.ws:
                if message.type is WSMsgType.TEXT:
                    await self._take(message.data)
                elif message.type is WSMsgType.BINARY:
                    await self.on_unreadable("a binary frame")
        except ConnectionError:
            pass  # the client dropped the connection in the middle of a sentence
        finally:
            self.close_code = self.ws.close_code
            self.closed.set()
            self._news.set()

    async def _take(self, text: str) -> None:
        try:
            message = orjson.loads(text)
        except orjson.JSONDecodeError:
            await self.on_unreadable("no JSON")
            return
        if not isinstance(message, dict):
            await self.on_unreadable("no object")
            return
        self.received.append(message)
        self.times.append(monotonic())
        await self.on_message(message)
        self._news.set()

    async def greet(self) -> None:
        """Say the first word, where the server has it."""

    async def on_message(self, message: Json) -> None:
        """Check and answer one message."""
        raise NotImplementedError

    async def on_unreadable(self, what: str) -> None:
        """Answer what is no message."""
        raise NotImplementedError

    async def until(self, seen: Callable[[], bool]) -> None:
        """Wait until something holds of what was received."""
        while not seen():
            if self.closed.is_set():
                raise AssertionError("the client closed the connection meanwhile")
            self._news.clear()
            await self._news.wait()

    async def close(self, code: int, reason: str = "") -> None:
        await self.ws.close(code=code, message=reason.encode(), drain=False)

    def drop(self) -> None:
        """Reset the TCP connection, without a close frame."""
        transport = self.request.transport
        if transport is not None:
            raw = transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()


Connected = TypeVar("Connected", bound=ProviderConnection)


class ProviderServer(Generic[Connected]):
    """Accepts connections of one kind; `async with` runs it."""

    path: str

    def __init__(self, *, key: str, port: int = 0) -> None:
        self.key = key
        self.faults: list[str] = []
        self.refuse_with: int | None = None
        """HTTP status in the place of the next upgrades."""
        self.connections: list[Connected] = []
        self._port = port
        self._fresh: asyncio.Queue[Connected] = asyncio.Queue()
        self._runner: web.AppRunner | None = None
        self._later: list[asyncio.Task[None]] = []

    def later(self, delay_s: float, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something after a while, at the latest never: it ends with the server."""

        async def wait() -> None:
            await asyncio.sleep(delay_s)
            await act()

        self._later.append(asyncio.create_task(wait()))

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._accept)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._later:
            task.cancel()
        await asyncio.gather(*self._later, return_exceptions=True)
        for connection in self.connections:
            if not connection.closed.is_set():
                connection.drop()
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def open(self) -> list[Connected]:
        return [one for one in self.connections if not one.closed.is_set()]

    async def connection(self) -> Connected:
        """The next connection that a client made."""
        return await self._fresh.get()

    def refusal(self, request: web.Request) -> int | None:
        """The HTTP status for a request that is not upgraded."""
        raise NotImplementedError

    def make(self, request: web.Request, ws: web.WebSocketResponse) -> Connected:
        raise NotImplementedError

    async def _accept(self, request: web.Request) -> web.StreamResponse:
        status = self.refuse_with or self.refusal(request)
        if status is not None:
            return web.json_response({"error": {"message": "no"}}, status=status)
        ws = web.WebSocketResponse(
            compress=False, max_msg_size=32 * 1024 * 1024, timeout=CLOSE_TIMEOUT_S
        )
        await ws.prepare(request)
        connection = self.make(request, ws)
        self.connections.append(connection)
        self._fresh.put_nowait(connection)
        await connection.serve()
        return ws
