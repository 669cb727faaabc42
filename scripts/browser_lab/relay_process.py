"""A relay in a process of its own, on a free port of loopback."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
_START_S = 30.0
_STOP_S = 10.0
_WAIT_S = 30.0
_POLL_S = 0.05
_LISTENING = "listening "


class RelayProcess:
    """A context manager. Raises: RuntimeError, with what it printed, if it does not start."""

    def __init__(self, command: Sequence[str], *, env: dict[str, str] | None = None) -> None:
        self.token = "vbx_" + os.urandom(24).hex()
        self.url = ""
        self._command = [sys.executable, *command]
        self._env = env or {}
        self._folder = tempfile.TemporaryDirectory(prefix="voicebox-lab-")
        self._output = Path(self._folder.name) / "output"
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def by_cli(cls, *flags: str, **env: str) -> Self:
        """The product as people start it."""
        return cls(["-m", "relay", "serve", "--port", "0", *flags], env=env)

    @property
    def link(self) -> str:
        """What `voicebox serve` prints for people."""
        return f"{self.url}/#token={self.token}"

    @property
    def folder(self) -> Path:
        """Its state folder, which goes with it."""
        return Path(self._folder.name)

    def __enter__(self) -> Self:
        self.start()
        return self

    def start(self) -> None:
        """Start it, after `stop` again on the same port. Raises: RuntimeError."""
        if self.url:
            port = self.url.rsplit(":", 1)[1]
            self._command = [port if word == "0" else word for word in self._command]
        environ = {k: v for k, v in os.environ.items() if not k.startswith("VOICEBOX_")}
        environ |= {"VOICEBOX_TOKEN": self.token, "VOICEBOX_STATE_DIR": self._folder.name}
        self._output.unlink(missing_ok=True)
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=environ | self._env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            self.url = self._wait_for_address(self._process)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def stop(self) -> None:
        """End it as a person would; by force if it does not heed that."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def output(self) -> str:
        """What it printed and logged so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """One HTTP exchange under the token; a refusal is an answer like any other."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - our own loopback address
            self.url + path, data=data, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 - see above
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            with error:
                return dict(json.load(error))

    def call(self, name: str, args: object) -> dict[str, Any]:
        """Run a tool of the room, as `voicebox call` does."""
        return self.ask("POST", "/api/call", {"name": name, "args": args})

    def tools(self) -> list[str]:
        """The names that a model sees."""
        return [tool["name"] for tool in self.ask("GET", "/api/tools")["tools"]]

    def app_tools(self, app_id: str | None = None) -> list[str]:
        """The names of an app's tools, or of all apps', in order."""
        tools = self.ask("GET", "/api/tools")["tools"]
        theirs = [tool for tool in tools if tool["host"] == "mini-app"]
        return sorted(t["name"] for t in theirs if app_id in (None, t.get("appId")))

    def wait_for(self, holds: Callable[[], object], seconds: float = _WAIT_S) -> None:
        """Ask until it holds. Raises: TimeoutError."""
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                raise TimeoutError("what was waited for did not happen")
            time.sleep(_POLL_S)

    def frames(self) -> list[dict[str, Any]]:
        """The tool frames that the room remembers."""
        return list(self.ask("GET", "/api/frames?last=1000")["frames"])

    def _wait_for_address(self, process: subprocess.Popen[bytes]) -> str:
        until = time.monotonic() + _START_S
        while time.monotonic() < until and process.poll() is None:
            for line in self.output().splitlines(keepends=True):
                if line.startswith(_LISTENING) and line.endswith("\n"):
                    return line.removeprefix(_LISTENING).strip()
            time.sleep(_POLL_S)
        raise RuntimeError(f"the relay did not start:\n{self.output()}")
