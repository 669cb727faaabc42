"""HTTP doors to the mini-apps on disk, and the news of them to every page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Raw, Struct

from relay.miniapps.listing import Listing
from relay.miniapps.target import Wish
from relay.miniapps.watcher import watch
from relay.protocol.messages import MiniAppNews
from relay.protocol.refusals import Refusal, RefusalCode
from relay.server.json import json_response, read_json
from relay.server.keys import LIMITS, MINI_APPS, ROOMS
from relay.upkeep import keep_up


class SaveBody(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """POST and PUT /api/mini-apps; html that is no text counts as missing."""

    html: Any = None
    title: str | None = None
    file_name: str | None = None
    app_id: str | None = None


async def mini_apps(request: web.Request) -> web.Response:
    """GET /api/mini-apps: all records without html, or one with it (`?id=`)."""
    library = request.app[MINI_APPS]
    name = request.query.get("id")
    if name is not None:
        return json_response({"ok": True, "miniApp": await library.find(name)})
    return json_response(await library.look(listed))


def listed(listing: Listing) -> dict[str, object]:
    """The answer that lists; records are encoded one by one, so that others run meanwhile."""
    encoder = msgspec.json.Encoder()
    records = b",".join(encoder.encode(entry.artifact) for entry in listing.entries)
    facts = {"count": len(listing.entries), "truncated": listing.truncated}
    return {"ok": True, "miniApps": Raw(b"[" + records + b"]"), **facts}


async def save(request: web.Request) -> web.Response:
    """POST or PUT /api/mini-apps: save by the rules of ownership; unknown keys are refused."""
    body = await read_json(request, SaveBody, max_bytes=request.app[LIMITS].body_max_bytes)
    wish = Wish(
        html=body.html if isinstance(body.html, str) else "",
        title=body.title or "",
        file_name=body.file_name or "",
        app_id=body.app_id or "",
    )
    saved = await request.app[MINI_APPS].save(wish)
    return json_response(
        {"ok": True, "created": saved.created, "updated": saved.updated, "miniApp": saved.artifact}
    )


async def delete(request: web.Request) -> web.Response:
    """DELETE /api/mini-apps?id=: delete by the rules of ownership."""
    name = request.query.get("id")
    if not name:
        raise Refusal(RefusalCode.BAD_REQUEST, "say which: ?id=")
    gone = await request.app[MINI_APPS].delete(name)
    return json_response({"ok": True, "deleted": True, "miniApp": gone})


async def run_mini_apps(app: web.Application) -> AsyncIterator[None]:
    """A cleanup context: finish what a crash interrupted, then watch and tell every page."""
    library = app[MINI_APPS]

    def tell(news: MiniAppNews) -> None:
        for room in app[ROOMS].all():
            room.tell_pages(news)

    unsubscribe = library.subscribe(tell)
    await library.recover()
    await library.compare()
    look = partial(watch, library.places, changed=library.compare, limits=app[LIMITS])
    watching = asyncio.create_task(keep_up(look), name="mini-apps watch")
    yield
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    unsubscribe()
