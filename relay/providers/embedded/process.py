"""The engine process as the relay sees it: start, talk, notice its death, start again.

It knows frames and sessions' listeners; it does not know what a turn is.
"""

import asyncio
import asyncio.subprocess
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Protocol

import msgspec
import structlog

import relay
from relay.providers.embedded import wire
from relay.providers.embedded.setup import Setup
from relay.upkeep import keep_up

_RESTART_FIRST_S = 0.2
_RESTART_MOST_S = 30.0
_HOPELESS_STARTS = 3
_LOAD_PATIENCE_S = 180.0
_PING_S = 5.0
_SILENCE_MAX_S = 30.0
_GOODBYE_S = 1.0
_LOADING = "the speech engine is loading"
_SEND_PATIENCE_S = 5.0
_ROOT = Path(relay.__file__).parent.parent
# -I leaves the project's folder out of the path; it is added behind the installed packages.
_BOOTSTRAP = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from relay.providers.embedded.main import main; main()"
)
_log = structlog.get_logger(__name__)


def engine_command(setup: Setup) -> tuple[str, ...]:
    """How the engine is started."""
    return (sys.executable, "-I", "-c", _BOOTSTRAP, str(_ROOT), setup.written())


class Listener(Protocol):
    """What a session hears of its engine; none of these may block."""

    def on_loaded(self) -> None:
        """The engine takes sessions now."""

    def on_message(self, message: wire.OfSession) -> None:
        """Something about this session."""

    def on_lost(self, attempt: int, why: str, *, hopeless: bool) -> None:
        """The engine is gone with all that it knew; it is being started again."""


class EngineProcess:
    """One engine, kept alive between `start` and `stop`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        restart_first_s: float = _RESTART_FIRST_S,
    ) -> None:
        self._command = command
        self._restart_first_s = restart_first_s
        self._supervisor: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._listeners: dict[str, Listener] = {}
        self._last_pong = 0.0
        self._failed_starts = 0
        self.loaded = False
        self.why = "the speech engine has not been started"

    @property
    def hopeless(self) -> bool:
        """Whether it failed so often in a row that nobody should wait for it."""
        return self._failed_starts >= _HOPELESS_STARTS

    @property
    def pid(self) -> int | None:
        """The running engine's process id."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Begin to keep an engine alive; returns at once, and does nothing the second time."""
        if self._supervisor is None:
            self._supervisor = asyncio.create_task(keep_up(self._supervise), name="speech engine")

    async def stop(self) -> None:
        """End the engine; sessions end with it."""
        if self._supervisor is None:
            return
        self._supervisor.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._supervisor
        self._supervisor = None
        for listener in list(self._listeners.values()):
            listener.on_lost(0, "the relay is stopping", hopeless=True)

    def listen(self, session: str, listener: Listener) -> None:
        """Tell a session what concerns it until `forget`."""
        self._listeners[session] = listener

    def forget(self, session: str) -> None:
        """Tell it nothing more."""
        self._listeners.pop(session, None)

    async def send(self, message: wire.ToEngine) -> bool:
        """Hand a message over; False when no engine takes it. Waits while the engine is behind."""
        if not self.loaded or self._process is None:
            return False
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(wire.frame(message))
            if stdin.is_closing() or stdin.transport.get_write_buffer_size():
                await asyncio.wait_for(stdin.drain(), _SEND_PATIENCE_S)
        except TimeoutError:
            return True  # it is on its way; an engine that stays behind is ended by its silence
        except (OSError, ValueError):
            return False
        return True

    # ---- the engine's life ------------------------------------------------------------------

    async def _supervise(self) -> None:
        pause_s = self._restart_first_s
        while True:
            was_loaded = await self._live_once()
            self._failed_starts = 0 if was_loaded else self._failed_starts + 1
            pause_s = self._restart_first_s if was_loaded else min(2 * pause_s, _RESTART_MOST_S)
            _log.warning("engine_lost", why=self.why, restart_in_s=pause_s)
            for listener in list(self._listeners.values()):
                listener.on_lost(self._failed_starts + 1, self.why, hopeless=self.hopeless)
            await asyncio.sleep(pause_s)

    async def _live_once(self) -> bool:
        """Run one engine until it ends; whether it ever was ready."""
        self.why = _LOADING
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
                cwd=_ROOT.anchor,
            )
        except OSError as error:
            self.why = f"the speech engine can't be started: {error.strerror}"
            return False
        pinging = asyncio.create_task(self._ping(self._process), name="speech engine ping")
        try:
            await self._read(self._process)
        finally:
            was_loaded, self.loaded = self.loaded, False
            pinging.cancel()
            await _end(self._process)
            self._process = None
        return was_loaded

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while True:
                self._take(wire.read_from_engine(await _next_frame(process.stdout)))
        except (asyncio.IncompleteReadError, OSError):
            if self.loaded:
                self.why = "the speech engine ended unexpectedly"
            elif self.why == _LOADING:
                self.why = "the speech engine ended while it was loading"
        except (msgspec.DecodeError, ValueError):
            self.why = "the speech engine said something that is not a message"
        except Exception:  # no memory, or a bug: sessions are told, and another engine is started
            _log.exception("engine_misheard")
            self.why = "the relay failed while it listened to the speech engine"

    def _take(self, message: wire.FromEngine) -> None:
        match message:
            case wire.Loaded():
                self.loaded = True
                self._failed_starts = 0
                _log.info("engine_ready")
                for listener in list(self._listeners.values()):
                    listener.on_loaded()
            case wire.Failed(why=why):
                self.why = why
            case wire.Pong():
                self._last_pong = monotonic()
            case _:
                listener_or_none = self._listeners.get(message.session)
                if listener_or_none is not None:
                    listener_or_none.on_message(message)

    async def _ping(self, process: asyncio.subprocess.Process) -> None:
        """End an engine that no longer answers, or never gets ready."""
        began = self._last_pong = monotonic()
        stdin = process.stdin
        assert stdin is not None
        while True:
            await asyncio.sleep(_PING_S)
            with contextlib.suppress(OSError):
                stdin.write(wire.frame(wire.Ping()))
            now = monotonic()
            too_slow = not self.loaded and now - began > _LOAD_PATIENCE_S
            if too_slow or now - self._last_pong > _SILENCE_MAX_S:
                self.why = "the speech engine stopped answering"
                process.kill()
                return


async def _next_frame(stdout: asyncio.StreamReader) -> bytes:
    """One frame's body. Raises: IncompleteReadError, ValueError when it is too long."""
    (length,) = wire.LENGTH.unpack(await stdout.readexactly(wire.LENGTH.size))
    if length > wire.FRAME_MAX_BYTES:
        raise ValueError
    return await stdout.readexactly(length)


def _environment() -> dict[str, str]:
    """One thread a library: the relay and its tools need the other cores.

    The voice activity detector asks for four, which cost nine times as much for each frame; only
    the limit holds it.
    """
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return kept | {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "LC_ALL": "C.UTF-8"}


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, which ends it; kill it if that does not."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _GOODBYE_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
