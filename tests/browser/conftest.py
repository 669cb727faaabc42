"""The product as people start it, and a real Chromium to look at it with."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from scripts.browser_lab.chromium import chromium
from scripts.browser_lab.relay_process import ROOT, RelayProcess
from scripts.browser_lab.room_page import RoomPage

OpenRoom = Callable[..., RoomPage]
Shoot = Callable[[RoomPage], None]
ARTEFACTS = ROOT / "artefacts"

# An app with one tool that never answers, and one that says it is there
SLOW_APP = """<!doctype html>
<title>Slow</title>
<script>
const execute = () => new Promise(() => {});
webMcp.registerTool({ name: "never", description: "Never answers", execute });
</script>
"""
# A conversation: at any typed turn the slow tool is called, then a sentence is said
SLOW_SCRIPT = {
    "steps": [
        {"hear": {"text": ""}},
        {"call": {"name": "never", "args": {}}},
        {"assistant": "That did not work."},
        {"end": True},
        {"repeat": True},
    ]
}


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a person's own apps."""
    folder = tmp_path_factory.mktemp("extensions") / "mini-apps"
    folder.mkdir()
    (folder / "slow.html").write_text(SLOW_APP)
    return folder


@contextmanager
def scripted(apps: Path, script: object) -> Iterator[RelayProcess]:
    """A relay with these apps, whose model plays the script."""
    file = apps.parent / "script.json"
    file.write_text(json.dumps(script))
    env = {
        "VOICEBOX_EXTENSIONS_DIR": str(apps.parent),
        "VOICEBOX_WORKSPACE": str(apps.parent / "workspace"),
        "VOICEBOX_SCRIPT": str(file),
        "HOME": str(apps.parent),
    }
    with RelayProcess.by_cli("--provider", "script", **env) as started:
        yield started


@pytest.fixture(scope="module")
def relay(apps: Path) -> Iterator[RelayProcess]:
    with scripted(apps, SLOW_SCRIPT) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def open_room(browser: Browser, relay: RelayProcess) -> Iterator[OpenRoom]:
    """Open rooms that are closed again, with their apps, after the test."""
    with ExitStack() as stack:

        def open_one(link: str | None = None, **context: Any) -> RoomPage:
            room = RoomPage(browser, relay, **context)
            stack.callback(room.close)
            room.open(link)
            return room

        yield open_one
    wait_for_no_apps(relay)


@pytest.fixture
def room(open_room: OpenRoom) -> RoomPage:
    return open_room(viewport={"width": 1280, "height": 900})


@pytest.fixture
def shoot(request: pytest.FixtureRequest) -> Shoot:
    """Take pictures of a room for people to look at; the test's name and a number name them."""
    folder = ARTEFACTS / request.path.stem
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []

    def shoot_one(room: RoomPage) -> None:
        name = request.node.name.removeprefix("test_")
        taken.append(folder / f"{name}-{len(taken) + 1}.png")
        room.page.screenshot(path=taken[-1], animations="disabled")

    return shoot_one


def wait_for_no_apps(relay: RelayProcess) -> None:
    """The tools of a page that closed leave after a grace."""
    relay.wait_for(lambda: not relay.app_tools())
