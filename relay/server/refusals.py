"""Middlewares at the edge: every no leaves in one shape, and no traceback leaves at all."""

from http import HTTPStatus

import structlog
from aiohttp import http_exceptions, web
from aiohttp.typedefs import Handler

from relay.protocol.refusals import EXPLAINED, Refusal, RefusalCode
from relay.server.json import json_response
from relay.server.keys import GUARD

_FAILED = "the relay failed; its log says where"
_OPEN = frozenset({"/api/health"})
_log = structlog.get_logger(__name__)


@web.middleware
async def refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn a Refusal into its status and the one error body."""
    try:
        return await handler(request)
    except Refusal as refusal:
        _log.info("request_refused", refused=str(refusal.code))
        return json_response(refusal.body(), status=EXPLAINED[refusal.code].status)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return refused_by_http(error)
    except MemoryError:
        full = Refusal(RefusalCode.SERVER_FULL, "the machine has no memory for this now")
        return json_response(full.body(), status=EXPLAINED[full.code].status)
    except Exception as fault:  # a bug, unless the client is what failed
        return _broke(client_is_gone=isinstance(fault, ConnectionError) and _is_gone(request))


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Host and Origin of everything; the token of /api and /metrics (sockets say hello)."""
    checks = request.app[GUARD]
    checks.check_request(request)
    closed = request.path.startswith("/api/") or request.path == "/metrics"
    if closed and request.path not in _OPEN:
        checks.check_api(request)
    return await handler(request)


def refused_by_http(error: web.HTTPException) -> web.Response:
    """What aiohttp refuses by itself; its own text may repeat what was sent."""
    missing = error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
    what = "no such route or method here" if missing else "the request does not fit this route"
    refusal = Refusal(RefusalCode.BAD_REQUEST, f"{HTTPStatus(error.status).phrase}: {what}")
    return json_response(refusal.body(), status=error.status)


def refused_by_parser(status: int, fault: BaseException | None) -> web.Response:
    """What never became a request, or broke outside of every handler."""
    if status >= 500:
        refusal = Refusal(RefusalCode.INTERNAL_ERROR, _FAILED)
    else:
        refusal = Refusal(RefusalCode.BAD_REQUEST, _no_http(fault))
    return json_response(refusal.body(), status=status)


def _no_http(fault: BaseException | None) -> str:
    match fault:
        case http_exceptions.LineTooLong():
            return "a line of the request is too long"
        case http_exceptions.InvalidURLError():
            return "the address in the request is none"
        case http_exceptions.ContentEncodingError() | http_exceptions.TransferEncodingError():
            return "the body's encoding can't be read"
        case _:
            return "that is no HTTP request"


def _broke(*, client_is_gone: bool) -> web.Response:
    """Tell the peer by code only; the log has the traceback of what is our fault."""
    if client_is_gone:
        _log.info("client_gone")
    else:
        _log.exception("request_broke")
    return json_response(Refusal(RefusalCode.INTERNAL_ERROR, _FAILED).body(), status=500)


def _is_gone(request: web.Request) -> bool:
    """Whether nobody is left to hear an answer."""
    return request.transport is None or request.transport.is_closing()
