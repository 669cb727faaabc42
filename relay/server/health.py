"""GET /api/health: is the relay up, and is the voice ready. Needs no token; tells no secret."""

from aiohttp import web

import relay
from relay.server.json import json_response
from relay.server.keys import DEFAULT_PROVIDER, MODELS, SESSIONS, SHELF


async def health(request: web.Request) -> web.Response:
    """Answer at once, whatever is still loading."""
    app = request.app
    sessions = app[SESSIONS]
    provider = app[DEFAULT_PROVIDER]
    return json_response(
        {
            "ok": True,
            "version": relay.__version__,
            "uptimeS": sessions.uptime_s,
            "live": {"created": sessions.created, "open": sessions.open},
            "shelf": {"ok": app[SHELF].ok},
            "provider": {"name": provider, "ready": app[MODELS][provider].ready},
        }
    )
