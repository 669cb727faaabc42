"""Saves and deletes mini-apps: by ownership, never by name; whole or not at all. Blocks.

A save writes the record first, which says what it replaces, then the html on the shelf, then the
copy in the workspace, then the record without what it replaced. Each step puts one whole file in
place, and after a crash between two of them the files tell which artifact stands; `recover`
finishes such a save, or takes it back.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from relay.miniapps.artifact import Artifact, clean_title, title_of, title_of_file
from relay.miniapps.catalog import Catalog
from relay.miniapps.disk import Disk, exists, held, sweep
from relay.miniapps.listing import Entry
from relay.miniapps.places import read_file
from relay.miniapps.record import SUFFIX, Record, Replaced, write_record
from relay.miniapps.target import Target, Wish, choose, taken
from relay.miniapps.walk import digest_of
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode


class Saved(Struct, frozen=True, kw_only=True):
    """What a save came to: exactly one of `created` and `updated` is true."""

    artifact: Artifact
    created: bool
    updated: bool


class Store:
    """The only one that changes mini-apps on disk."""

    def __init__(self, *, catalog: Catalog, limits: Limits, disk: Disk | None = None) -> None:
        self._catalog = catalog
        self._places = catalog.places
        self._limits = limits
        self._disk = disk or Disk()

    def save(self, wish: Wish) -> Saved:
        """Save an app anew, over its former self, or out of a page.

        Raises: Refusal `missing-html`, `mini-app-too-large`, `outside-root`, `dotfile-refused`,
        `mini-app-name-invalid`, `mini-app-name-taken`, `store-unavailable`.
        """
        data = self._checked(wish.html)
        with self._alone():
            target = self._target(wish)
            self._write(target, self._record(target, wish, data), data)
            found = self._catalog.look().by_id(target.app_id)
        if found is None:
            raise Refusal(RefusalCode.STORE_UNAVAILABLE, "the saved mini-app can't be found again")
        return Saved(artifact=found.artifact, created=target.created, updated=not target.created)

    def delete(self, name: str) -> Artifact:
        """Delete what `name` means: its own file, and of an app what its record proves.

        Raises: Refusal `mini-app-not-found`, `mini-app-read-only`, `store-unavailable`.
        """
        with self._alone():
            entry = self._catalog.look().resolve(name)
            if entry.artifact.source == "examples":
                raise Refusal(
                    RefusalCode.MINI_APP_READ_ONLY, f"{entry.artifact.title} ships with the relay"
                )
            self._delete(entry)
        return entry.artifact

    def recover(self) -> None:
        """After a crash: finish or take back what was begun, sweep what was left.

        Raises: Refusal `store-unavailable`.
        """
        places = self._places
        with self._alone():
            listing = self._catalog.look()
            for record in listing.records.values():
                self._settle(record)
            sweep(places.shelf)
            for parts in {(), *(entry.parts[:-1] for entry in listing.entries)}:
                sweep(places.workspace, parts)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other relays out, and turn what the system says into a refusal."""
        try:
            with held(self._places.shelf, wait_ms=self._limits.mini_app_store_wait_ms):
                yield
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise Refusal(RefusalCode.STORE_UNAVAILABLE, f"the disk said: {why}") from None

    def _checked(self, html: str) -> bytes:
        if not html.strip():
            raise Refusal(RefusalCode.MISSING_HTML, "there is no html to save")
        try:
            data = html.encode()
        except UnicodeEncodeError:
            raise Refusal(RefusalCode.BAD_REQUEST, "the html is no Unicode text") from None
        most = self._limits.mini_app_max_bytes
        if len(data) > most:
            raise Refusal(RefusalCode.MINI_APP_TOO_LARGE, f"the html is over {most} bytes")
        return data

    def _target(self, wish: Wish) -> Target:
        own_title = self._clean(title_of(wish.html))
        listing = self._catalog.look()
        target = choose(listing, wish, own_title, limits=self._limits)
        pending = listing.records.get(target.slug)
        if pending is not None and pending.replaces is not None:
            self._settle(pending)
            target = choose(self._catalog.look(), wish, own_title, limits=self._limits)
        return self._with_free_copy(target)

    def _with_free_copy(self, target: Target) -> Target:
        """The copy in the workspace takes no other file's place, and goes with its folder."""
        workspace, parts = self._places.workspace, target.workspace_parts
        if parts is None or not target.exclusive:
            return target
        if len(parts) > 1 and not exists(workspace, parts[:-1]):
            return msgspec.structs.replace(target, workspace_parts=None)
        if exists(workspace, parts):
            taken(target.file_name, "another file of the workspace")
        return target

    def _record(self, target: Target, wish: Wish, data: bytes) -> Record:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        old = target.record
        return Record(
            app_id=target.app_id,
            slug=target.slug,
            title=self._title(target, wish),
            file_name=target.file_name,
            created_at=(old.created_at if old else "") or now,
            updated_at=now,
            size_bytes=len(data),
            workspace_path="/".join(target.workspace_parts) if target.workspace_parts else None,
            sha256=hashlib.sha256(data).hexdigest(),
        )

    def _title(self, target: Target, wish: Wish) -> str:
        former = target.old.artifact.title if target.old is not None else ""
        said = self._clean(wish.title) or self._clean(title_of(wish.html))
        return said or former or self._clean(title_of_file(target.file_name)) or "Untitled"

    def _clean(self, text: str) -> str:
        return clean_title(text, max_chars=self._limits.mini_app_title_max_chars)

    def _write(self, target: Target, record: Record, data: bytes) -> None:
        places = self._places
        parts = target.workspace_parts
        replaces = Replaced(
            record=target.record,
            html_sha256=self._digest(places.shelf, (target.file_name,)),
            workspace_sha256=self._digest(places.workspace, parts) if parts else None,
        )
        begun = msgspec.structs.replace(record, replaces=replaces)
        try:
            self._write_record(begun)
            self._disk.write(places.shelf, (target.file_name,), data)
            if parts:
                self._disk.write(places.workspace, parts, data)
            self._write_record(record)
        except (OSError, Refusal):
            with suppress(OSError, Refusal):
                self._settle(begun)
            raise

    def _digest(self, root: Path, parts: tuple[str, ...]) -> str | None:
        return digest_of(root, parts, limits=self._limits)

    def _write_record(self, record: Record) -> None:
        self._disk.write(self._places.shelf, (record.slug + SUFFIX,), write_record(record))

    def _delete(self, entry: Entry) -> None:
        """The record goes last: as long as a file of the app is there, it is a whole app."""
        self._disk.remove(entry.root, entry.parts)
        if entry.is_app and entry.record is not None:
            self._disk.remove(self._places.shelf, (entry.record.file_name,))
            self._disk.remove(self._places.shelf, (entry.record.slug + SUFFIX,))

    def _settle(self, record: Record) -> None:
        """Finish the save that a record speaks of, or take it back; drop one without an app."""
        places = self._places
        html = self._digest(places.shelf, (record.file_name,))
        parts = record.workspace_parts
        copy = self._digest(places.workspace, parts) if parts else None
        arrived = record.sha256 is not None and record.sha256 in (html, copy)
        if record.replaces is None:
            if html is None and record.sha256 is not None and not arrived:
                self._disk.remove(places.shelf, (record.slug + SUFFIX,))
        elif arrived:
            self._finish(record, record.replaces, html=html, copy=copy)
        elif record.replaces.record is not None:
            self._write_record(record.replaces.record)
        else:
            self._disk.remove(places.shelf, (record.slug + SUFFIX,))

    def _finish(
        self, record: Record, replaces: Replaced, *, html: str | None, copy: str | None
    ) -> None:
        """Bring the new html to where the old one still is; what somebody changed since stays."""
        places, parts = self._places, record.workspace_parts
        most = self._limits.mini_app_max_bytes
        if html == replaces.html_sha256 != record.sha256 and parts:
            data = read_file(places.workspace, parts, max_bytes=most)
            self._disk.write(places.shelf, (record.file_name,), data)
        elif parts and copy == replaces.workspace_sha256 != record.sha256:
            data = read_file(places.shelf, (record.file_name,), max_bytes=most)
            self._disk.write(places.workspace, parts, data)
        self._write_record(msgspec.structs.replace(record, replaces=None))
