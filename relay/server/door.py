"""The relay's listening port and the protocol of each connection to it.

aiohttp reads and writes HTTP. What is added here holds for every connection: what its peer leaves
unread is bounded, and what no route answers (bytes that are no HTTP, an expectation that nobody
knows) is refused in the shape of every other refusal.
"""

import asyncio
import struct
from socket import SO_LINGER, SO_SNDBUF, SOL_SOCKET
from typing import Any, cast

import structlog
from aiohttp import web

from relay.server.headers import write_headers
from relay.server.keys import LIMITS, UNREAD
from relay.server.refusals import refused_by_http, refused_by_parser
from relay.server.unread import Unread

_SHUTDOWN_S = 5.0
_AT_ONCE = struct.pack("ii", 1, 0)  # linger: on, for no time
_log = structlog.get_logger(__name__)


class Connection(web.RequestHandler):
    """One connection. Overrides only what aiohttp exports and names without an underscore."""

    __slots__ = ("_outlet", "_unread")

    def __init__(self, server: web.Server, *, unread: Unread, **options: Any) -> None:
        super().__init__(server, **options)
        self._unread = unread
        self._outlet: asyncio.Transport | None = None  # aiohttp drops its own before it is closed

    def waiting_bytes(self) -> int:
        """What the transport holds back."""
        return 0 if self._outlet is None else self._outlet.get_write_buffer_size()

    def drop(self) -> None:
        """Reset the connection: closed in good order, the kernel would keep megabytes for it."""
        if self._outlet is not None:
            self._outlet.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, _AT_ONCE)
            self._outlet.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to watch."""
        super().connection_made(transport)
        self._outlet = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._unread.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Everything is sent, or dropped."""
        super().connection_lost(exc)
        self._unread.forget(self)
        self._outlet = None

    def pause_writing(self) -> None:
        """The peer reads more slowly than is written."""
        super().pause_writing()
        self._unread.grew()

    def resume_writing(self) -> None:
        """The peer has read most of it."""
        super().resume_writing()
        self._unread.moved(self)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send an answer; one that was raised before any middleware ran is put into our shape.

        Raises: ConnectionError when part of another answer is out already.
        """
        if not resp.prepared:
            _check_is_first(request)
        if isinstance(resp, web.HTTPException) and resp.status >= 400:
            resp = refused_by_http(resp)
        return await super().finish_response(request, resp, start_time)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Refuse what is no request; `message` repeats what was sent, so nobody is told it.

        Raises: ConnectionError when part of another answer is out already.
        """
        if status >= 500:
            self.log_exception("a request broke", exc_info=exc)
        else:
            _log.info("request_malformed", fault=type(exc).__name__)
        _check_is_first(request)
        response = refused_by_parser(status, exc)
        write_headers(request, response)
        response.force_close()
        return response


def _check_is_first(request: web.BaseRequest) -> None:
    """Nothing can be said in the middle of another answer; the connection ends there."""
    if request.writer.output_size > 0:
        raise ConnectionError("another answer has begun")


class Door:
    """Listens for an app: `start`, `listen` and `close` it, once each and in this order."""

    def __init__(self, app: web.Application) -> None:
        self._app = app
        self._runner = web.AppRunner(app, shutdown_timeout=_SHUTDOWN_S)
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start the app."""
        await self._runner.setup()

    async def listen(self, host: str, port: int) -> int:
        """Take connections; the port, where 0 was asked for. Raises: OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, host, port)
        for socket in self._server.sockets:  # each connection has what its listener has
            socket.setsockopt(SOL_SOCKET, SO_SNDBUF, self._app[LIMITS].send_buffer_max_bytes)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Take no more connections, let running requests end, stop the app."""
        if self._server is not None:
            self._server.close()
        await self._runner.cleanup()

    def _connection(self) -> Connection:
        server = self._runner.server
        assert server is not None
        return Connection(
            server,
            unread=self._app[UNREAD],
            loop=asyncio.get_running_loop(),
            keepalive_timeout=self._app[LIMITS].http_idle_ms / 1000,
            access_log=None,
        )
