"""A relay in a process of its own, with the eyes and the hands to do it harm."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.cli.conftest import TOKEN, Running, environment, spawn, stop

PATIENCE_S = 10.0


class Victim(Running):
    """A running relay and its processes."""

    def descendants(self) -> list[int]:
        """Every process below the relay, youngest last."""
        parents = dict(_parents())
        family = {self.process.pid}
        for pid in sorted(parents):
            if parents[pid] in family:
                family.add(pid)
        return sorted(family - {self.process.pid})

    def processes_of(self, word: str) -> list[int]:
        """The descendants whose command line holds `word`."""
        return [pid for pid in self.descendants() if word in _command(pid)]

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        request = Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        with urlopen(request, timeout=10) as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    def hash(self) -> dict[str, Any]:
        return self.ask("POST", "/api/call", {"name": "hash", "args": {"input": "abc"}})

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            yield int(entry.name), int(fields[1])


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def alive(pid: int) -> bool:
    """Whether the process still runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition: Callable[[], object]) -> bool:
    """Whether the condition comes to hold in a time that only a fault exceeds."""
    deadline = monotonic() + PATIENCE_S
    while not condition():
        if monotonic() > deadline:
            return False
        sleep(0.02)
    return True


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


StartVictim = Callable[..., Victim]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartVictim]:
    """Start a relay; it and all its processes are ended with the test."""
    started: list[Victim] = []

    def begin(*argv: str, **more: str) -> Victim:
        environ = environment(tmp_path, VOICEBOX_LOG_LEVEL="warning", **more)
        victim = Victim(spawn(environ, "serve", "--port", "0", *argv), environ)
        started.append(victim)
        return victim

    yield begin
    for victim in started:
        stop(victim.process)


@pytest.fixture
def victim(start: StartVictim) -> Victim:
    """A relay with the script provider."""
    return start("--provider", "script")
