"""Finds documents in a folder: bounded in depth, entries, files and bytes. Writes nothing.

Links are neither followed nor listed, hidden names are not seen. What was read of a file is
remembered until the file changes, so that a second look reads no file.
"""

import hashlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from relay.miniapps.artifact import HEAD_BYTES, clean_title, slug_of, title_of, title_of_file
from relay.miniapps.names import is_html, is_seen
from relay.miniapps.places import opened_folder, read_file, read_in
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal

# Folders of projects, which hold documents that are no apps. Source: facts of the original.
PROJECT_FOLDERS = frozenset(
    {"public", "node_modules", "docs", "designs", "tests"}
    | {"core", "lib", "scripts", "tools", "extensions"}
)
Signature = tuple[int, int, int, int]


class FoundFile(NamedTuple):
    """A document: `parts` lead to it from the walk's root; `title` and `slug` are its own.

    An unchanged file is the very same object in each walk with one memory.
    """

    path: str
    parts: tuple[str, ...]
    size_bytes: int
    modified_s: float
    title: str
    slug: str


class Budget:
    """What one listing may still look at; `truncated` once something was left out."""

    def __init__(self, limits: Limits) -> None:
        self.truncated = False
        self._file_max = limits.mini_app_max_bytes
        self._entries = limits.mini_app_entries_max
        self._files = limits.mini_app_files_max
        self._bytes = limits.mini_app_scan_max_bytes

    def entry(self) -> bool:
        """Whether one more entry may be looked at."""
        self._entries -= 1
        return self._allow(fits=self._entries >= 0)

    def file(self, size_bytes: int) -> bool:
        """Whether one more file of that size may be listed."""
        if size_bytes > self._file_max:
            return self._allow(fits=False)
        self._files -= 1
        self._bytes -= min(size_bytes, HEAD_BYTES)
        return self._allow(fits=self._files >= 0 and self._bytes >= 0)

    def _allow(self, *, fits: bool) -> bool:
        self.truncated = self.truncated or not fits
        return fits


class Memory:
    """What was read of files, good until its file changes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files: dict[str, tuple[Signature, FoundFile]] = {}
        self._digests: dict[str, tuple[Signature, str]] = {}
        self._seen: set[str] = set()

    def file(
        self, path: str, parts: tuple[str, ...], found: os.stat_result, folder: int
    ) -> FoundFile:
        """The document in an open folder. Raises: Refusal, OSError."""
        signature = _signature(found)
        self._seen.add(path)
        known = self._files.get(path)
        if known is None or known[0] != signature or known[1].parts != parts:
            title = self._title(folder, parts[-1])
            slug = slug_of(parts[-1])
            file = FoundFile(path, parts, found.st_size, found.st_mtime, title, slug)
            known = self._files[path] = (signature, file)
        return known[1]

    def _title(self, folder: int, name: str) -> str:
        head = read_in(folder, name, max_bytes=HEAD_BYTES).decode("utf-8", "replace")
        most = self._limits.mini_app_title_max_chars
        title = clean_title(title_of(head), max_chars=most)
        return title or clean_title(title_of_file(name), max_chars=most) or "Untitled"

    def digest(self, root: Path, parts: tuple[str, ...]) -> str | None:
        """As `digest_of`, remembered."""
        path = "/".join((str(root), *parts))
        try:
            with opened_folder(root, parts[:-1]) as folder:
                found = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except (OSError, Refusal):
            return None
        known = self._digests.get(path)
        if known is None or known[0] != _signature(found):
            digest = digest_of(root, parts, limits=self._limits)
            if digest is None:
                return None
            known = self._digests[path] = (_signature(found), digest)
        return known[1]

    def forget_unseen(self) -> None:
        """Drop what is known of files that no walk met since the last time."""
        seen, self._seen = self._seen, set()
        if len(seen) != len(self._files):
            self._files = {path: known for path, known in self._files.items() if path in seen}
        self._digests = {path: known for path, known in self._digests.items() if path in seen}


def digest_of(root: Path, parts: tuple[str, ...], *, limits: Limits) -> str | None:
    """The SHA-256 of a file below `root`; None for one that is not there or too large."""
    try:
        data = read_file(root, parts, max_bytes=limits.mini_app_max_bytes)
    except (OSError, Refusal):
        return None
    return hashlib.sha256(data).hexdigest()


def walk(
    root: Path,
    *,
    depth: int,
    skipped: frozenset[str],
    budget: Budget,
    memory: Memory,
    start: tuple[str, ...] = (),
) -> Iterator[FoundFile]:
    """Every document down to `depth` folders below `start`, a folder's files before its folders.

    A folder that is missing or can't be read is empty.
    """
    folders: list[tuple[str, ...]] = [start]
    deepest = len(start) + depth
    for parts in folders:  # grows while it is walked
        try:
            with opened_folder(root, parts) as folder:
                for name, found in _files(folder, parts, folders, deepest, skipped, budget):
                    yield from _read(root, (*parts, name), found, folder, memory)
        except (OSError, Refusal):
            continue


def _files(
    folder: int,
    parts: tuple[str, ...],
    folders: list[tuple[str, ...]],
    deepest: int,
    skipped: frozenset[str],
    budget: Budget,
) -> Iterator[tuple[str, os.stat_result]]:
    """Documents of one open folder by name; folders in it that may be walked join `folders`."""
    inner: list[str] = []
    files: list[os.DirEntry[str]] = []
    with os.scandir(folder) as entries:
        for entry in itertools.takewhile(lambda _: budget.entry(), entries):
            if not is_seen(entry.name):
                continue
            if is_html(entry.name):
                files.append(entry)
            elif len(parts) < deepest and _is_open_to_walk(entry, skipped):
                inner.append(entry.name)
        for entry in sorted(files, key=lambda entry: entry.name):
            if entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                if budget.file(found.st_size):
                    yield entry.name, found
    folders += [(*parts, name) for name in sorted(inner)]


def _is_open_to_walk(entry: os.DirEntry[str], skipped: frozenset[str]) -> bool:
    return entry.name not in skipped and entry.is_dir(follow_symlinks=False)


def _read(
    root: Path, parts: tuple[str, ...], found: os.stat_result, folder: int, memory: Memory
) -> Iterator[FoundFile]:
    try:
        file = memory.file("/".join((str(root), *parts)), parts, found, folder)
    except (OSError, Refusal):
        return
    yield file


def _signature(found: os.stat_result) -> Signature:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
