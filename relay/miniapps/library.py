"""The mini-apps on disk, for everybody: voice, HTTP, command line and page ask this one object.

Files are touched in threads only. Saves of one name stand in line; whatever changes on disk,
by a save or by hand, is told to the subscribers as the difference of two looks.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import structlog

from relay.miniapps.artifact import Artifact, slug_of
from relay.miniapps.catalog import Catalog
from relay.miniapps.listing import Listing
from relay.miniapps.news import differences
from relay.miniapps.places import Places
from relay.miniapps.store import Saved, Store
from relay.miniapps.target import Wish
from relay.protocol.limits import Limits
from relay.protocol.messages import MiniAppNews
from relay.protocol.refusals import Refusal
from relay.tools.tool import AppId

Listener = Callable[[MiniAppNews], None]
_log = structlog.get_logger(__name__)


class MiniApps:
    """Lists, finds, saves and deletes."""

    def __init__(self, *, places: Places, limits: Limits) -> None:
        self.places = places
        self._limits = limits
        self._catalog = Catalog(places=places, limits=limits)
        self._store = Store(catalog=self._catalog, limits=limits)
        self._names = _Names()
        self._comparing = asyncio.Lock()
        self._known: dict[AppId, Artifact] | None = None
        self._listeners: list[Listener] = []

    async def list(self) -> Listing:
        """Everything there is now, without html."""
        return await asyncio.to_thread(self._catalog.look)

    async def find(self, name: str) -> Artifact:
        """One artifact with its html. Raises: Refusal `mini-app-not-found`."""
        return await asyncio.to_thread(self._catalog.read, name)

    async def save(self, wish: Wish) -> Saved:
        """Save, and tell it. Raises: as `Store.save`."""
        await self.compare()
        async with self._names.held(wish.file_name or wish.title or wish.app_id):
            saved = await asyncio.to_thread(self._store.save, wish)
        await self.compare()
        return saved

    async def delete(self, name: str) -> Artifact:
        """Delete what the name means, and tell it. Raises: as `Store.delete`."""
        await self.compare()
        async with self._names.held(name):
            gone = await asyncio.to_thread(self._store.delete, name)
        await self.compare()
        return gone

    async def recover(self) -> None:
        """Finish what a crash interrupted; a folder that can't be used is logged, no more."""
        try:
            await asyncio.to_thread(self._store.recover)
        except Refusal as refusal:
            _log.warning("mini_apps_not_recovered", refused=str(refusal.code), why=refusal.why)

    async def compare(self) -> None:
        """Look, and tell what is different from the last look; the first one tells nothing."""
        async with self._comparing:
            listing = await asyncio.to_thread(self._catalog.look)
            now = {AppId(artifact.app_id): artifact for artifact in listing.artifacts}
            before, self._known = self._known, now
            if before is None:
                return
            for news in differences(before, now, news_max=self._limits.mini_app_news_max):
                for listener in tuple(self._listeners):
                    listener(news)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener`, which must not block, all news from now on; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class _Names:
    """One lock for each name that is being written now."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        slug = slug_of(name)
        lock, users = self._locks.get(slug, (asyncio.Lock(), 0))
        self._locks[slug] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(slug)
            if users > 1:
                self._locks[slug] = (lock, users - 1)
