"""The typed places in which `make_app` leaves the parts of the relay."""

from aiohttp import web

from relay.metrics import Metrics
from relay.miniapps.collection import MiniApps
from relay.protocol.limits import Limits
from relay.providers.model import LiveModel
from relay.room import Rooms
from relay.server.open_sockets import OpenSockets
from relay.server.pages import Pages
from relay.server.security import Guard
from relay.server.sessions import Sessions
from relay.server.unread import Unread
from relay.shelf.host import ShelfHost

DEFAULT_PROVIDER = web.AppKey("DEFAULT_PROVIDER", str)
GUARD = web.AppKey("GUARD", Guard)
LIMITS = web.AppKey("LIMITS", Limits)
METRICS = web.AppKey("METRICS", Metrics)
MINI_APPS = web.AppKey("MINI_APPS", MiniApps)
MODELS = web.AppKey("MODELS", dict[str, LiveModel])
PAGES = web.AppKey("PAGES", Pages)
ROOMS = web.AppKey("ROOMS", Rooms)
SESSIONS = web.AppKey("SESSIONS", Sessions)
SHELF = web.AppKey("SHELF", ShelfHost)
SOCKETS = web.AppKey("SOCKETS", OpenSockets)
UNREAD = web.AppKey("UNREAD", Unread)
