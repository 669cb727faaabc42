"""Finds the mini-apps and pages on disk and says which is which. Writes nothing; blocks.

A file on the shelf is an app; a file in a sandbox is a page; a file in the workspace is a page
unless a record on the shelf names exactly that file as its own. A shared name proves nothing.
Source: seed document of mini-apps, section 4.
"""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from relay.miniapps.artifact import Artifact, apart, app_id, clean_title, page_id, sandbox_id
from relay.miniapps.listing import Entry, Listing
from relay.miniapps.names import is_seen
from relay.miniapps.places import Places, opened_folder, read_file, read_in
from relay.miniapps.record import Record, first_by_file, in_force, read_record, slug_in
from relay.miniapps.walk import PROJECT_FOLDERS, Budget, FoundFile, Memory, walk
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.tool import AppId

_WORKSPACE_DEPTH = 1
_SANDBOX_DEPTH = 2
Facts = tuple[FoundFile, AppId, str, str, Record | None]
Made = dict[str, tuple[Facts, Entry]]
_NO_SANDBOX_FOLDERS = frozenset({"node_modules"})


class Catalog:
    """Looks at the folders anew for every listing; threads may share it."""

    def __init__(self, *, places: Places, limits: Limits) -> None:
        self.places = places
        self._limits = limits
        self._memory = Memory(limits)
        self._made: Made = {}
        self._looking = threading.Lock()

    def look(self) -> Listing:
        """Everything there is now, within bounds."""
        with self._looking:
            look = _Look(self.places, self._limits, self._memory, self._made)
            listing = look.listing()
            self._memory.forget_unseen()
            if len(self._made) > len(listing.entries):
                self._made = {path: self._made[path] for path in map(_path, listing.entries)}
            return listing

    def read(self, name: str) -> Artifact:
        """One artifact with its html, read from disk.

        Raises: Refusal `mini-app-not-found`, `mini-app-too-large`, `outside-root`.
        """
        entry = self.look().resolve(name)
        try:
            data = read_file(entry.root, entry.parts, max_bytes=self._limits.mini_app_max_bytes)
        except OSError:
            raise Refusal(RefusalCode.MINI_APP_NOT_FOUND, "its file can't be read") from None
        return msgspec.structs.replace(
            entry.artifact, html=data.decode("utf-8", "replace"), size_bytes=len(data)
        )


