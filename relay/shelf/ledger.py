"""The digests first seen, by shelf folder and tool id: what a changed module is held against.

A tool's first digest is remembered by itself; a later one only when a person admits it.
"""

import json
import os
import threading
from pathlib import Path

import structlog

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.files import replace_file
from relay.shelf.manifest import Digest, ShelfEntry

log = structlog.get_logger(__name__)


class Ledger:
    """Kept in `path`, which other processes may write too; in memory only without one.

    Blocking: call it from a thread.
    """

    def __init__(self, path: Path | None, *, limits: Limits) -> None:
        self.path = path
        self._limits = limits
        self._lock = threading.Lock()
        self._seen: dict[str, dict[str, str]] = {}
        self._text: bytes | None = None  # what the file said when it was read last
        self._owed = False  # whether the file could not be written last time

    def check(self, folder: Path, entry: ShelfEntry) -> None:
        """Remember the entry's digest, or hold it against the one remembered.

        Raises: Refusal `digest-mismatch`, `shelf-unreadable`.
        """
        with self._lock:
            known = self._read().get(_key(folder), {}).get(entry.id)
            if known is None:
                self._set(folder, entry)
                return
            if self._owed:
                self._write()
        if known != entry.digest:
            raise Refusal(
                RefusalCode.DIGEST_MISMATCH,
                f"{entry.id} was admitted as {known[:16]}… and the manifest now pins "
                f"{entry.digest[:16]}…: admit it again if you changed it",
            )

    def admit(self, folder: Path, entry: ShelfEntry) -> Digest | None:
        """Remember the entry's digest from now on; return the one that it takes the place of."""
        with self._lock:
            before = self._read().get(_key(folder), {}).get(entry.id)
            self._set(folder, entry)
        return Digest(before) if before is not None else None

    def _set(self, folder: Path, entry: ShelfEntry) -> None:
        self._seen.setdefault(_key(folder), {})[entry.id] = entry.digest
        self._write()

    def _read(self) -> dict[str, dict[str, str]]:
        """Take what the file says over what this process remembers."""
        if self.path is None:
            return self._seen
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return self._seen
        except OSError as error:
            raise _unreadable(error.strerror or "the system refused") from None
        if len(text) > self._limits.wasm_manifest_max_bytes:
            raise _unreadable("it is too large")
        if text != self._text:
            for folder, digests in _parse(text).items():
                self._seen.setdefault(folder, {}).update(digests)
            self._text = text
        return self._seen

    def _write(self) -> None:
        if self.path is None:
            return
        text = json.dumps(self._seen, indent=2, sort_keys=True) + "\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self.path, text.encode(), mode=0o600)
            self._owed = False
        except OSError as error:
            # A full disk still leaves this process its memory; the next check tries again
            if not self._owed:
                log.warning("shelf_ledger_not_written", reason=error.strerror)
            self._owed = True


def _key(folder: Path) -> str:
    return os.path.abspath(folder)  # noqa: PTH100 - no look at the disk: each call does this


def _parse(text: bytes) -> dict[str, dict[str, str]]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise _unreadable("it is not JSON") from None
    if not isinstance(document, dict) or not all(map(_is_digests, document.values())):
        raise _unreadable("it is not {folder: {id: digest}}")
    return document


def _is_digests(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _unreadable(what: str) -> Refusal:
    return Refusal(
        RefusalCode.SHELF_UNREADABLE, f"the file of admitted digests can't be used: {what}"
    )
