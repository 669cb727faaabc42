"""voicebox serve: run the relay until a signal ends it."""

import argparse
import asyncio
import os
import resource
import signal
import sys
import threading
import webbrowser
from collections.abc import Coroutine
from functools import partial
from typing import Any

import structlog
from aiohttp import web

from relay.cli.error import CommandError
from relay.logs import configure_logs
from relay.server.app import make_app
from relay.server.door import Door
from relay.server.keys import DEFAULT_PROVIDER, GUARD, MODELS, SHELF, SOCKETS
from relay.settings import Settings, SettingsError, ensure_token, load_token, read_settings
from relay.upkeep import keep_up

_READY_POLL_S = 0.1
_OTHER_DESCRIPTORS = 512  # HTTP, live models, workers, files
_log = structlog.get_logger(__name__)


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("serve", help="run the relay")
    parser.add_argument("--port", type=int, help="port to listen on; 0 takes a free one (8787)")
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--allow-remote", action="store_true", default=None, help="see --host")
    parser.add_argument("--provider", help="the live model: embedded, openai, gemini or script")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve; exit 0 after a signal."""
    settings = read_settings(
        os.environ,
        port=args.port,
        host=args.host,
        allow_remote=args.allow_remote,
        provider=args.provider,
    )
    configure_logs(level=settings.log_level, as_json=settings.log_json)
    _run_loop(_serve(settings, open_page=args.open))
    return 0


def _run_loop(main: Coroutine[Any, Any, None]) -> None:
    """On uvloop where the `fast` extra is installed, else on the standard loop."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


async def _serve(settings: Settings, *, open_page: bool) -> None:
    token = ensure_token(settings)
    stop = asyncio.Event()
    _stop_on_signal(stop)
    reload_asked = _ask_on_signal()
    _allow_descriptors(settings.limits.sockets_max)
    app = make_app(settings, token=token)
    door = Door(app)
    await door.start()
    try:
        try:
            port = await door.listen(settings.host, settings.port)
        except OSError as error:
            raise _no_place(settings, error) from None
        address = _address(port, settings)
        _announce(address, token, open_page=open_page)
        async with asyncio.TaskGroup() as group:
            reload = partial(_reload_when_asked, app, settings, reload_asked)
            reloading = group.create_task(keep_up(reload), name="reload")
            await _tell_when_ready(app, stop)
            await stop.wait()
            reloading.cancel()
    finally:
        await door.close()


def _allow_descriptors(sockets_max: int) -> None:
    """Let this process open as many sockets as it may have, as far as the machine allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = sockets_max + _OTHER_DESCRIPTORS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        _log.warning("few_descriptors", allowed=allowed, wanted=wanted)


def _ask_on_signal() -> asyncio.Event:
    """An event that SIGHUP sets; it is there before anybody is told that the relay is."""
    asked = asyncio.Event()
    if not sys.stdin.isatty():
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, asked.set)
    return asked


async def _reload_when_asked(
    app: web.Application, settings: Settings, asked: asyncio.Event
) -> None:
    """Read the token and the shelf again; peers with an old token are sent away."""
    while True:
        await asked.wait()
        asked.clear()
        try:
            token = await asyncio.to_thread(load_token, settings)
        except SettingsError as error:
            _log.warning("reload_failed", why=str(error))
            continue
        if app[GUARD].change_token(token):
            await app[SOCKETS].revoke()
        await app[SHELF].status()
        _log.info("reloaded")


def _stop_on_signal(stop: asyncio.Event) -> None:
    """The first signal asks for a stop in good order; a second one ends the process at once.

    A terminal that is closed (SIGHUP) ends the relay that runs in it.
    """
    loop = asyncio.get_running_loop()
    signals = [signal.SIGINT, signal.SIGTERM]
    if sys.stdin.isatty():
        signals.append(signal.SIGHUP)

    def heed() -> None:
        stop.set()
        for number in signals:
            loop.remove_signal_handler(number)

    for number in signals:
        loop.add_signal_handler(number, heed)


def _no_place(settings: Settings, error: OSError) -> CommandError:
    # a resolver's error numbers are negative; asyncio's own sentence repeats the address
    number = error.errno or 0
    reason = os.strerror(number) if number > 0 else error.strerror
    return CommandError(f"can't listen on {settings.host}:{settings.port}: {reason}")


def _address(port: int, settings: Settings) -> str:
    """Where this machine reaches the relay; one that listens everywhere is on loopback too."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(address: str, token: str, *, open_page: bool) -> None:
    link = f"{address}/#token={token}"
    _say(f"listening {address}")
    _say(f"Open this link in a browser on this machine:\n\n  {link}\n")
    if open_page:
        # a text browser holds its caller until it is closed
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _say(line: str) -> None:
    """Print for whoever reads; the relay goes on when nobody does any more."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def _tell_when_ready(app: web.Application, stop: asyncio.Event) -> None:
    model = app[MODELS][app[DEFAULT_PROVIDER]]
    if not model.ready and model.trouble is None:
        _say("The page works now; the voice is loading …")
    # readiness has no event
    while not (model.ready or model.trouble or stop.is_set()):  # noqa: ASYNC110
        await asyncio.sleep(_READY_POLL_S)
    if model.trouble is not None:
        _say(f"The page works, but not the voice: {model.trouble}.")
    elif model.ready:
        _say(f"The voice is ready ({model.name}, {model.model}).")
