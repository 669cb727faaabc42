"""Every route of the relay, declared once; the page of the API is made from this."""

from aiohttp import web
from aiohttp.typedefs import Handler

from relay.server import (
    extension_routes,
    frames,
    headers,
    health,
    live,
    miniapp_routes,
    openapi,
    tool_routes,
    workspace,
)
from relay.server.keys import PAGES
from relay.server.openapi import Route

SOCKETS: dict[str, Handler] = {
    "/live": live.live,
    "/workspace": workspace.workspace,
    "/frames": frames.frames,
}
API = (
    Route("GET", "/api/health", health.health, needs_token=False),
    Route("GET", "/api/tools", tool_routes.list_tools, query=("room",)),
    Route("POST", "/api/call", tool_routes.call_tool, body=tool_routes.CallBody),
    Route("POST", "/api/mini-app/tools", tool_routes.register_tools, body=tool_routes.ToolsBody),
    Route("GET", "/api/mini-apps", miniapp_routes.mini_apps, query=("id",)),
    Route("POST", "/api/mini-apps", miniapp_routes.save, body=miniapp_routes.SaveBody),
    Route("PUT", "/api/mini-apps", miniapp_routes.save, body=miniapp_routes.SaveBody),
    Route("DELETE", "/api/mini-apps", miniapp_routes.delete, query=("id",)),
    Route("GET", "/api/shelf", extension_routes.shelf),
    Route("GET", "/api/extensions", extension_routes.extensions),
    Route("GET", "/api/frames", frames.recent_frames, query=("room", "last")),
)


def add_routes(app: web.Application) -> None:
    """Put every route into the application's router."""
    for path, handler in SOCKETS.items():
        app.router.add_route("GET", path, handler)
    for route in API:
        app.router.add_route(route.method, route.path, route.handler)
    app.router.add_route("GET", "/api/openapi.json", openapi.handler(API))
    app.router.add_route("GET", "/metrics", frames.metrics)
    _add_pages(app)


def _add_pages(app: web.Application) -> None:
    pages = app[PAGES]
    served: dict[str, Handler] = {
        "/": pages.fixed("index.html"),
        "/dashboard": pages.fixed("dashboard.html"),
        headers.BRIDGE_PATH: pages.bridge,
        "/mini-app-bridge.js": pages.bridge_script,
        "/mini-app-sdk.js": pages.sdk_script,
        "/favicon.ico": pages.fixed("icon.svg"),
        "/static/{path:.+}": pages.named,
    }
    for path, handler in served.items():
        app.router.add_route("GET", path, handler)
