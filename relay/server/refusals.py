"""Middlewares at the edge: every no leaves in one shape, and no traceback leaves at all."""

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from relay.protocol.refusals import EXPLAINED, Refusal, RefusalCode
from relay.server.json import json_response
from relay.server.keys import GUARD

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
        unknown = Refusal(RefusalCode.BAD_REQUEST, f"{error.reason}: no such route or method here")
        return json_response(unknown.body(), status=error.status)
    except MemoryError:
        full = Refusal(RefusalCode.SERVER_FULL, "the machine has no memory for this now")
        return json_response(full.body(), status=EXPLAINED[full.code].status)
    except Exception:  # a bug: logged here with its traceback, told to the peer by code only
        _log.exception("request_broke")
        fault = Refusal(RefusalCode.INTERNAL_ERROR, "the relay failed; its log says where")
        return json_response(fault.body(), status=500)


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Host and Origin of everything; the token of /api and /metrics (sockets say hello)."""
    checks = request.app[GUARD]
    checks.check_request(request)
    closed = request.path.startswith("/api/") or request.path == "/metrics"
    if closed and request.path not in _OPEN:
        checks.check_api(request)
    return await handler(request)
