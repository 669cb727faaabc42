"""A real relay in a process of its own, and the command line in the test's process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from relay.cli import main

TOKEN = "vbx_" + "0123456789abcdef" * 3
PATIENCE_S = 45.0  # in which a process begins and ends, on a busy machine too
HEARD = {"hear": {"text": "", "audioMs": 500}}
SCRIPT = [
    HEARD,
    {"user": "what was said"},
    {"call": {"name": "hash", "args": {"input": "abc"}}},
    {"call": {"name": "no_such_tool"}},
    {"assistant": "the answer\u202e\x1b[2J"},
    {"tone": {"ms": 300}},
    {"end": True},
    {"repeat": True},
]


class Running:
    """A relay that was started, as programs meet it: by the line that it prints."""

    def __init__(self, process: subprocess.Popen[str], environ: dict[str, str]) -> None:
        self.process = process
        self.environ = environ
        assert process.stdout is not None
        self.first_line = process.stdout.readline().rstrip("\n")
        assert self.first_line, process.communicate()[1]
        self.url = self.first_line.removeprefix("listening ")

    def health(self) -> dict[str, Any]:
        with urlopen(self.url + "/api/health", timeout=PATIENCE_S) as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    def rest_of_output(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_S)


def until(condition: Callable[[], object]) -> None:
    """Wait until something holds; the test's own timeout bounds it."""
    while not condition():
        sleep(0.02)


Start = Callable[..., Running]


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {
        name: os.environ[name] for name in ("PATH", "COVERAGE_PROCESS_CONFIG") if name in os.environ
    }
    return kept | {"HOME": str(folder), "VOICEBOX_TOKEN": TOKEN} | more


def spawn(
    environ: dict[str, str], *argv: str, around: Sequence[str] = ()
) -> "subprocess.Popen[str]":
    """Start `voicebox ARGV`; `around` is a command that becomes the one that follows it."""
    return subprocess.Popen(
        [*around, sys.executable, "-m", "relay", *argv],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def serve(folder: Path, script: list[dict[str, Any]], *argv: str, **more: str) -> Running:
    file = folder / "script.json"
    file.write_text(json.dumps({"steps": script}))
    environ = environment(folder, VOICEBOX_SCRIPT=str(file), **more)
    return Running(spawn(environ, "serve", "--port", "0", "--provider", "script", *argv), environ)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `voicebox serve` on a free port; it is ended with the test."""
    started = []

    def begin(*argv: str, script: list[dict[str, Any]] | None = None, **more: str) -> Running:
        started.append(serve(tmp_path, SCRIPT if script is None else script, *argv, **more))
        return started[-1]

    yield begin
    for running in started:
        stop(running.process)


@pytest.fixture(scope="session")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A relay that tests share; whoever ends one starts their own."""
    running = serve(tmp_path_factory.mktemp("relay"), SCRIPT)
    yield running
    stop(running.process)


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    def is_one_line_of_error(self, *words: str) -> bool:
        one_line = self.err.count("\n") == 1 and self.err.startswith("voicebox: ")
        return self.code == 1 and one_line and all(word in self.err for word in words)


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process, in an empty folder with an empty environment."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name in [*os.environ]:
        if name.startswith(("VOICEBOX_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))

    def command(*argv: str, relay: Running | None = None) -> Done:
        monkeypatch.setenv("VOICEBOX_TOKEN", TOKEN)
        reaching = [] if relay is None else ["--url", relay.url]
        capsys.readouterr()
        code = main([*argv, *reaching])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return command


@pytest.fixture
def spawned(tmp_path: Path) -> Run:
    """Run one command in a process of its own."""

    def command(*argv: str) -> Done:
        process = spawn(environment(tmp_path, VOICEBOX_LOG_LEVEL="error"), *argv)
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            stop(process)
        return Done(process.returncode, out, err)

    return command
