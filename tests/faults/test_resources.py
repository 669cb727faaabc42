"""Folders, disks and descriptors that are not there: one clear line, or one refused request."""

import signal
import socket
from pathlib import Path

import pytest

from tests.cli.conftest import PATIENCE_S, environment, spawn, stop
from tests.faults.conftest import StartVictim, Victim, eventually

FILES_MAX = 96


def end_of_start(tmp_path: Path, **more: str) -> tuple[int, str]:
    process = spawn(environment(tmp_path, **more), "serve", "--port", "0", "--provider", "script")
    try:
        _, err = process.communicate(timeout=PATIENCE_S)
    finally:
        stop(process)
    return process.returncode, err


@pytest.mark.parametrize("state", ["/proc/voicebox", "/dev/null/voicebox"])
def test_a_state_folder_that_can_not_be_made_is_one_clear_line(tmp_path: Path, state: str) -> None:
    code, err = end_of_start(tmp_path, VOICEBOX_STATE_DIR=state, VOICEBOX_TOKEN="")
    assert code == 1
    assert err.startswith("voicebox: ")
    assert err.count("\n") == 1


def test_a_shelf_that_is_not_there_costs_the_shelf_only(start: StartVictim, tmp_path: Path) -> None:
    victim = start("--provider", "script", VOICEBOX_WASM_SHELF_DIR=str(tmp_path / "none"))
    assert victim.health()["ok"]
    assert victim.ask("GET", "/api/shelf")["tools"] == []
    assert victim.hash()["refused"] == "unknown-tool"


def test_a_manifest_cut_short_costs_the_shelf_only(start: StartVictim, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "manifest.json").write_text('{"name": "x", "tools": [')
    victim = start("--provider", "script", VOICEBOX_WASM_SHELF_DIR=str(shelf))
    told = victim.ask("GET", "/api/shelf")
    assert told["refused"] == "shelf-unreadable"
    assert victim.health()["ok"]


def test_a_relay_out_of_descriptors_serves_again_when_some_are_free(start: StartVictim) -> None:
    few_files = ["sh", "-c", f'ulimit -n {FILES_MAX}; exec "$@"', "sh"]
    victim = start("--provider", "script", around=few_files)
    host, port = victim.url.removeprefix("http://").split(":")
    crowd = [socket.create_connection((host, int(port)), timeout=5) for _ in range(FILES_MAX)]
    assert victim.process.poll() is None
    for connection in crowd:
        connection.close()
    assert eventually(lambda: healthy(victim))
    assert eventually(lambda: victim.hash()["ok"])


def test_a_relay_allows_itself_the_files_that_its_sockets_need(start: StartVictim) -> None:
    few_at_first = ["sh", "-c", 'ulimit -Sn 128; exec "$@"', "sh"]
    victim = start("--provider", "script", around=few_at_first, VOICEBOX_SOCKETS_MAX="300")
    limits = Path(f"/proc/{victim.process.pid}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max open files")]
    assert int(line.split()[3]) > 300


def healthy(victim: Victim) -> bool:
    try:
        return bool(victim.health()["ok"])
    except OSError:
        return False


def test_a_relay_that_was_stopped_for_a_while_goes_on(victim: Victim) -> None:
    assert victim.hash()["ok"]
    victim.process.send_signal(signal.SIGSTOP)
    with pytest.raises(OSError, match="timed out"):
        socket_answer(victim, 0.3)
    victim.process.send_signal(signal.SIGCONT)
    assert eventually(lambda: healthy(victim))
    assert eventually(lambda: victim.hash()["ok"])


def socket_answer(victim: Victim, timeout_s: float) -> bytes:
    host, port = victim.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=timeout_s) as connection:
        connection.sendall(f"GET /api/health HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        return connection.recv(1)
