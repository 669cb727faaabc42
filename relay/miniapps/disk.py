"""Writing into a folder so that a crash leaves the old file or the new one, never a part.

A file is written under a temporary name beside its place, synced, and put in place in one step;
nothing is written through a link. Knows nothing of mini-apps.
"""

import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from relay.miniapps.places import opened_folder
from relay.protocol.refusals import Refusal, RefusalCode

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = re.compile(r"\.voicebox-[0-9a-f]{16}\.tmp")
_LOCK = ".voicebox-lock"
_LOCK_POLL_S = 0.01


def _go_on(step: str) -> None:
    """Nothing stops a step by itself."""


class Disk:
    """The only writer of mini-apps.

    `before` hears each step's name just before it is taken; `sync` makes a descriptor's content
    outlast a loss of power.
    """

    def __init__(
        self,
        *,
        before: Callable[[str], None] = _go_on,
        sync: Callable[[int], None] = os.fsync,
    ) -> None:
        self._before = before
        self._sync = sync

    def write(self, root: Path, parts: tuple[str, ...], data: bytes) -> None:
        """Put a file in place of the one there is, if any; `root` is made where it is missing.

        Raises: Refusal `outside-root` where a link stands in the way; OSError.
        """
        root.mkdir(parents=True, exist_ok=True)
        with opened_folder(root, parts[:-1]) as folder:
            mode = _mode_of(folder, parts[-1])
            temporary = f".voicebox-{secrets.token_hex(8)}.tmp"
            try:
                self._write_beside(folder, temporary, data, mode)
                self._before("replace")
                os.replace(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            self._before("sync folder")
            self._sync(folder)

    def remove(self, root: Path, parts: tuple[str, ...]) -> None:
        """Remove a file; one that is gone already is fine. Raises: as `write`."""
        with suppress(FileNotFoundError), opened_folder(root, parts[:-1]) as folder:
            _mode_of(folder, parts[-1])
            self._before("remove")
            os.unlink(parts[-1], dir_fd=folder)
            self._sync(folder)

    def _write_beside(self, folder: int, name: str, data: bytes, mode: int) -> None:
        self._before("create")
        with os.fdopen(os.open(name, _NEW, mode, dir_fd=folder), "wb", buffering=0) as file:
            half = memoryview(data)[: len(data) // 2]
            self._before("write")
            _write_all(file.fileno(), half)
            self._before("write the rest")
            _write_all(file.fileno(), memoryview(data)[len(half) :])
            self._before("sync")
            self._sync(file.fileno())


def exists(root: Path, parts: tuple[str, ...]) -> bool:
    """Whether anything at all has that name, a link too."""
    try:
        with opened_folder(root, parts[:-1]) as folder:
            os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


@contextmanager
def held(folder: Path, *, wait_ms: int) -> Iterator[None]:
    """Keep other relays from writing into `folder` (made where missing) meanwhile.

    Raises: Refusal `store-unavailable` after `wait_ms`; OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with opened_folder(folder) as opened:
        lock = os.open(
            _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=opened
        )
    try:
        _lock(lock, time.monotonic() + wait_ms / 1000)
        yield
    finally:
        os.close(lock)


def sweep(root: Path, parts: tuple[str, ...] = ()) -> None:
    """Remove what a crash left under temporary names; only while `held`."""
    with suppress(OSError, Refusal), opened_folder(root, parts) as folder:
        with os.scandir(folder) as entries:
            left = [entry.name for entry in entries if _TEMPORARY.fullmatch(entry.name)]
        for name in left:
            os.unlink(name, dir_fd=folder)


def _lock(descriptor: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Refusal(
                    RefusalCode.STORE_UNAVAILABLE, "another relay is saving into the folder"
                ) from None
            time.sleep(_LOCK_POLL_S)
        else:
            return


def _mode_of(folder: int, name: str) -> int:
    """The permissions that a file has or shall have. Raises: Refusal `outside-root`."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if not stat.S_ISREG(found.st_mode):
        raise Refusal(RefusalCode.OUTSIDE_ROOT, "something that is no file stands in the way")
    return stat.S_IMODE(found.st_mode)


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
