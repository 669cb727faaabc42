"""What a shelf holds right now: each entry admitted, or refused with the reason. Blocking.

Reads everything anew; remembers first digests through the ledger; runs and compiles nothing.
"""

from pathlib import Path

from msgspec import Struct

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.shelf.ledger import Ledger
from relay.shelf.manifest import (
    MANIFEST,
    BadEntry,
    Digest,
    ShelfEntry,
    read_manifest,
    read_module,
)
from relay.shelf.module import look


class Verified(Struct, frozen=True, kw_only=True):
    """An entry and the bytes that its digest was checked against."""

    entry: ShelfEntry
    module: bytes


class Item(Struct, frozen=True, kw_only=True):
    """One entry of the manifest as it is now; `entry` stands where it is well-formed."""

    id: str
    digest: str | None
    description: str
    entry: ShelfEntry | None = None
    refusal: Refusal | None = None


class Survey(Struct, frozen=True, kw_only=True):
    """`refusal` stands where the whole shelf is refused."""

    items: tuple[Item, ...] = ()
    refusal: Refusal | None = None


def verify(
    folder: Path,
    tool_id: str,
    *,
    ledger: Ledger,
    limits: Limits,
    looked_at: frozenset[Digest] = frozenset(),
) -> Verified:
    """Read manifest and module, and check all that can be checked without running.

    A digest in `looked_at` has had its static look. Raises: Refusal.
    """
    entry = read_manifest(folder, limits=limits).find(tool_id)
    return _verify(folder, entry, ledger, limits, looked_at)


def survey(folder: Path, *, ledger: Ledger, limits: Limits) -> Survey:
    """Verify every entry; a refusal stands beside its entry."""
    try:
        manifest = read_manifest(folder, limits=limits)
    except Refusal as refusal:
        return Survey(refusal=refusal)
    return Survey(items=tuple(_item(folder, entry, ledger, limits) for entry in manifest.entries))


def fingerprint(
    folder: Path, found: Survey, ledger: Path | None
) -> tuple[tuple[int, int, int] | None, ...]:
    """Cheap signs of a change of the manifest, a file that it names, or the ledger's file.

    Each is (size, time, inode), or None for a missing file. They only tell when to look
    again; a call always hashes.
    """
    files = (folder / item.entry.wasm for item in found.items if item.entry is not None)
    own = () if ledger is None else (ledger,)
    return tuple(map(_signs, (folder / MANIFEST, *own, *files)))


def _signs(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):  # missing, or no name that a file can have
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _verify(
    folder: Path,
    entry: ShelfEntry,
    ledger: Ledger,
    limits: Limits,
    looked_at: frozenset[Digest] = frozenset(),
) -> Verified:
    module = read_module(folder, entry, limits=limits)
    ledger.check(folder, entry)
    if entry.digest not in looked_at:
        look(module, abi=entry.abi, limits=limits)
    return Verified(entry=entry, module=module)


def _item(folder: Path, entry: ShelfEntry | BadEntry, ledger: Ledger, limits: Limits) -> Item:
    if isinstance(entry, BadEntry):
        return Item(
            id=entry.id,
            digest=entry.digest,
            description=entry.description,
            refusal=entry.refusal,
        )
    refused = None
    try:
        _verify(folder, entry, ledger, limits)
    except Refusal as refusal:
        refused = refusal
    return Item(
        id=entry.id,
        digest=entry.digest,
        description=entry.description,
        entry=entry,
        refusal=refused,
    )
