"""JSON bodies in and out: one encoder, one bounded reader."""

import asyncio
from typing import TypeVar

import msgspec
from aiohttp import web

from relay.protocol.limits import KIB
from relay.protocol.refusals import Refusal, RefusalCode
from relay.server.keys import LIMITS

Body = TypeVar("Body")
_encoder = msgspec.json.Encoder()


def json_response(body: object, *, status: int = 200) -> web.Response:
    """`body` (structs welcome) as application/json."""
    return web.Response(
        body=_encoder.encode(body), status=status, content_type="application/json", charset="utf-8"
    )


async def read_json(request: web.Request, shape: type[Body], *, max_bytes: int) -> Body:
    """The body as `shape`.

    Raises: Refusal `unsupported-content-type`, `body-too-large`, `bad-json`, `bad-request`.
    """
    if request.content_type != "application/json":
        raise Refusal(RefusalCode.UNSUPPORTED_CONTENT_TYPE, "the body must be application/json")
    text = await _read(request, max_bytes)
    try:
        return msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError as error:
        raise Refusal(RefusalCode.BAD_REQUEST, str(error)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Refusal(RefusalCode.BAD_JSON, f"the body is not JSON: {error}") from None


async def _read(request: web.Request, max_bytes: int) -> bytes:
    """Up to `max_bytes`; a longer body is refused before it is read whole."""
    too_large = Refusal(RefusalCode.BODY_TOO_LARGE, f"the body is over {max_bytes} bytes")
    if request.content_length is not None and request.content_length > max_bytes:
        raise too_large
    pieces = bytearray()
    while piece := await _piece(request):
        pieces += piece
        if len(pieces) > max_bytes:
            raise too_large
    return bytes(pieces)


async def _piece(request: web.Request) -> bytes:
    """The next of the body; nothing at its end."""
    idle_ms = request.app[LIMITS].http_idle_ms
    try:
        async with asyncio.timeout(idle_ms / 1000):
            return await request.content.read(64 * KIB)
    except TimeoutError:
        why = f"nothing of the body came for {idle_ms} ms"
        raise Refusal(RefusalCode.BAD_REQUEST, why) from None
    except web.RequestPayloadError:
        raise Refusal(RefusalCode.BAD_REQUEST, "the body can't be read to its end") from None
