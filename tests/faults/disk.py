"""A small disk that only one relay has: full or locked whenever a test says so.

It is a file system in memory, mounted in a namespace of the relay's own; it goes with its process.
"""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from tests.faults.conftest import Victim

# Whoever is not root becomes it in a namespace of users
_NAMESPACE = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
_MOUNT = 'mkdir -p "$0" && mount -t tmpfs -o size=256k none "$0" && mount -o remount,$1 "$0"'
_GO_ON = ' && shift && exec "$@"'


def may_mount() -> bool:
    """Whether this machine lets its user have a namespace of mounts; many containers don't."""
    try:
        command = ["unshare", *_NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except OSError:
        return False


class Disk:
    """The disk at `folder`; `around` goes before the command of the relay that has it."""

    def __init__(self, folder: Path, *, mode: Literal["rw", "ro"] = "rw") -> None:
        self.folder = folder
        self.around = ["unshare", *_NAMESPACE, "sh", "-c", _MOUNT + _GO_ON, str(folder), mode]

    def seen_in(self, victim: Victim) -> Path:
        """The same folder, as this process reaches it."""
        return Path(f"/proc/{victim.process.pid}/root") / self.folder.relative_to("/")

    @contextmanager
    def full(self, victim: Victim) -> Iterator[None]:
        """Not one byte more can be written."""
        ballast = self.seen_in(victim) / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4_096)
        try:
            yield
        finally:
            ballast.unlink()

    @contextmanager
    def locked(self, victim: Victim) -> Iterator[None]:
        """Everything can be read and nothing written."""
        self._remount(victim, "ro")
        with suppress_only(errno.EROFS):
            (self.seen_in(victim) / "no").touch()
            raise AssertionError("the disk is not locked")
        try:
            yield
        finally:
            self._remount(victim, "rw")

    def _remount(self, victim: Victim, how: str) -> None:
        inside = ["nsenter", "--target", str(victim.process.pid), "--mount"]
        if os.geteuid() != 0:
            inside += ["--user", "--preserve-credentials"]
        mount = ["mount", "-o", f"remount,{how}", str(self.folder)]
        subprocess.run([*inside, *mount], check=True, capture_output=True, timeout=10)


@contextmanager
def suppress_only(number: int) -> Iterator[None]:
    """Let one error of the system pass, and no other."""
    try:
        yield
    except OSError as error:
        if error.errno != number:
            raise
