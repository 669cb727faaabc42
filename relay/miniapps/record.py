"""The record beside an app on the shelf, `<slug>.meta.json`: who the app is. Pure.

While a save is under way the record also says what it replaces. So whatever moment a crash
picks, the files themselves tell whether the old or the new app stands, and which record is its.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

from relay.miniapps.artifact import app_id
from relay.miniapps.names import is_plain_part

SUFFIX = ".meta.json"
_ID_MAX_CHARS = 128
_DATE_MAX_CHARS = 40


class Record(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An app's own facts; `workspace_path` is the file that it was saved from, and proves it.

    `sha256` is the digest of its html; records of other programs have none.
    """

    app_id: str = ""
    slug: str = ""
    title: str = ""
    file_name: str = ""
    created_at: str = ""
    updated_at: str = ""
    size_bytes: int = 0
    workspace_path: str | None = None
    sha256: str | None = None
    replaces: "Replaced | None" = None

    @property
    def workspace_parts(self) -> tuple[str, ...] | None:
        """`workspace_path` in its parts."""
        return None if self.workspace_path is None else tuple(self.workspace_path.split("/"))


class Replaced(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What stood before a save that is under way: record and digests, None for what was not."""

    record: Record | None = None
    html_sha256: str | None = None
    workspace_sha256: str | None = None


def read_record(slug: str, text: bytes) -> Record | None:
    """The record in the file `<slug>.meta.json`; None for one that is no record.

    The file's name says the slug; ids and paths that lead elsewhere are not believed.
    """
    try:
        record = msgspec.json.decode(text, type=Record)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    file_name = record.file_name or f"{slug}.html"
    if not is_plain_part(file_name):
        return None
    dated = len(record.created_at) <= _DATE_MAX_CHARS and record.created_at.isascii()
    named = record.app_id.startswith("app_") and len(record.app_id) <= _ID_MAX_CHARS
    parts = record.workspace_parts
    proves = parts is not None and all(is_plain_part(part) for part in parts)
    return msgspec.structs.replace(
        record,
        slug=slug,
        file_name=file_name,
        created_at=record.created_at if dated else "",
        app_id=record.app_id if named and record.app_id.isprintable() else app_id(slug),
        workspace_path=record.workspace_path if proves else None,
    )


def write_record(record: Record) -> bytes:
    """The record as its file's text."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def in_force(
    record: Record, digest: str | None, place: Literal["host", "workspace"]
) -> Record | None:
    """The record that belongs to a file of this digest: the new one, the old one, or none."""
    replaced = record.replaces
    if replaced is None or digest == record.sha256:
        return record
    before = replaced.html_sha256 if place == "host" else replaced.workspace_sha256
    return replaced.record if digest == before else record


def slug_in(file_name: str) -> str | None:
    """The slug of a record's file; None for any other file."""
    return file_name[: -len(SUFFIX)] if file_name.endswith(SUFFIX) else None


def first_by_file(records: Iterable[Record]) -> dict[str, Record]:
    """Records by the file that they describe; of two for one file, the first."""
    found: dict[str, Record] = {}
    for record in records:
        found.setdefault(record.file_name, record)
    return found
