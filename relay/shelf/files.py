"""Reading files that others may change or lay traps with, and replacing our own. Blocking."""

import errno
import os
import stat
import tempfile
from pathlib import Path

# Only reading, at once even where the name is a FIFO.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE_MODE = 0o644


def read_inside(folder: Path, name: str, most: int) -> bytes | None:
    """Read a regular file that really lies inside the folder; None if it is over `most` bytes.

    Raises: OSError, ValueError (also where the name leads out of the folder).
    """
    if _NO_FOLLOW and "/" not in name:  # the usual case, and a call waits for it
        try:
            return read_bounded(f"{folder}/{name}", most, follow=False)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
    return read_bounded(_inside(folder, name), most, follow=False)


def _inside(folder: Path, name: str) -> str:
    """Follow a name to where it really lies."""
    root = folder.resolve(strict=True)
    path = (root / name).resolve(strict=True)
    if Path(name).is_absolute() or ".." in Path(name).parts or not path.is_relative_to(root):
        raise ValueError(name)
    return str(path)


def read_bounded(path: str, most: int, *, follow: bool) -> bytes | None:
    """One open, one fstat, at most `most` + 1 bytes; None if there are more.

    Raises: OSError, also for a symlink that is not to be followed; ValueError for what is no
    regular file.
    """
    descriptor = os.open(path, _OPEN_FLAGS if follow else _OPEN_FLAGS | _NO_FOLLOW)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(path)
        if status.st_size > most:
            return None
        data = os.read(descriptor, status.st_size + 1)
        while len(data) <= most and (more := os.read(descriptor, most + 1 - len(data))):
            data += more
    finally:
        os.close(descriptor)
    return data if len(data) <= most else None


def replace_file(path: Path, data: bytes, *, mode: int = _FILE_MODE) -> None:
    """Write all of it or nothing. Raises: OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
