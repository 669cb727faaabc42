"""HTTP doors to the WebAssembly shelf."""

import secrets

from aiohttp import web

from relay.extensions import LIST
from relay.server.json import json_response
from relay.server.keys import ROOMS, SHELF
from relay.server.tool_routes import outcome_body
from relay.tools.tool import CallId, ToolCall


async def shelf(request: web.Request) -> web.Response:
    """GET /api/shelf: every entry, admitted or refused, and what confines its worker."""
    return json_response(await request.app[SHELF].status())


async def extensions(request: web.Request) -> web.Response:
    """GET /api/extensions: what the tool `list_extensions` answers."""
    call = ToolCall(call_id=CallId(f"call_{secrets.token_hex(16)}"), name=LIST, via="http")
    outcome = await request.app[ROOMS].get("main").dispatcher.call(call)
    return json_response(outcome_body(call, outcome))
