"""A client's WebSocket: hello first, typed messages in, one writer and one bounded queue out.

Shared by /live, /workspace and /frames; it knows nothing of what they say. A client that does
not read costs at most `send_queue_max_bytes` and is closed with 1013.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog
from aiohttp import WSMessage, WSMsgType, web
from msgspec import UNSET

from relay.protocol import codec, messages
from relay.protocol.audio import AudioFormat
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.server.keys import GUARD, LIMITS, SOCKETS
from relay.server.open_sockets import SocketKind
from relay.server.receipts import Receipts
from relay.server.security import Guard
from relay.tools.bucket import TokenBucket

_CLOSE_TIMEOUT_S = 1.0
_MESSAGES_BETWEEN_YIELDS = 16
_log = structlog.get_logger(__name__)


class TooSlow(Exception):  # noqa: N818 - says what the client is
    """The client does not read; nothing more can be sent to it."""


class Closing(Exception):  # noqa: N818 - an ordinary end
    """A handler is done with the socket. `code` and `reason` close it."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class ClientSocket:
    """The sending and the receiving half of one accepted WebSocket."""

    def __init__(self, socket: web.WebSocketResponse, limits: Limits) -> None:
        self._socket = socket
        self._limits = limits
        self._queue: deque[tuple[WSMsgType, bytes]] = deque()
        self._queued_bytes = 0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._finished = False
        self._doomed = False
        self._patience: asyncio.Timeout | None = None  # of the send that runs now
        self._receipts = Receipts(limits.playout_lead_ms)
        self._audio = AudioFormat(24_000)

    def send(self, message: messages.Message) -> None:
        """Queue a message; never blocks."""
        self.send_encoded(codec.encode(message))

    def send_encoded(self, text: bytes) -> None:
        """Queue an encoded message; over the bounds the client is doomed, not the relay."""
        self._put(WSMsgType.TEXT, text)

    def expect_audio(self, audio: AudioFormat) -> None:
        """Say what `send_audio` will send, and find out how far away the client is."""
        self._audio = audio
        self._put(WSMsgType.PING, self._receipts.first())

    async def has_room_for_audio(self, ms: float) -> None:
        """Wait until the client has read so much that `ms` of sound may follow."""
        await self.has_room()
        while not self._receipts.has_room(ms) and not self._doomed:
            self._room.clear()
            try:
                async with asyncio.timeout(self._limits.stuck_client_ms / 1000):
                    await self._room.wait()
            except TimeoutError:
                self._doom()  # it would cost little, and keep its session and its model for ever

    async def send_audio(self, pcm: bytes) -> None:
        """Queue binary sound; waits while the client is behind."""
        ms = self._audio.ms_of(len(pcm))
        await self.has_room_for_audio(ms)
        self._put(WSMsgType.BINARY, pcm)
        ping = self._receipts.sent(ms)
        if ping is not None:
            self._put(WSMsgType.PING, ping)

    async def has_room(self) -> None:
        """Wait until the client has caught up (or is lost)."""
        while self._queued_bytes > self._limits.audio_backlog_max_bytes and not self._doomed:
            self._room.clear()
            await self._room.wait()

    async def hello(self, guard: Guard) -> messages.Hello:
        """Read the first message and check its token.

        Waits as long as its caller lets it.
        Raises: Refusal `unauthenticated-call`, `bearer-refused`, `bad-json`, `bad-request`.
        """
        first = await self._socket.receive()
        while await self._is_of_the_line(first):
            first = await self._socket.receive()
        if first.type is not WSMsgType.TEXT:
            raise Refusal(RefusalCode.UNAUTHENTICATED_CALL, "the first message must be hello")
        hello = codec.decode_hello(first.data)
        token = hello.bearer if hello.token is UNSET else hello.token
        if not isinstance(token, str):
            raise Refusal(RefusalCode.UNAUTHENTICATED_CALL, "hello must carry the token")
        guard.check_token(token)
        return hello

    async def receive(self) -> AsyncIterator[str | bytes]:
        """Text and binary messages until the client is gone; one that floods is read slowly."""
        received = 0
        pace = TokenBucket(
            burst=self._limits.messages_burst_max, per_s=self._limits.messages_per_second_max
        )
        async for message in self._socket:
            if message.type in {WSMsgType.TEXT, WSMsgType.BINARY}:
                yield message.data
            else:
                await self._is_of_the_line(message)
            received += 1
            owed_s = 0.0 if self._is_gone() else pace.borrow()
            if owed_s or received % _MESSAGES_BETWEEN_YIELDS == 0:
                # a burst that is already here must not starve the others
                await asyncio.sleep(owed_s)

    def refuse(self, refusal: Refusal) -> None:
        """Tell the client that a message of its was refused."""
        _log.info("message_refused", refused=str(refusal.code))
        why = refusal.why[: self._limits.why_max_chars]
        self.send(messages.Refused(refused=str(refusal.code), why=why))

    def finish(self) -> None:
        """Let the writer end once everything queued is out."""
        self._finished = True
        self._changed.set()

    async def write(self) -> None:
        """Send what is queued until `finish`. Raises: TooSlow."""
        sent = 0
        while True:
            if self._doomed:
                raise TooSlow
            if self._queue:
                await self._write_one(*self._queue.popleft())
                sent += 1
                if sent % _MESSAGES_BETWEEN_YIELDS == 0:
                    await asyncio.sleep(0)  # a send that need not wait never yields by itself
            elif self._finished:
                return
            else:
                self._changed.clear()
                await self._changed.wait()

    def _is_gone(self) -> bool:
        """Whether the connection is lost, and only what came before is left to read."""
        return self._socket.get_extra_info("socket") is None

    async def _is_of_the_line(self, message: WSMessage) -> bool:
        """Answer a ping and note a pong; False for anything else."""
        if message.type is WSMsgType.PING:
            await self._socket.pong(message.data)
        elif message.type is WSMsgType.PONG:
            self._receipts.answered(bytes(message.data))
            self._room.set()
        return message.type in {WSMsgType.PING, WSMsgType.PONG}

    async def _write_one(self, kind: WSMsgType, data: bytes) -> None:
        try:
            async with asyncio.timeout(self._limits.stuck_client_ms / 1000) as self._patience:
                await self._socket.send_frame(data, kind)
        except TimeoutError:
            raise TooSlow from None
        except ConnectionError:
            self._doomed = True  # the receiving half sees the end by itself
            self._queue.clear()
        finally:
            self._patience = None
            self._queued_bytes = max(self._queued_bytes - len(data), 0)
            self._room.set()

    def _put(self, kind: WSMsgType, data: bytes) -> None:
        if self._doomed:
            return
        self._queued_bytes += len(data)
        if (
            self._queued_bytes > self._limits.send_queue_max_bytes
            or len(self._queue) >= self._limits.send_queue_max_messages
        ):
            self._doom()
        else:
            self._queue.append((kind, data))
            self._changed.set()

    def _doom(self) -> None:
        """Give the client up: the writer raises TooSlow, from a send that blocks as well."""
        self._doomed = True
        self._queue.clear()
        self._room.set()
        self._changed.set()
        if self._patience is not None and not self._patience.expired():
            self._patience.reschedule(asyncio.get_running_loop().time())