class _Look:
    """One look at all folders."""

    def __init__(self, places: Places, limits: Limits, memory: Memory, made: Made) -> None:
        self._made = made
        self._places = places
        self._limits = limits
        self._memory = memory
        self._budget = Budget(limits)
        self._ids: set[str] = set()

    def listing(self) -> Listing:
        """Look at apps first, so that a full workspace crowds none of them out."""
        records = {record.slug: record for record in self._records()}
        shelf = list(self._walk(self._places.shelf, 0))
        examples = list(self._walk(self._places.examples, 0))
        alive = self._alive(records, {file.parts[0] for file in shelf})
        entries = list(self._in_workspace(alive))
        entries += self._on_shelf(shelf, first_by_file(alive), shown=_slugs(entries))
        entries += self._in_sandboxes()
        taken = {entry.artifact.app_id for entry in entries}
        entries += [entry for entry in map(self._example, examples) if _id(entry) not in taken]
        return Listing(entries=entries, records=records, truncated=self._budget.truncated)

    def _walk(
        self,
        root: Path,
        depth: int,
        skipped: frozenset[str] = frozenset(),
        start: tuple[str, ...] = (),
    ) -> Iterator[FoundFile]:
        return walk(
            root,
            depth=depth,
            skipped=skipped,
            budget=self._budget,
            memory=self._memory,
            start=start,
        )

    def _records(self) -> Iterator[Record]:
        """The readable records on the shelf, by file name."""
        try:
            with opened_folder(self._places.shelf) as folder, os.scandir(folder) as entries:
                for name in sorted(entry.name for entry in entries if self._budget.entry()):
                    slug = slug_in(name)
                    record = self._record(slug, folder, name) if slug else None
                    if record is not None:
                        yield record
        except OSError:
            return

    def _record(self, slug: str, folder: int, name: str) -> Record | None:
        try:
            text = read_in(folder, name, max_bytes=self._limits.mini_app_record_max_bytes)
        except (OSError, Refusal):
            return None
        return read_record(slug, text)

    def _alive(self, records: dict[str, Record], on_shelf: set[str]) -> list[Record]:
        """Records with an app: its file is on the shelf, or its proven file has its digest."""
        return [
            record
            for record in records.values()
            if record.file_name in on_shelf
            or (
                record.sha256 is not None
                and record.workspace_parts is not None
                and self._memory.digest(self._places.workspace, record.workspace_parts)
                == record.sha256
            )
        ]

    def _in_workspace(self, alive: list[Record]) -> Iterator[Entry]:
        root, shelf = self._places.workspace, self._places.shelf
        proven: dict[str | None, Record] = {}
        for record in alive:
            proven.setdefault(record.workspace_path, record)
        beside = {shelf.name} if shelf.parent == root else set()
        for file in self._walk(root, _WORKSPACE_DEPTH, PROJECT_FOLDERS | beside):
            path = "/".join(file.parts)
            own = self._as_it_stands(proven.get(path), root, file, "workspace")
            if own is not None:
                yield self._app(file, root, own, "workspace")
                continue
            taken = page_id(file.slug) in self._ids
            slug = apart(file.slug, path) if taken else file.slug
            yield self._entry(
                file, root, kind="page", source="workspace", id_=page_id(slug), slug=slug
            )

    def _on_shelf(
        self, files: list[FoundFile], records: dict[str, Record], *, shown: set[str]
    ) -> Iterator[Entry]:
        """Apps with a record first: their ids are settled. `shown` are in the workspace."""
        root = self._places.shelf
        known = [(records.get(file.parts[0]), file) for file in files]
        for described, file in sorted(known, key=lambda pair: pair[0] is None):
            if described is not None and described.slug in shown:
                continue
            record = self._as_it_stands(described, root, file, "host")
            if record is not None:
                yield self._app(file, root, record, "host")
                continue
            taken = app_id(file.slug) in self._ids
            slug = apart(file.slug, file.parts[0]) if taken else file.slug
            yield self._entry(file, root, kind="app", source="host", id_=app_id(slug), slug=slug)

    def _as_it_stands(
        self,
        record: Record | None,
        root: Path,
        file: FoundFile,
        place: Literal["host", "workspace"],
    ) -> Record | None:
        """The record of the file; during a save, the one that the file's content belongs to."""
        if record is None or record.replaces is None:
            return record
        return in_force(record, self._memory.digest(root, file.parts), place)

    def _app(self, file: FoundFile, root: Path, record: Record, source: str) -> Entry:
        """An app with a record of its own: its id, slug and title are the record's."""
        slug, id_ = record.slug, AppId(record.app_id)
        if id_ in self._ids:
            slug = apart(slug, "/".join(file.parts))
            id_ = app_id(slug)
        title = clean_title(record.title, max_chars=self._limits.mini_app_title_max_chars)
        return self._entry(
            file, root, kind="app", source=source, id_=id_, slug=slug, title=title, record=record
        )

    def _in_sandboxes(self) -> Iterator[Entry]:
        homes = self._places.sandbox_homes
        for name in _sandboxes(homes, self._budget):
            for file in self._walk(homes, _SANDBOX_DEPTH, _NO_SANDBOX_FOLDERS, (name,)):
                id_ = sandbox_id(name, "/".join(file.parts[1:]))
                yield self._entry(file, homes, kind="page", source="sandbox", id_=id_, sandbox=name)

    def _example(self, file: FoundFile) -> Entry:
        root = self._places.examples
        return self._entry(file, root, kind="app", source="examples", id_=app_id(file.slug))

    def _entry(
        self,
        file: FoundFile,
        root: Path,
        *,
        id_: AppId,
        slug: str = "",
        title: str = "",
        record: Record | None = None,
        **kinds: str,
    ) -> Entry:
        """The entry of a file; what did not change since the last look is the same object."""
        self._ids.add(id_)
        facts = (file, id_, slug, title, record)
        known = self._made.get(file.path)
        if known is None or known[0] != facts:
            artifact = _artifact(facts, kinds)
            entry = Entry(artifact=artifact, root=root, parts=file.parts, record=record)
            known = self._made[file.path] = (facts, entry)
        return known[1]


def _artifact(facts: Facts, kinds: dict[str, str]) -> Artifact:
    """What is told of a file; in a sandbox its name is told from there."""
    file, id_, slug, title, record = facts
    return Artifact(
        app_id=id_,
        slug=slug or file.slug,
        title=title or file.title,
        file_name="/".join(file.parts[1 if "sandbox" in kinds else 0 :]),
        storage_path=file.path,
        size_bytes=file.size_bytes,
        created_at=(record and record.created_at) or msgspec.UNSET,
        updated_at=_moment(file.modified_s),
        **kinds,  # type: ignore[arg-type]  # the callers pass the declared words
    )


def _path(entry: Entry) -> str:
    return entry.artifact.storage_path


def _id(entry: Entry) -> str:
    return entry.artifact.app_id


def _slugs(entries: list[Entry]) -> set[str]:
    """Slugs of the records that entries have."""
    return {entry.record.slug for entry in entries if entry.record is not None}


def _moment(seconds: float) -> str:
    """Seconds since 1970 in ISO 8601, with milliseconds."""
    said = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return said.replace("+00:00", "Z")


def _sandboxes(homes: Path, budget: Budget) -> list[str]:
    """The folders below the sandbox homes, no links."""
    try:
        with opened_folder(homes) as folder, os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if budget.entry() and is_seen(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []
