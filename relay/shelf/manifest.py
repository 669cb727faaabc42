"""manifest.json of a shelf: entries, their files, and the digest that pins each file.

Files are read anew at each question, and nothing is run. A broken
entry is refused by itself. What was admitted before is `relay.shelf.ledger`'s to remember.
"""

import functools
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NewType

from msgspec import Struct

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.abi import ABIS, BufferAbi
from relay.shelf.files import read_bounded, read_inside

Digest = NewType("Digest", str)  # 64 lower-case hex digits

MANIFEST = "manifest.json"
CAPABILITY_MAX_CHARS = 64
UNNAMED = "(unnamed)"
_ID = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")


class ShelfEntry(Struct, frozen=True, kw_only=True):
    """One well-formed entry; its file has not been looked at."""

    id: str
    wasm: str
    digest: Digest
    description: str
    capability: str
    abi: BufferAbi


class BadEntry(Struct, frozen=True, kw_only=True):
    """An entry that the manifest's own rules refuse; shown, never run."""

    id: str
    digest: str | None
    description: str
    refusal: Refusal


class Manifest(Struct, frozen=True, kw_only=True):
    """A readable manifest, entries in its order."""

    entries: tuple[ShelfEntry | BadEntry, ...]

    def find(self, tool_id: str) -> ShelfEntry:
        """Raises: Refusal `unknown-tool`, or what is wrong with the entry."""
        for entry in self.entries:
            if entry.id == tool_id:
                if isinstance(entry, BadEntry):
                    raise entry.refusal
                return entry
        raise Refusal(RefusalCode.UNKNOWN_TOOL, f"the shelf has no tool {_shown(tool_id)}")


def read_manifest(folder: Path, *, limits: Limits) -> Manifest:
    """Read the folder's manifest. Raises: Refusal `shelf-unavailable`, `shelf-unreadable`."""
    return _parse(_read_text(folder, limits), limits)


def read_document(folder: Path, *, limits: Limits) -> object:
    """Read the manifest as the JSON that it is. Raises: as `read_manifest`."""
    return _load(_read_text(folder, limits))


def list_tools(document: object) -> list[object]:
    """Accept {tools: […]}, one bare entry, or a list of entries.

    Raises: Refusal `shelf-unreadable`.
    """
    match document:
        case list():
            return document
        case {"id": _, "wasm": _}:
            return [document]
        case dict() if isinstance(tools := document.get("tools", []), list):
            return tools
        case _:
            raise _unreadable("it is neither {tools: […]}, nor an entry, nor a list of entries")


def read_module(folder: Path, entry: ShelfEntry, *, limits: Limits) -> bytes:
    """Return the module's bytes after checking them against the entry's digest.

    Raises: Refusal `wasm-unreadable`, `module-too-large`, `digest-mismatch`.
    """
    data = _read_file(folder, entry.wasm, limits.wasm_module_max_bytes)
    found = digest_of(data)
    if found != entry.digest:
        raise Refusal(
            RefusalCode.DIGEST_MISMATCH,
            f"{entry.id}: the manifest pins {entry.digest[:16]}… and the file is {found[:16]}…",
        )
    return data


def digest_of(data: bytes) -> Digest:
    """Return the SHA-256 of `data` as a manifest writes it."""
    return Digest(hashlib.sha256(data).hexdigest())


def _read_file(folder: Path, name: str, most: int) -> bytes:
    try:
        data = read_inside(folder, name, most)
    except (OSError, ValueError, RuntimeError) as error:  # a loop of symlinks is RuntimeError
        reason = getattr(error, "strerror", None) or "not a regular file inside the shelf folder"
        raise Refusal(
            RefusalCode.WASM_UNREADABLE, f"{_shown(name)} can't be read: {reason}"
        ) from None
    if data is None:
        raise Refusal(RefusalCode.MODULE_TOO_LARGE, f"{_shown(name)} is over {most} bytes")
    return data


