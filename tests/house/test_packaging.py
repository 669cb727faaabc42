"""The wheel, as somebody has it who never saw the checkout."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

TOKEN = "vbx_" + "0123456789abcdef" * 3
BUILD_S = 150
pytestmark = pytest.mark.timeout(2 * BUILD_S)


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it by the locked build tools, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", *flags, str(root)]
    subprocess.run(command, check=True, capture_output=True, timeout=BUILD_S)
    return next(folder.glob("voicebox_relay-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack it into a folder of its own, as an installer does."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def served(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a relay that runs from that folder, with no checkout in reach."""
    home = tmp_path_factory.mktemp("home")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(installed),
        "VOICEBOX_TOKEN": TOKEN,
    }
    command = [sys.executable, "-m", "relay", "serve", "--port", "0", "--provider", "script"]
    process = subprocess.Popen(command, cwd=home, env=environ, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("listening ").strip()
        process.terminate()


def get(address: str, path: str) -> str:
    request = Request(address + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urlopen(request, timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def test_the_wheel_holds_what_the_product_shows_and_runs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for shipped in (
        "relay/assets/static/index.html",
        "relay/assets/static/vendor/uplot/LICENSE",
        "relay/assets/static/vendor/uplot/uPlot.iife.min.js",
        "relay/assets/shelf/hash.wasm",
        "relay/assets/examples/mini-apps/scoreboard.html",
        "relay/py.typed",
    ):
        assert shipped in names
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "docs/"))]


def test_a_relay_from_the_wheel_serves_room_bridge_shelf_and_examples(served: str) -> None:
    assert "<title>" in get(served, "/")
    assert "<script" in get(served, "/mini-app-bridge.html")
    apps = json.loads(get(served, "/api/mini-apps"))["miniApps"]
    assert {"Lights", "Scoreboard", "Timer"} <= {app["title"] for app in apps}
    body = json.dumps({"name": "hash", "args": {"input": "abc"}}).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = Request(served + "/api/call", data=body, headers=headers)
    with urlopen(request, timeout=30) as answer:
        assert json.load(answer)["result"]["output"].startswith("ba7816bf8f01cfea")
