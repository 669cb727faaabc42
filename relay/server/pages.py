"""The pages: static files, and the bridge with its scripts.

Reads only inside the static folder; no dot-files, no symlinks. Headers come from
`relay.server.headers`.
"""

import asyncio
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from relay.server.bridge_page import bridge_page, joined, sdk_script

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ts": "text/plain",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}


class Pages:
    """The files of one static folder, which is an absolute path without symlinks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def file(self, path: str) -> web.StreamResponse:
        """A static file by its path. Raises: HTTPNotFound."""
        parts = path.split("/")
        hidden = any(part.startswith(".") or not part or "\\" in part for part in parts)
        if hidden or "\0" in path:
            raise web.HTTPNotFound
        found = self._folder.joinpath(*parts)
        if found.suffix not in _TYPES or not await asyncio.to_thread(_is_plain_file, found):
            raise web.HTTPNotFound
        response = web.FileResponse(found)
        response.content_type = _TYPES[found.suffix]
        response.charset = "utf-8" if _TYPES[found.suffix].startswith("text/") else None
        return response

    def fixed(self, path: str) -> Handler:
        """A handler that answers with always the same file."""

        async def handler(_: web.Request) -> web.StreamResponse:
            return await self.file(path)

        return handler

    async def named(self, request: web.Request) -> web.StreamResponse:
        """GET /static/{path}: the file that the request names."""
        return await self.file(request.match_info["path"])

    async def bridge(self, _: web.Request) -> web.Response:
        """The mediator page with its scripts inline: its own headers let it load nothing."""
        page = await asyncio.to_thread(bridge_page, self._folder / "sandbox")
        return web.Response(text=page, content_type="text/html", charset="utf-8")

    async def bridge_script(self, _: web.Request) -> web.Response:
        """The bridge's script as it stands in its page, to read."""
        script = await asyncio.to_thread(joined, self._folder / "sandbox/mini-app-bridge.js")
        return web.Response(text=script, content_type="text/javascript", charset="utf-8")

    async def sdk_script(self, _: web.Request) -> web.Response:
        """The SDK as every mini-app gets it, to read."""
        script = await asyncio.to_thread(sdk_script, self._folder / "sandbox")
        return web.Response(text=script, content_type="text/javascript", charset="utf-8")


def _is_plain_file(path: Path) -> bool:
    """A regular file with no symlink on the way (the folder itself is resolved)."""
    try:
        return path.is_file() and path.resolve() == path
    except OSError:  # a name that is too long
        return False
