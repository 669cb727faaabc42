"""Chromium over its DevTools pipe: commands, answers, events, and nothing that watches frames.

Drivers that follow every frame stumble over what attacks do with frames; this one asks the
browser and one page only.
"""

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

ANSWER_MAX_S = 20.0
STOP_S = 5.0
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=AutofillServerCommunication,OptimizationHints,MediaRouter",
    "--mute-audio",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--window-size=1280,900",
)
_HIGH = 20  # our ends of the pipes must not be 3 or 4, which are Chromium's


class DevtoolsError(Exception):
    """The browser refused a command, went away, or a script of ours threw."""


class Devtools:
    """A context manager around one headless Chromium."""

    def __init__(self, flags: Sequence[str] = ()) -> None:
        self.on_event: Callable[[dict[str, Any]], None] = lambda _: None
        self._flags = [*FLAGS, *flags]
        self._profile = tempfile.TemporaryDirectory(prefix="voicebox-chromium-")
        self._last = 0
        self._rest = b""
        self._messages: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        program = shutil.which("chromium")
        if program is None:
            raise DevtoolsError("chromium is not installed: apt-get install chromium")
        if os.geteuid() == 0:
            self._flags.append("--no-sandbox")  # Chromium refuses its own sandbox to root
        self._flags.append(f"--user-data-dir={self._profile.name}")
        commands, self._to = _pipe()
        self._from, answers = _pipe()
        redirect = f'exec "$@" 3<&{commands} 4>&{answers}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", redirect, "bash", program, *self._flags],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)  # Chromium ends with its pipe
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._profile.cleanup()

    def send(self, method: str, session: str | None = None, **params: Any) -> Any:
        """One command and its answer; events meanwhile go to `on_event`. Raises: DevtoolsError."""
        self._last += 1
        number = self._last
        command = {"id": number, "method": method, "params": params}
        if session is not None:
            command["sessionId"] = session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + ANSWER_MAX_S
        while time.monotonic() < until:
            answer = self._take(number, until)
            if answer is not None:
                if "error" in answer:
                    raise DevtoolsError(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
        raise DevtoolsError(f"{method}: no answer within {ANSWER_MAX_S:.0f} s")

    def wait(self, seconds: float) -> None:
        """Let time pass; events go to `on_event`."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._read(left)
            self._deliver()

    def _take(self, number: int, until: float) -> dict[str, Any] | None:
        """The answer of that number, if it is there; what is an event is delivered."""
        self._read(max(0.0, until - time.monotonic()))
        found = next((one for one in self._messages if one.get("id") == number), None)
        if found is not None:
            self._messages.remove(found)
        self._deliver()
        return found

    def _deliver(self) -> None:
        events = [one for one in self._messages if "id" not in one]
        self._messages = [one for one in self._messages if "id" in one]
        for event in events:
            self.on_event(event)

    def _read(self, seconds: float) -> None:
        if not select.select([self._from], [], [], seconds)[0]:
            return
        data = os.read(self._from, 1 << 20)
        if not data:
            raise DevtoolsError("chromium ended")
        *whole, self._rest = (self._rest + data).split(b"\0")
        self._messages += [json.loads(text) for text in whole]


def _pipe() -> tuple[int, int]:
    """Both ends of a pipe, on high numbers."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _HIGH) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]
