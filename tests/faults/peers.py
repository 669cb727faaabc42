"""Peers of a relay in processes of their own: they print a word at each step, and can be killed."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from tests.faults.conftest import PATIENCE_S

HERE = Path(__file__).resolve().parent


class Peer:
    """One process of `page.py` or `upstream.py`; `with` ends it."""

    def __init__(self, program: str, *argv: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / program), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._reader.shutdown()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def says(self, word: str) -> None:
        """The next word is this one."""
        assert self.process.stdout is not None
        line = self._reader.submit(self.process.stdout.readline).result(PATIENCE_S)
        assert line.strip() == word, line

    def go(self) -> None:
        """Let it begin."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
