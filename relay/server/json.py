"""JSON bodies in and out: one encoder, one bounded reader."""

from typing import TypeVar

import msgspec
from aiohttp import web

from relay.protocol.limits import KIB
from relay.protocol.refusals import Refusal, RefusalCode

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
    async for piece in request.content.iter_chunked(64 * KIB):
        pieces += piece
        if len(pieces) > max_bytes:
            raise too_large
    return bytes(pieces)
