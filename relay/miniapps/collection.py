"""The mini-apps on disk, for everybody: voice, HTTP, command line and page ask this one object.

Files are touched in threads only. Saves of one name stand in line; whatever changes on disk,
by a save or by hand, is told to the subscribers as the difference of two looks.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import structlog

from relay.miniapps.artifact import Artifact, slug_of
from relay.miniapps.catalog import Catalog
from relay.miniapps.listing import Listing
from relay.miniapps.news import Known, differences
from relay.miniapps.places import Places
from relay.miniapps.store import Saved, Store
from relay.miniapps.target import Wish
from relay.protocol.limits import Limits
from relay.protocol.messages import MiniAppNews
from relay.protocol.refusals import Refusal
from relay.tools.tool import AppId

Listener = Callable[[MiniAppNews], None]
Seen = TypeVar("Seen")
_log = structlog.get_logger(__name__)


class MiniApps:
    """Looks, finds, saves and deletes."""

    def __init__(self, *, places: Places, limits: Limits) -> None:
        self.places = places
        self._limits = limits
        self._catalog = Catalog(places=places, limits=limits)
        self._store = Store(catalog=self._catalog, limits=limits)
        self._names = _Names()
        self._comparing = asyncio.Lock()
        self._known: Known | None = None
        self._listeners: list[Listener] = []

    async def look(self, use: Callable[[Listing], Seen]) -> Seen:
        """What `use` makes of everything that there is now, without html.

        It runs in a thread: a long listing is long to read through, too.
        """
        return await asyncio.to_thread(lambda: use(self._catalog.look()))

    async def find(self, name: str) -> Artifact:
        """One artifact with its html. Raises: Refusal `mini-app-not-found`."""
        return await asyncio.to_thread(self._catalog.read, name)

    async def save(self, wish: Wish) -> Saved:
        """Save, and tell it. Raises: as `Store.save`."""
        await self._know()
        async with self._names.held(wish.file_name or wish.title or wish.app_id):
            saved = await asyncio.to_thread(self._store.save, wish)
        await self.compare()
        return saved

    async def delete(self, name: str) -> Artifact:
        """Delete what the name means, and tell it. Raises: as `Store.delete`."""
        await self._know()
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
            self._known, news = await asyncio.to_thread(self._difference, self._known)
            for each in news:
                for listener in tuple(self._listeners):
                    listener(each)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener`, which must not block, all news from now on; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def _know(self) -> None:
        """What is there before a change, so that the change is news."""
        if self._known is None:
            await self.compare()

    def _difference(self, before: Known | None) -> tuple[Known, Sequence[MiniAppNews]]:
        now = {AppId(artifact.app_id): artifact for artifact in self._catalog.look().artifacts}
        if before is None:
            return now, []
        return now, differences(before, now, news_max=self._limits.mini_app_news_max)


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
