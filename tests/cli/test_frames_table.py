"""`voicebox frames` on a terminal: a live table that outlasts the relay and leaves no mess."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl

import pytest

from tests.cli.conftest import PATIENCE_S, Run, Running, Start, stop

SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07)")
OTHER_SCREEN, OWN_SCREEN, CURSOR_SHOWN = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"


class Terminal:
    """A program on a terminal of its own, 30 lines of 120 columns."""

    def __init__(self, environ: dict[str, str], *argv: str) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "relay", *argv],
            env=environ | {"TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(theirs)
        self.written = ""

    def read_until(self, holds: Callable[[str], bool]) -> str:
        """What was written since the last time, without colours, once it holds."""
        text, until = "", time.monotonic() + PATIENCE_S
        while not holds(SEQUENCE.sub("", text)):
            assert time.monotonic() < until, text
            text += self._read()
        return SEQUENCE.sub("", text)

    def end(self, number: int = signal.SIGINT) -> int:
        """Press Ctrl-C, or send another signal, and read the rest."""
        self.process.send_signal(number)
        while part := self._read():
            assert part
        return self.process.wait(timeout=PATIENCE_S)

    def _read(self) -> str:
        if not select.select([self._ours], [], [], PATIENCE_S)[0]:
            return ""
        try:
            part = os.read(self._ours, 65_536).decode(errors="replace")
        except OSError:  # the program has closed its terminal
            return ""
        self.written += part
        return part

    def close(self) -> None:
        stop(self.process)
        os.close(self._ours)


@pytest.fixture
def on_terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def begin(relay: Running, *argv: str) -> Terminal:
        opened.append(Terminal(relay.environ, "frames", "--url", relay.url, *argv))
        return opened[-1]

    yield begin
    for terminal in opened:
        terminal.close()


Open = Callable[..., Terminal]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_figures_are_drawn_live_and_left_on_the_terminal(
    run: Run, relay: Running, on_terminal: Open, number: int
) -> None:
    run("call", "earlier", relay=relay)
    terminal = on_terminal(relay)
    terminal.read_until(lambda text: "earlier" in text and "unknown-tool" in text)
    run("call", "hash", '{"input": "abc"}', relay=relay)
    terminal.read_until(lambda text: "hash" in text and "wasm" in text)
    code = terminal.end(number)
    assert terminal.process.stderr is not None
    assert (code, terminal.process.stderr.read()) == (130, "")
    assert terminal.written.index(OTHER_SCREEN) < terminal.written.rindex(OWN_SCREEN)
    left = terminal.written.rpartition(OWN_SCREEN)[2]
    assert CURSOR_SHOWN in terminal.written
    assert "hash" in left
    assert "Newest calls" in left


def test_the_table_outlasts_a_restart_of_the_relay(
    run: Run, start: Start, on_terminal: Open
) -> None:
    relay = start()
    port = relay.url.rpartition(":")[2]
    run("call", "before", relay=relay)
    terminal = on_terminal(relay)
    terminal.read_until(lambda text: "before" in text)
    assert relay.end() == 0
    terminal.read_until(lambda text: "not reachable, trying again in" in text)
    again = start("--port", port)
    run("call", "after", relay=again)
    terminal.read_until(lambda text: "before" in text and "after" in text)
    assert terminal.end() == 130


@pytest.mark.parametrize("flag", ["--lines", "--json"])
def test_lines_are_lines_on_a_terminal_too(
    run: Run, relay: Running, on_terminal: Open, flag: str
) -> None:
    run("call", "first", relay=relay)
    terminal = on_terminal(relay, flag, "--last", "1")
    terminal.read_until(lambda text: "first" in text)
    assert "\x1b" not in terminal.written


def test_a_refused_table_is_one_line_and_leaves_the_terminal_alone(
    relay: Running, on_terminal: Open
) -> None:
    terminal = on_terminal(relay, "--token", "vbx_" + "f" * 48)
    assert terminal.process.stderr is not None
    assert terminal.process.wait(timeout=PATIENCE_S) == 1
    assert terminal.process.stderr.read().count("\n") == 1
    assert OTHER_SCREEN not in terminal.written
