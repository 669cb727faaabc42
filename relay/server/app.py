"""The composition root: every part is built here, once, and put under its AppKey."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from aiohttp import web

from relay import assets
from relay.extensions import Extensions
from relay.metrics import Metrics
from relay.miniapp_tools import MiniAppTools
from relay.miniapps.collection import MiniApps
from relay.protocol.limits import Limits
from relay.providers.model import LiveModel
from relay.room import Room, Rooms
from relay.server import headers, keys, miniapp_routes
from relay.server.local_models import local_models
from relay.server.open_sockets import OpenSockets
from relay.server.pages import Pages
from relay.server.refusals import guard, refusals
from relay.server.remote_models import remote_models
from relay.server.routes import add_routes
from relay.server.security import Guard
from relay.server.sessions import Sessions
from relay.server.unread import Unread
from relay.settings import (
    Settings,
    SettingsError,
    admitted_digests,
    mini_app_places,
    shelf_folder,
)
from relay.shelf.host import ShelfHost
from relay.upkeep import keep_up

_DRAIN_S = 5.0


def make_app(
    settings: Settings,
    *,
    token: str,
    limits: Limits | None = None,
    models: dict[str, LiveModel] | None = None,
    shelf: ShelfHost | None = None,
) -> web.Application:
    """The whole relay as one aiohttp application; `limits` in the place of the settings' own.

    Raises: SettingsError for a bad provider.
    """
    limits = limits or settings.limits
    app = web.Application(middlewares=[refusals, guard], client_max_size=limits.body_max_bytes + 1)
    app[keys.LIMITS] = limits
    app[keys.METRICS] = Metrics()
    app[keys.SESSIONS] = Sessions(app[keys.METRICS])
    app[keys.SOCKETS] = OpenSockets(limits=limits)
    app[keys.UNREAD] = Unread(limits)
    app[keys.GUARD] = Guard(token=token, public_host=settings.public_host)
    app[keys.PAGES] = Pages(assets.STATIC)
    app[keys.MINI_APPS] = MiniApps(
        places=mini_app_places(settings, shipped=assets.MINI_APPS), limits=limits
    )
    known = local_models(settings) | remote_models(settings, limits)
    app[keys.MODELS] = models if models is not None else known
    app[keys.DEFAULT_PROVIDER] = _known(settings.provider, app[keys.MODELS])
    app[keys.SHELF] = shelf if shelf is not None else _shelf(settings, limits)
    app[keys.ROOMS] = Rooms(limits=limits, show_args=settings.frame_args, prepare=_preparation(app))
    add_routes(app)
    app.on_response_prepare.append(headers.add_headers)
    app.on_shutdown.append(_close_sockets)
    app.cleanup_ctx.extend(
        [_watch_unread, _run_shelf, _run_models, miniapp_routes.run_mini_apps, _close_rooms]
    )
    return app


def _known(provider: str, models: dict[str, LiveModel]) -> str:
    if provider not in models:
        raise SettingsError(f"no provider {provider!r}; known are {', '.join(sorted(models))}")
    return provider


def _shelf(settings: Settings, limits: Limits) -> ShelfHost:
    return ShelfHost(
        folder=shelf_folder(settings, shipped=assets.SHELF),
        limits=limits,
        admitted=admitted_digests(settings),
    )


def _preparation(app: web.Application) -> Callable[[Room], None]:
    """What every new room gets: the relay's own tools, and the shelf's whenever they change."""

    def prepare(room: Room) -> None:
        shelf = app[keys.SHELF]

        def declare() -> None:
            room.registry.reserve(shelf, shelf.specs(), why_not=shelf.refusal)

        extensions = Extensions(
            shelf_status=shelf.status,
            is_extension=shelf.knows,
            dispatcher=room.dispatcher,
        )
        room.registry.reserve(extensions, extensions.specs())
        mini_app_tools = MiniAppTools(
            mini_apps=app[keys.MINI_APPS],
            tell_one=room.tell_one_page,
            tell_all=room.tell_pages,
            limits=app[keys.LIMITS],
        )
        room.registry.reserve(mini_app_tools, mini_app_tools.specs())
        declare()
        room.when_closed(shelf.subscribe(declare))
        room.feed.subscribe(lambda frame, _: app[keys.METRICS].observe(frame))

    return prepare


async def _watch_unread(app: web.Application) -> AsyncIterator[None]:
    watching = asyncio.create_task(keep_up(app[keys.UNREAD].watch), name="unread watch")
    yield
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


async def _run_shelf(app: web.Application) -> AsyncIterator[None]:
    await app[keys.SHELF].start()
    yield
    await app[keys.SHELF].stop()


async def _run_models(app: web.Application) -> AsyncIterator[None]:
    for model in app[keys.MODELS].values():
        if model.name == app[keys.DEFAULT_PROVIDER]:
            await model.start()
    yield
    for model in app[keys.MODELS].values():
        await model.stop()


async def _close_sockets(app: web.Application) -> None:
    app[keys.UNREAD].hurry()
    with suppress(TimeoutError):
        await asyncio.wait_for(app[keys.ROOMS].drain(), _DRAIN_S)
    await app[keys.SOCKETS].close_all()


async def _close_rooms(app: web.Application) -> AsyncIterator[None]:
    yield
    app[keys.ROOMS].close()
