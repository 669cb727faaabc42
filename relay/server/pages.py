"""The pages: static files, and the bridge with its scripts.

Reads only inside the static folder; no dot-files, no symlinks. Headers come from
`relay.server.headers`.
"""

import asyncio
import os
import stat
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from relay.server.bridge_page import bridge_page, joined, sdk_script
from relay.server.static_files import StaticFile, StaticFiles, answer

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
        self._files = StaticFiles()

    async def file(self, request: web.Request, path: str) -> web.Response:
        """A static file by its path. Raises: HTTPNotFound."""
        parts = path.split("/")
        hidden = any(part.startswith(".") or not part or "\\" in part for part in parts)
        if hidden or "\0" in path:
            raise web.HTTPNotFound
        found = self._folder.joinpath(*parts)
        file = await asyncio.to_thread(self._read, found) if found.suffix in _TYPES else None
        if file is None:
            raise web.HTTPNotFound
        response = answer(request, file)
        response.content_type = _TYPES[found.suffix]
        response.charset = "utf-8" if _TYPES[found.suffix].startswith("text/") else None
        return response

    def fixed(self, path: str) -> Handler:
        """A handler that answers with always the same file."""

        async def handler(request: web.Request) -> web.StreamResponse:
            return await self.file(request, path)

        return handler

    async def named(self, request: web.Request) -> web.StreamResponse:
        """GET /static/{path}: the file that the request names."""
        return await self.file(request, request.match_info["path"])

    def _read(self, path: Path) -> StaticFile | None:
        try:
            seen = _plain_file(path)
            return None if seen is None else self._files.read(path, seen)
        except OSError:  # there is none, its name is too long, or it may not be read
            return None

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


def _plain_file(path: Path) -> os.stat_result | None:
    """What a regular file is like, with no symlink on the way (the folder itself is resolved)."""
    seen = path.lstat()
    return seen if stat.S_ISREG(seen.st_mode) and path.resolve() == path else None
