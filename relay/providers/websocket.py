"""One WebSocket to a provider: dial it, send through one bounded queue, receive, close.

Knows no provider's messages. Sending never waits, so a reader may send: sound that does not fit
is dropped, the oldest first; control messages that do not fit lose the connection.
"""

import asyncio
from collections import deque
from collections.abc import Mapping

import aiohttp
from aiohttp import WSMsgType
from msgspec import Struct

from relay.protocol.limits import Limits
from relay.providers import loss
from relay.providers.loss import Lost
from relay.providers.secret import Secret

# A client may send many seconds of sound at once; what a provider hears comes in such pieces
SOUND_PIECE_BYTES = 32 * 1024


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where a provider is: `url` holds no secret; `headers` hold templates and the secret."""

    provider: str
    url: str
    key: Secret | None = None
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "

    def headers(self) -> Mapping[str, str]:
        """Return what authenticates a connection."""
        if self.key is None:
            return {}
        return {self.key_header: self.key_prefix + self.key.reveal()}


class Upstream:
    """An open connection. Made by `dial`; whoever dialled closes it."""

    def __init__(
        self,
        endpoint: Endpoint,
        http: aiohttp.ClientSession,
        socket: "aiohttp.ClientWebSocketResponse[bool]",
        limits: Limits,
    ) -> None:
        self._endpoint = endpoint
        self._http = http
        self._socket = socket
        self._limits = limits
        self._queue: deque[tuple[str, int]] = deque()  # message, and its size if it is sound
        self._audio_bytes = 0
        self._news = asyncio.Event()
        self._hung_up = False
        self._overrun = False
        self._writer = asyncio.create_task(self._write())  # ended and awaited by close()

    def send(self, message: str) -> None:
        """Queue a control message."""
        self._put(message, 0)

    def send_audio(self, message: str) -> None:
        """Queue sound; of too much that waits, the oldest is dropped."""
        self._put(message, len(message))
        while self._audio_bytes > self._limits.provider_audio_queue_max_bytes:
            self._drop_oldest_audio()

    def drop_audio(self) -> None:
        """Forget the sound that was not sent yet."""
        self._queue = deque(item for item in self._queue if not item[1])
        self._audio_bytes = 0

    def hang_up(self) -> None:
        """Make `receive` end, after what is queued has been sent."""
        self._hung_up = True
        self._news.set()

    async def receive(self) -> str | bytes | None:
        """Return the next message, None after `hang_up`. Raises: Lost."""
        reason = ""
        while True:
            message = await self._socket.receive()
            if message.type in {WSMsgType.TEXT, WSMsgType.BINARY}:
                data: str | bytes = message.data
                return data
            if message.type is WSMsgType.CLOSE:
                reason = message.extra or ""
            if self._overrun:
                raise Lost(loss.FAILED, f"{self._endpoint.provider} does not read", retry=True)
            if self._hung_up:
                return None
            code = self._socket.close_code
            raise loss.closed(self._endpoint.provider, code, reason, self._endpoint.key)

    async def close(self) -> None:
        """Close the connection and all that belongs to it, within the close timeout."""
        self._writer.cancel()
        await asyncio.gather(self._writer, return_exceptions=True)
        try:
            async with asyncio.timeout(self._limits.provider_close_timeout_ms / 1000):
                await self._socket.close()
        except (TimeoutError, ConnectionError):
            pass  # a peer that goes on talking, or is gone; the transport ends below
        finally:
            await self._http.close()

    def _put(self, message: str, audio_bytes: int) -> None:
        self._queue.append((message, audio_bytes))
        self._audio_bytes += audio_bytes
        if len(self._queue) > self._limits.provider_queue_max_messages:
            if self._audio_bytes:
                self._drop_oldest_audio()
            else:
                self._overrun = True
        self._news.set()

    def _drop_oldest_audio(self) -> None:
        for position, (_, size) in enumerate(self._queue):
            if size:
                del self._queue[position]
                self._audio_bytes -= size
                return

    async def _write(self) -> None:
        """Send what is queued, until hung up or overrun; then close."""
        try:
            while not self._overrun:
                if self._queue:
                    message, size = self._queue.popleft()
                    self._audio_bytes -= size
                    async with asyncio.timeout(self._limits.provider_stuck_ms / 1000):
                        await self._socket.send_str(message)
                elif self._hung_up:
                    break
                else:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            self._overrun = True
        except ConnectionError:
            return  # the receiving half sees the end, and why, by itself
        await self._socket.close()


async def dial(endpoint: Endpoint, limits: Limits) -> Upstream:
    """Open a connection. Raises: Lost."""
    http = aiohttp.ClientSession()
    try:
        async with asyncio.timeout(limits.provider_dial_timeout_ms / 1000):
            socket = await http.ws_connect(
                endpoint.url,
                headers=endpoint.headers(),
                compress=0,
                max_msg_size=limits.provider_message_max_bytes,
                heartbeat=limits.provider_ping_interval_ms / 1000,
                timeout=aiohttp.ClientWSTimeout(ws_close=limits.provider_close_timeout_ms / 1000),
            )
    except BaseException as error:
        await http.close()
        raise _failure(endpoint.provider, error) from None
    return Upstream(endpoint, http, socket, limits)


def _failure(provider: str, error: BaseException) -> BaseException:
    match error:
        case aiohttp.WSServerHandshakeError():
            return loss.refused_upgrade(provider, error.status)
        case TimeoutError():
            return loss.unreachable(provider, "it does not answer")
        case aiohttp.ClientConnectorDNSError():
            return loss.unreachable(provider, "its name can't be resolved")
        case aiohttp.ClientSSLError():
            return loss.unreachable(provider, "its certificate or encryption is not accepted")
        case aiohttp.ClientError() | OSError():
            return loss.unreachable(provider, "there is no connection")
        case _:
            return error