Handle = Callable[[ClientSocket, messages.Hello], Awaitable[None]]


async def serve_socket(
    request: web.Request, kind: SocketKind, handle: Handle
) -> web.WebSocketResponse:
    """Accept the WebSocket, check its hello, run `handle`, and close it in every case.

    Raises: Refusal `server-full`, before the upgrade.
    """
    limits, sockets = request.app[LIMITS], request.app[SOCKETS]
    response = web.WebSocketResponse(
        compress=False,
        autoping=False,
        max_msg_size=limits.message_max_bytes,
        heartbeat=limits.ping_interval_ms / 1000,
        timeout=_CLOSE_TIMEOUT_S,
    )
    with sockets.place(kind):
        await response.prepare(request)
        with sockets.holding(response, kind):
            closing = await _served(ClientSocket(response, limits), request.app, handle)
            reason = closing.reason.encode()[:120].decode(errors="ignore").encode()
            await response.close(code=closing.code, message=reason, drain=False)
        _let_go(request)
    return response


def _let_go(request: web.Request) -> None:
    """Drop what a client that is gone or stuck has not read; its socket would stay open for it."""
    transport = request.transport
    if transport is not None and transport.get_write_buffer_size():
        transport.abort()


async def _served(socket: ClientSocket, app: web.Application, handle: Handle) -> Closing:
    closing = Closing(1000, "")
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(socket.write())
            closing = await _handled(socket, app, handle)
            socket.finish()
    except* TooSlow:
        closing = Closing(1013, "too slow")
    return closing


async def _handled(socket: ClientSocket, app: web.Application, handle: Handle) -> Closing:
    try:
        async with app[SOCKETS].waiting_for_hello():
            hello = await socket.hello(app[GUARD])
        await handle(socket, hello)
    except Closing as closing:
        return closing
    except Refusal as refusal:
        socket.refuse(refusal)
        return Closing(1008, str(refusal.code))
    except Exception:  # a bug: logged here with its traceback, told to the peer by code only
        _log.exception("socket_broke")
        code = str(RefusalCode.INTERNAL_ERROR)
        socket.send(messages.Error(code=code, message="the relay failed", fatal=True))
        return Closing(1011, code)
    return Closing(1000, "")
