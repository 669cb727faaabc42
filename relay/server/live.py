"""GET /live: one socket, one VoiceSession. Routes messages; decides nothing about them."""

from collections.abc import Awaitable

import structlog
from aiohttp import web
from msgspec import UNSET

from relay.protocol import codec, messages
from relay.protocol.audio import AudioFormat, SampleAligner
from relay.protocol.limits import Limits
from relay.protocol.messages import ToolFrame
from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers.model import LiveModel, LiveSession
from relay.room import Room
from relay.server.client_socket import ClientSocket, Closing, serve_socket
from relay.server.keys import DEFAULT_PROVIDER, LIMITS, MODELS, ROOMS, SESSIONS, SOCKETS
from relay.voice.session import VoiceSession

_log = structlog.get_logger(__name__)


async def live(request: web.Request) -> web.WebSocketResponse:
    """Hold one voice session."""
    app = request.app

    async def handle(socket: ClientSocket, hello: messages.Hello) -> None:
        model = _chosen(hello, app)
        room = app[ROOMS].get(hello.room)
        with room.visited("live"):
            await _converse(socket, hello, model, room, app)

    return await serve_socket(request, "live", handle)


def _chosen(hello: messages.Hello, app: web.Application) -> LiveModel:
    name = app[DEFAULT_PROVIDER] if hello.provider is UNSET else str(hello.provider)
    models = app[MODELS]
    model = models.get(name)
    if model is None:
        known = ", ".join(sorted(models))
        raise Refusal(RefusalCode.UNKNOWN_PROVIDER, f"no provider of that name; known are {known}")
    return model


async def _converse(
    socket: ClientSocket,
    hello: messages.Hello,
    model: LiveModel,
    room: Room,
    app: web.Application,
) -> None:
    session_id = app[SESSIONS].begin()
    session = VoiceSession(
        session_id=session_id,
        client=socket,
        model=model,
        registry=room.registry,
        dispatcher=room.dispatcher,
        limits=app[LIMITS],
        hello=hello,
    )

    def own_frames(frame: ToolFrame, encoded: bytes) -> None:
        if frame.session_id == session_id:
            socket.send_encoded(encoded)

    def pump(live_session: LiveSession) -> Awaitable[None]:
        return _listen(socket, session, live_session, app[LIMITS])

    socket.send(_rate(model, room, session_id))
    socket.expect_audio(AudioFormat(model.output_rate_hz))
    unsubscribe = room.feed.subscribe(own_frames)
    try:
        with structlog.contextvars.bound_contextvars(session_id=session_id):
            end = await session.run(pump, stopping=app[SOCKETS].stopping)
            _log.info("session_ended", code=end.code)
    finally:
        unsubscribe()
        app[SESSIONS].end()
    raise Closing(end.code, end.reason)


def _rate(model: LiveModel, room: Room, session_id: str) -> messages.Rate:
    return messages.Rate(
        input_rate=model.input_rate_hz,
        output_rate=model.output_rate_hz,
        provider=model.name,
        model=model.model,
        room=room.name,
        session_id=session_id,
    )


async def _listen(
    socket: ClientSocket, session: VoiceSession, live_session: LiveSession, limits: Limits
) -> None:
    """Read the client until it is gone; a bad message costs itself, not the session."""
    aligner = SampleAligner()
    async for data in socket.receive():
        if isinstance(data, str):
            try:
                await session.take(live_session, codec.decode_live_client(data))
            except Refusal as refusal:
                socket.refuse(refusal)
        elif 0 < len(data) <= limits.audio_message_max_bytes:
            await session.hear(live_session, aligner.push(data).pcm)
        else:
            bound = limits.audio_message_max_bytes
            sentence = f"an audio message must have 1 to {bound} bytes"
            socket.send(messages.Error(code="bad-audio", message=sentence, fatal=False))
