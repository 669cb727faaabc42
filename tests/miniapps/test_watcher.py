import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from relay.miniapps.watcher import watch
from relay.protocol.limits import Limits
from tests.miniapps.conftest import Folders, put

PATIENCE_S = 30.0


class Looks:
    """What the newest look saw; waits until one sees what was done."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._titles: dict[str, str] = {}
        self._looked = asyncio.Event()

    async def look(self) -> None:
        found = await asyncio.to_thread(self._folders.look)
        self._titles = {each.app_id: each.title for each in found.artifacts}
        self._looked.set()

    async def first(self) -> None:
        await self._looked.wait()

    async def until(self, ids: set[str]) -> None:
        await self._until(lambda titles: set(titles) == ids)

    async def until_titled(self, app_id: str, title: str) -> None:
        await self._until(lambda titles: titles.get(app_id) == title)

    async def _until(self, holds: Callable[[dict[str, str]], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds(self._titles):
                self._looked.clear()
                await self._looked.wait()


@asynccontextmanager
async def watching(folders: Folders, **bounds: int) -> AsyncIterator[Looks]:
    looks = Looks(folders)
    limits = Limits(**{"mini_app_watch_settle_ms": 50, "mini_app_watch_rest_ms": 200, **bounds})
    task = asyncio.ensure_future(watch(folders.places, changed=looks.look, limits=limits))
    await looks.first()
    yield looks
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def do(function: Callable[..., object], *args: object) -> None:
    await asyncio.to_thread(function, *args)


async def test_a_file_that_is_dropped_changed_or_taken_away_is_seen(folders: Folders) -> None:
    async with watching(folders) as looks:
        await do(folders.page, "a.html", "<title>one</title>")
        await looks.until_titled("page_a", "one")
        await do(folders.page, "a.html", "<title>two</title>")
        await looks.until_titled("page_a", "two")
        await do((folders.workspace / "a.html").unlink)
        await looks.until(set())


async def test_a_file_in_a_new_folder_is_seen_and_so_is_the_next_one(folders: Folders) -> None:
    async with watching(folders) as looks:
        await do(folders.page, "new/a.html")
        await looks.until({"page_a"})
        await do(folders.page, "new/b.html")
        await looks.until({"page_a", "page_b"})


async def test_the_shelf_and_sandboxes_that_come_later_are_watched(folders: Folders) -> None:
    await do(folders.sandboxes.rmdir)
    async with watching(folders) as looks:
        await do(folders.shelf_app, "timer.html")
        await looks.until({"app_timer"})
        await do(put, folders.sandboxes / "box" / "in" / "a.html", "hi")
        await looks.until({"app_timer", "sandbox:box:in/a.html"})


async def test_missing_folders_are_made(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    for folder in (folders.workspace, folders.shelf):
        await do(folder.rmdir)
    async with watching(folders):
        assert await asyncio.to_thread(folders.workspace.is_dir)
        assert await asyncio.to_thread(folders.shelf.is_dir)


async def test_a_folder_over_the_bound_is_not_watched_but_listed(folders: Folders) -> None:
    for number in range(5):
        await do(folders.page, f"{number}/a.html")
    async with watching(folders, mini_app_folders_watched_max=2) as looks:
        await do(folders.page, "root.html")
        listed = set(await asyncio.to_thread(folders.kinds))
        assert "page_root" in listed
        await looks.until(listed)


async def test_folders_that_can_not_be_made_are_waited_for(folders: Folders) -> None:
    for folder in (folders.workspace, folders.shelf, folders.sandboxes):
        await do(folder.rmdir)
        await do(folder.write_text, "a file")
    async with watching(folders, mini_app_watch_rest_ms=10) as looks:
        await do(folders.workspace.unlink)
        await do(folders.page, "a.html")
        await looks.until({"page_a"})
