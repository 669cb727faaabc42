"""The OpenAPI description of the HTTP routes, made from the structs that read their bodies.

Source: OpenAPI 3.1.1; its schemas are JSON Schema 2020-12, which msgspec writes.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from msgspec import Struct

import relay
from relay.protocol.refusals import EXPLAINED
from relay.server.json import json_response

_JSON = "application/json"
# `ok` is false where the refusal of a tool, or a shelf that can't be read, is what was asked for
_DONE = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
_REFUSAL = {
    "type": "object",
    "properties": {
        "ok": {"const": False},
        "refused": {"enum": sorted(EXPLAINED)},
        "why": {"type": "string"},
    },
    "required": ["ok", "refused", "why"],
}


class Route(Struct, frozen=True):
    """One route of the API; `body` is the struct that reads what is sent."""

    method: str
    path: str
    handler: Handler
    body: type[Struct] | None = None
    query: tuple[str, ...] = ()
    needs_token: bool = True


def handler(routes: Sequence[Route]) -> Handler:
    """GET /api/openapi.json."""
    described = document(routes)

    async def openapi(_: web.Request) -> web.Response:
        return json_response(described)

    return openapi


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole description as JSON values."""
    bodies = {route.body for route in routes if route.body is not None}
    _, schemas = msgspec.json.schema_components(
        sorted(bodies, key=lambda body: body.__name__),
        ref_template="#/components/schemas/{name}",
    )
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.1",
        "info": {"title": "Voicebox Relay", "version": relay.__version__},
        "paths": paths,
        "components": {
            "schemas": {**schemas, "Refusal": _REFUSAL},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    summary = inspect.cleandoc(route.handler.__doc__ or "").partition("\n")[0]
    refusal = {_JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()} {route.path}",
        "summary": summary,
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}} for name in route.query
        ],
        "responses": {
            "200": {"description": "done", "content": {_JSON: {"schema": _DONE}}},
            "default": {"description": "refused", "content": refusal},
        },
        "security": [{"token": []}] if route.needs_token else [],
    }
    if route.body is not None:
        schema = {"$ref": f"#/components/schemas/{route.body.__name__}"}
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": schema}}}
    return operation
