"""A disk that is full or can't be written: one refused request, nothing half, and service after."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import PATIENCE_S, SLACK, StartVictim, Victim, eventually
from tests.faults.disk import Disk, may_mount
from tests.shelf.hostile.modules import FINE
from tests.shelf.shelves import Shelf

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not may_mount(), reason="a disk of its own needs a namespace of mounts"),
]

HTML = "<!doctype html><title>{title}</title><p>" + "x" * 8_000
OTHER = "vbx_" + "e" * 48
FAULTS = pytest.mark.parametrize(
    ("fault", "reason"), [("full", "No space left"), ("locked", "Read-only")]
)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path / "disk")


@pytest.fixture
def victim(start: StartVictim, disk: Disk) -> Victim:
    """A relay that keeps everything on the small disk."""
    return start(
        "--provider",
        "script",
        around=disk.around,
        VOICEBOX_EXTENSIONS_DIR=str(disk.folder / "extensions"),
        VOICEBOX_WORKSPACE=str(disk.folder / "workspace"),
        VOICEBOX_STATE_DIR=str(disk.folder / "state"),
    )


def save(victim: Victim, title: str, **more: Any) -> dict[str, Any]:
    return victim.told("POST", "/api/mini-apps", {"html": HTML.format(title=title)} | more)


def apps(victim: Victim) -> dict[str, int]:
    told = victim.ask("GET", "/api/mini-apps")["miniApps"]
    return {app["title"]: app["sizeBytes"] for app in told if app["source"] != "examples"}


def files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


@FAULTS
def test_a_save_is_refused_leaves_nothing_half_and_works_again(
    victim: Victim, disk: Disk, fault: str, reason: str
) -> None:
    with victim.unharmed():
        assert save(victim, "First")["ok"]
        there, before = files(disk.seen_in(victim)), apps(victim)
        with getattr(disk, fault)(victim):
            for number in range(2 * SLACK):
                told = save(victim, f"Other {number}")
                assert told["refused"] == "store-unavailable"
                assert reason in told["why"]
            assert apps(victim) == before
        assert files(disk.seen_in(victim)) == there
        assert save(victim, "Second")["ok"]
        assert set(apps(victim)) == {"First", "Second"}


@FAULTS
def test_an_app_that_can_not_be_saved_over_stays_what_it_was(
    victim: Victim, disk: Disk, fault: str, reason: str
) -> None:
    with victim.unharmed():
        app = save(victim, "Board")["miniApp"]
        longer = HTML.format(title="Board") + "y" * 10_000
        with getattr(disk, fault)(victim):
            for _ in range(2 * SLACK):
                told = victim.told("PUT", "/api/mini-apps", {"html": longer, "appId": app["appId"]})
                assert told["refused"] == "store-unavailable"
                assert reason in told["why"]
            kept = victim.ask("GET", f"/api/mini-apps?id={app['appId']}")["miniApp"]
            assert kept["html"] == HTML.format(title="Board")
        again = victim.told("PUT", "/api/mini-apps", {"html": longer, "appId": app["appId"]})
        assert again["updated"]


def test_an_app_that_can_not_be_deleted_is_whole(victim: Victim, disk: Disk) -> None:
    app = save(victim, "Board")["miniApp"]
    with disk.locked(victim):
        told = victim.told("DELETE", f"/api/mini-apps?id={app['appId']}")
        assert told["refused"] == "store-unavailable"
        assert "Board" in apps(victim)
    assert victim.told("DELETE", f"/api/mini-apps?id={app['appId']}")["deleted"]


def rotate(victim: Victim, state: Path) -> "subprocess.CompletedProcess[str]":
    environ = victim.environ | {"VOICEBOX_STATE_DIR": str(state), "VOICEBOX_TOKEN": ""}
    command = [sys.executable, "-m", "relay", "token", "rotate"]
    return subprocess.run(
        command, check=False, env=environ, capture_output=True, text=True, timeout=PATIENCE_S
    )


@FAULTS
def test_a_token_that_can_not_be_renewed_stays(
    victim: Victim, disk: Disk, fault: str, reason: str
) -> None:
    state = disk.seen_in(victim) / "state"
    state.mkdir(exist_ok=True)
    (state / "token").write_text(OTHER)
    with getattr(disk, fault)(victim):
        done = rotate(victim, state)
        assert done.returncode == 1
        assert done.stderr.startswith("voicebox: the token can't be written")
        assert done.stderr.count("\n") == 1
        assert reason in done.stderr
    assert (state / "token").read_text() == OTHER
    assert [file for file in files(state) if file.startswith("token.")] == []
    assert rotate(victim, state).returncode == 0
    assert (state / "token").read_text() not in {OTHER, TOKEN}


@FAULTS
def test_a_tool_is_admitted_in_memory_and_written_down_when_it_can_be(
    start: StartVictim, disk: Disk, tmp_path: Path, fault: str, reason: str
) -> None:
    shelf = Shelf(tmp_path / "shelf")
    shelf.put_shipped("hash")
    victim = start(
        "--provider",
        "script",
        around=disk.around,
        VOICEBOX_WASM_SHELF_DIR=str(shelf.folder),
        VOICEBOX_STATE_DIR=str(disk.folder / "state"),
    )
    ledger = disk.seen_in(victim) / "state" / "admitted.json"
    assert victim.hash()["ok"]
    with getattr(disk, fault)(victim):
        shelf.put("fine", FINE)
        call = {"name": "fine", "args": {"input": "x"}}
        assert eventually(lambda: victim.ask("POST", "/api/call", call)["ok"])
        assert "fine" not in ledger.read_text()
        # its digest is held against it although no file says so
        shelf.flip("fine")
        shelf.repin("fine")
        assert eventually(
            lambda: victim.ask("POST", "/api/call", call).get("refused") == "digest-mismatch"
        )
    assert victim.hash()["ok"]
    assert eventually(lambda: '"fine"' in ledger.read_text())


def test_a_relay_starts_over_folders_that_it_can_not_write(
    start: StartVictim, tmp_path: Path
) -> None:
    disk = Disk(tmp_path / "disk", mode="ro")
    victim = start(
        "--provider",
        "script",
        around=disk.around,
        VOICEBOX_EXTENSIONS_DIR=str(disk.folder / "extensions"),
        VOICEBOX_WORKSPACE=str(disk.folder / "workspace"),
        VOICEBOX_STATE_DIR=str(disk.folder / "state"),
    )
    assert victim.hash()["ok"]
    assert save(victim, "First")["refused"] == "store-unavailable"
    assert victim.health()["ok"]