def _read_text(folder: Path, limits: Limits) -> bytes:
    try:
        data = read_bounded(f"{folder}/{MANIFEST}", limits.wasm_manifest_max_bytes, follow=True)
    except FileNotFoundError:
        raise Refusal(
            RefusalCode.SHELF_UNAVAILABLE, "the shelf folder has no manifest.json"
        ) from None
    except (OSError, ValueError, RuntimeError):
        raise _unreadable("it is no regular file that may be read") from None
    if data is None:
        raise _unreadable(f"it is over {limits.wasm_manifest_max_bytes} bytes")
    return data


@functools.lru_cache(maxsize=4)
def _parse(text: bytes, limits: Limits) -> Manifest:
    """Check a manifest's text: the same text is the same manifest, and each call needs it."""
    tools = list_tools(_load(text))
    if len(tools) > limits.wasm_tools_max:
        raise _unreadable(f"it has {len(tools)} entries; {limits.wasm_tools_max} are allowed")
    return Manifest(entries=tuple(_entries(tools, limits)))


def _load(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(f"it is not JSON ({str(error)[:120]})") from None


def _entries(tools: list[object], limits: Limits) -> Iterator[ShelfEntry | BadEntry]:
    taken: set[str] = set()
    for tool in tools:
        fields: dict[Any, Any] = tool if isinstance(tool, dict) else {}
        try:
            entry = check_entry(fields, limits=limits)
            if entry.id in taken:
                raise _invalid(f"an earlier entry has the id {entry.id}")
        except Refusal as refusal:
            yield _bad(fields, refusal, limits)
            continue
        taken.add(entry.id)
        yield entry


def check_entry(fields: dict[Any, Any], *, limits: Limits) -> ShelfEntry:
    """Check one entry by itself. Raises: Refusal `shelf-entry-invalid`, `unsupported-abi`."""
    for field in ("id", "wasm", "digest", "abi"):
        if not isinstance(fields.get(field), str):
            raise _invalid(f"{field} is missing or no string")
    tool_id, wasm, digest, abi = (fields[field] for field in ("id", "wasm", "digest", "abi"))
    if not _ID.fullmatch(tool_id):
        raise _invalid("id is no letter or _ followed by up to 63 letters, digits, _ or -")
    if not _DIGEST.fullmatch(digest):
        raise _invalid("digest is not 64 hex digits")
    if abi not in ABIS:
        raise Refusal(RefusalCode.UNSUPPORTED_ABI, f"{tool_id}: {_shown(abi)} is no known ABI")
    return ShelfEntry(
        id=tool_id,
        wasm=wasm,
        digest=Digest(digest.lower()),
        description=_bounded(fields, "description", limits.tool_description_max_units),
        capability=_bounded(fields, "capability", CAPABILITY_MAX_CHARS),
        abi=ABIS[abi],
    )


def _bounded(fields: dict[Any, Any], field: str, most: int) -> str:
    value = fields.get(field, "")
    if not isinstance(value, str) or len(value.encode("utf-16-le", "surrogatepass")) > 2 * most:
        raise _invalid(f"{field} is no string of at most {most} characters")
    return plain_text(value, most)


def plain_text(value: object, most: int) -> str:
    """A manifest's words without control, bidi and surrogate characters; "" for no string."""
    if not isinstance(value, str):
        return ""
    if value.isprintable():
        return value.strip()[:most]
    kept = (c if unicodedata.category(c)[0] != "C" else " " for c in value[: 2 * most])
    return "".join(kept).strip()[:most]


def _bad(fields: dict[Any, Any], refusal: Refusal, limits: Limits) -> BadEntry:
    digest = fields.get("digest")
    return BadEntry(
        id=plain_text(fields.get("id"), limits.tool_name_max_chars) or UNNAMED,
        digest=plain_text(digest, 64) if isinstance(digest, str) else None,
        description=plain_text(fields.get("description"), limits.tool_description_max_units),
        refusal=refusal,
    )


def _shown(text: str) -> str:
    return ascii(text[:64])[1:-1]


def _invalid(what: str) -> Refusal:
    return Refusal(RefusalCode.SHELF_ENTRY_INVALID, f"the manifest entry is malformed: {what}")


def _unreadable(what: str) -> Refusal:
    return Refusal(RefusalCode.SHELF_UNREADABLE, f"manifest.json can't be used: {what}")
