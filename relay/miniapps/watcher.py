"""Watches the folders of mini-apps, so that a file that somebody drops there is news at once.

Watches each folder by itself, never a whole tree. Says only that something changed.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from relay.miniapps.names import is_seen
from relay.miniapps.places import Places, opened_folder
from relay.miniapps.walk import PROJECT_FOLDERS
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal

_STEP_MS = 50
_WORKSPACE_DEPTH, _SANDBOX_DEPTH = 1, 3  # a sandbox is a folder of the homes
_log = structlog.get_logger(__name__)


async def watch(places: Places, *, changed: Callable[[], Awaitable[None]], limits: Limits) -> None:
    """Call `changed` at once, and soon after each change on disk, until cancelled.

    The workspace and the shelf are made where they are missing, so that there is what to watch.
    """
    await asyncio.to_thread(_make, places)
    while True:
        seen = await asyncio.to_thread(_Seen, places, limits)
        await changed()
        try:
            await _until_other_folders(seen, changed, limits)
        except (OSError, RuntimeError) as error:  # a folder went away, or no watches are left
            _log.warning("mini_apps_not_watched", error=type(error).__name__)
            await asyncio.sleep(limits.mini_app_watch_rest_ms / 1000)


async def _until_other_folders(
    seen: "_Seen", changed: Callable[[], Awaitable[None]], limits: Limits
) -> None:
    """Follow the system's events, and the folders' own times for what no event told."""
    if not seen.folders:
        raise FileNotFoundError
    async for changes in awatch(
        *seen.folders,
        watch_filter=_is_visible,
        debounce=limits.mini_app_watch_settle_ms,
        step=_STEP_MS,
        rust_timeout=limits.mini_app_watch_rest_ms,
        yield_on_timeout=True,
        recursive=False,
        ignore_permission_denied=True,
    ):
        times = await asyncio.to_thread(seen.times_now)
        if changes or times != seen.times:
            seen.times = times
            if await asyncio.to_thread(seen.has_other_folders):
                return
            await changed()


class _Seen:
    """The folders to watch, and when each last got or lost an entry."""

    def __init__(self, places: Places, limits: Limits) -> None:
        self._places = places
        self._limits = limits
        self.folders = _folders(places, limits)
        self.times = self.times_now()

    def times_now(self) -> list[int | None]:
        roots = (self._places.workspace, self._places.shelf, self._places.sandbox_homes)
        return [_time_of(folder) for folder in (*roots, *self.folders)]

    def has_other_folders(self) -> bool:
        return _folders(self._places, self._limits) != self.folders


def _time_of(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _is_visible(_: Change, path: str) -> bool:
    return is_seen(Path(path).name)


def _make(places: Places) -> None:
    for folder in (places.workspace, places.shelf):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _log.warning("mini_app_folder_not_made", error=type(error).__name__)


def _folders(places: Places, limits: Limits) -> list[Path]:
    """The folders that there are, within the bound; the examples do not change."""
    found = [places.shelf] if places.shelf.is_dir() else []
    for root, depth in (
        (places.workspace, _WORKSPACE_DEPTH),
        (places.sandbox_homes, _SANDBOX_DEPTH),
    ):
        level: list[tuple[str, ...]] = [()] if root.is_dir() else []
        for left in range(depth, -1, -1):
            room = limits.mini_app_folders_watched_max - len(found)
            found += [root.joinpath(*parts) for parts in level[: max(room, 0)]]
            level = [inner for parts in level for inner in _inside(root, parts)] if left else []
    return found


def _inside(root: Path, parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    try:
        with opened_folder(root, parts) as folder, os.scandir(folder) as entries:
            return sorted(
                (*parts, entry.name)
                for entry in entries
                if is_seen(entry.name)
                and entry.name not in PROJECT_FOLDERS
                and entry.is_dir(follow_symlinks=False)
            )
    except (OSError, Refusal):
        return []
