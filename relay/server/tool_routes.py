"""HTTP doors to the tools of a room: list, call, register."""

import asyncio
import secrets
from collections.abc import Coroutine
from typing import Annotated, Any

from aiohttp import web
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from relay.protocol.messages import Ident, Json, Name
from relay.protocol.refusals import EXPLAINED, Refusal, RefusalCode
from relay.providers.model import ToolUpdate
from relay.server.json import json_response, read_json
from relay.server.keys import LIMITS, ROOMS
from relay.server.registration import accepted_and_rejected
from relay.tools.arguments import parse_arguments
from relay.tools.declarations import gemini_declaration, openai_declaration
from relay.tools.tool import CallId, ToolCall, ToolOutcome, ToolSucceeded
from relay.voice.session import tools_message

_LOOK_S = 0.1


class CallBody(Struct, frozen=True, forbid_unknown_fields=True):
    """POST /api/call."""

    name: Annotated[str, Meta(max_length=128)]
    args: Json | UnsetType = UNSET
    room: Name = "main"


class ToolsBody(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """POST /api/mini-app/tools."""

    app_id: Ident
    tools: list[Json]
    title: Annotated[str, Meta(max_length=256)] = ""
    room: Name = "main"


async def list_tools(request: web.Request) -> web.Response:
    """GET /api/tools: what models can call, and how each dialect declares it."""
    room = request.app[ROOMS].get(request.query.get("room", "main"))
    tools = room.registry.tools()
    told = tools_message(room.registry.revision, tools, ToolUpdate.APPLIED)
    declarations = {
        "openai": [openai_declaration(tool) for tool in tools],
        "gemini": [gemini_declaration(tool) for tool in tools],
    }
    return json_response({"ok": True, "tools": told.tools, "declarations": declarations})


async def call_tool(request: web.Request) -> web.Response:
    """POST /api/call: the shared executor; a refusal is an outcome, so the status stays 200.

    A client that goes away ends its call.
    """
    body = await read_json(request, CallBody, max_bytes=request.app[LIMITS].body_max_bytes)
    call = _call(body)
    room = request.app[ROOMS].get(body.room)
    outcome = await _while_asked(request, room.dispatcher.call(call))
    return json_response(outcome_body(call, outcome))


async def _while_asked(
    request: web.Request, running: Coroutine[Any, Any, ToolOutcome]
) -> ToolOutcome:
    """The outcome; the call is cancelled once nobody is left to hear it.

    Looked for, since aiohttp says it only by cancelling every route's handler, and a save must
    not be cut off. Raises: Refusal cancelled.
    """
    async with asyncio.TaskGroup() as group:
        task = group.create_task(running)
        while not (await asyncio.wait({task}, timeout=_LOOK_S))[0]:
            if request.transport is None:
                task.cancel()
    if task.cancelled():
        raise Refusal(RefusalCode.CANCELLED, "the client went away")
    return task.result()


def _call(body: CallBody) -> ToolCall:
    args: object = None
    error = None
    try:
        args = {} if body.args is UNSET else parse_arguments(bytes(body.args))
    except Refusal as refusal:
        error = refusal.why
    call_id = CallId(f"call_{secrets.token_hex(16)}")
    return ToolCall(call_id=call_id, name=body.name, args=args, args_error=error, via="http")


def outcome_body(call: ToolCall, outcome: ToolOutcome) -> dict[str, Any]:
    """An outcome as HTTP tells it."""
    times = {"durationMs": outcome.duration_ms, "queuedMs": round(outcome.queued_ms, 1)}
    facts = {"callId": call.call_id, "name": call.name, **times}
    if isinstance(outcome, ToolSucceeded):
        return {"ok": True, **facts, "result": Raw(outcome.result_json)}
    return {"ok": False, **facts, "refused": str(outcome.code), "why": outcome.why}


async def register_tools(request: web.Request) -> web.Response:
    """POST /api/mini-app/tools: an app's whole set, for the page that runs the app.

    The seed's own bound and status: over 65,536 bytes is 400 `body-too-large`.
    """
    limits = request.app[LIMITS]
    try:
        body = await read_json(request, ToolsBody, max_bytes=limits.tools_body_max_bytes)
    except Refusal as refusal:
        oversized = refusal.code is RefusalCode.BODY_TOO_LARGE
        status = 400 if oversized else EXPLAINED[refusal.code].status
        return json_response(refusal.body(), status=status)
    room = request.app[ROOMS].get(body.room)
    admission = await room.register(room.page_of(body.app_id), body.app_id, body.tools)
    accepted, rejected = accepted_and_rejected(admission)
    return json_response(
        {"ok": True, "appId": body.app_id, "accepted": accepted, "rejected": rejected}
    )
