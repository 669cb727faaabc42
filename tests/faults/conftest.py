"""A relay in a process of its own, with the eyes and the hands to do it harm."""

import json
import os
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.cli.conftest import TOKEN, Running, environment, spawn, stop

PATIENCE_S = 60.0
ASK_S = 30.0
SLACK = 2  # watches of new folders, threads that were started: once, not each time


class Victim(Running):
    """A running relay and its processes."""

    def descendants(self) -> list[int]:
        """Every process below the relay. A child's id may be less than its parent's: ids wrap."""
        children = defaultdict[int, list[int]](list)
        for pid, parent in _parents():
            children[parent].append(pid)
        family = [self.process.pid]
        for pid in family:  # which grows meanwhile
            family += children[pid]
        return family[1:]

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
        with urlopen(request, timeout=ASK_S) as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    def told(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The answer, also where it is a refusal with a status of its own."""
        try:
            return self.ask(method, path, body)
        except HTTPError as error:
            refusal: dict[str, Any] = json.load(error)
            return refusal

    def hash(self) -> dict[str, Any]:
        return self.ask("POST", "/api/call", {"name": "hash", "args": {"input": "abc"}})

    def open_files(self) -> int:
        return len(self.descriptors())

    def descriptors(self) -> list[str]:
        """What the relay holds open."""
        found = []
        for entry in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(OSError):
                found.append(str(entry.readlink()))
        return sorted(found)

    def held(self) -> int:
        """Descriptors but those of workers (two each), of which a burst keeps more for a while."""
        held = self.descriptors()
        return len(held) - 2 * held.count("anon_inode:[pidfd]")

    def forgotten(self) -> int:
        """Workers of which the relay holds descriptors although they are gone."""
        fork_servers = 1
        living = max(len(self.processes_of("relay.shelf.zygote")) - fork_servers, 0)
        return self.descriptors().count("anon_inode:[pidfd]") - living

    def tasks(self) -> int:
        """The tasks of the event loop, as the metrics tell them."""
        request = Request(self.url + "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        with urlopen(request, timeout=ASK_S) as answer:
            found = re.search(r"^voicebox_tasks (\S+)$", answer.read().decode(), re.MULTILINE)
        assert found is not None
        return int(float(found[1]))

    def ends(self) -> dict[str, list[str]]:
        """By call: the outcomes that dashboards were told, `ok` or a code; one is right."""
        ends: dict[str, list[str]] = {}
        for frame in self.ask("GET", "/api/frames?last=1000")["frames"]:
            told = ends.setdefault(frame["callId"], [])
            if frame["state"] == "done":
                told.append("ok" if frame["ok"] else frame["refused"])
        return ends

    def every_call_ended_once(self) -> bool:
        return all(len(told) == 1 for told in self.ends().values())

    @contextmanager
    def unharmed(self) -> Iterator[None]:
        """What happens within, more than `SLACK` times, leaves no task, descriptor or open call."""
        assert eventually(lambda: self.hash()["ok"])
        tasks, held = self.tasks(), self.held()
        yield
        assert eventually(lambda: self.hash()["ok"])
        assert eventually(self.every_call_ended_once), self.ends()
        assert eventually(lambda: self.tasks() <= tasks + SLACK), (self.tasks(), tasks)
        assert eventually(lambda: self.held() <= held + SLACK), (self.descriptors(), held)
        assert eventually(lambda: self.forgotten() <= 0), self.descriptors()


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
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


StartVictim = Callable[..., Victim]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartVictim]:
    """Start a relay; it and all its processes are ended with the test."""
    started: list[Victim] = []

    def begin(*argv: str, around: Sequence[str] = (), **more: str) -> Victim:
        environ = environment(tmp_path, VOICEBOX_LOG_LEVEL="warning", **more)
        process = spawn(environ, "serve", "--port", "0", *argv, around=around)
        victim = Victim(process, environ)
        started.append(victim)
        return victim

    yield begin
    for victim in started:
        stop(victim.process)


@pytest.fixture
def victim(start: StartVictim) -> Victim:
    """A relay with the script provider."""
    return start("--provider", "script")
