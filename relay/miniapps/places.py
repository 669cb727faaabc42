"""The folders in which mini-apps lie, and opening one without following a link inside it."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from relay.protocol.refusals import Refusal, RefusalCode

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# What a link, or a file in the place of a folder, answers to an open that follows none
_LINK_ERRORS = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


class Places(Struct, frozen=True, kw_only=True):
    """`shelf` holds the saved apps, `examples` the ones that ship with the product."""

    workspace: Path
    shelf: Path
    sandbox_homes: Path
    examples: Path


@contextmanager
def opened_folder(root: Path, parts: tuple[str, ...] = ()) -> Iterator[int]:
    """A descriptor of a folder below `root`; `root` itself may be a link, nothing below may.

    Raises: Refusal `outside-root` at a link; OSError.
    """
    folder = os.open(root, _FOLDER)
    try:
        for part in parts:
            inner = _open(part, _FOLDER | os.O_NOFOLLOW, folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def read_in(folder: int, name: str, *, max_bytes: int) -> bytes:
    """At most `max_bytes` of a file in an open folder. Raises: as `opened_folder`."""
    with os.fdopen(_open(name, _FILE, folder), "rb", buffering=0) as file:
        pieces = bytearray()
        while len(pieces) < max_bytes and (piece := file.read(max_bytes - len(pieces))):
            pieces += piece
        return bytes(pieces)


def read_file(root: Path, parts: tuple[str, ...], *, max_bytes: int) -> bytes:
    """A file below `root`. Raises: Refusal `mini-app-too-large`, `outside-root`; OSError."""
    with opened_folder(root, parts[:-1]) as folder:
        data = read_in(folder, parts[-1], max_bytes=max_bytes + 1)
    if len(data) > max_bytes:
        raise Refusal(RefusalCode.MINI_APP_TOO_LARGE, f"the mini-app is over {max_bytes} bytes")
    return data


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise Refusal(RefusalCode.OUTSIDE_ROOT, "a link leads out of the folder") from None
        raise
