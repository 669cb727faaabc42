"""SIGHUP: the token and the shelf are read again, and nobody else notices."""

import asyncio
import signal
from pathlib import Path
from urllib.error import HTTPError

import aiohttp
import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import StartVictim, Victim, eventually

pytestmark = pytest.mark.timeout(120)

OTHER = "vbx_" + "f" * 48
PATHS = ("/live", "/live", "/frames")


def with_token_file(start: StartVictim, folder: Path) -> Victim:
    state = folder / "state"
    state.mkdir()
    (state / "token").write_text(TOKEN)
    return start("--provider", "script", VOICEBOX_TOKEN="", VOICEBOX_STATE_DIR=str(state))


def accepts(victim: Victim) -> bool:
    """Whether the token of before is still good."""
    try:
        return bool(victim.ask("GET", "/api/tools")["ok"])
    except HTTPError as error:
        return error.code != 401


def test_a_renewed_token_counts_after_the_signal(start: StartVictim, tmp_path: Path) -> None:
    victim = with_token_file(start, tmp_path)
    (tmp_path / "state/token").write_text(OTHER)
    assert accepts(victim)
    victim.process.send_signal(signal.SIGHUP)
    assert eventually(lambda: not accepts(victim))
    assert victim.health()["ok"]


def test_an_unreadable_token_keeps_the_old_one(start: StartVictim, tmp_path: Path) -> None:
    victim = with_token_file(start, tmp_path)
    (tmp_path / "state/token").write_text("nonsense")
    victim.process.send_signal(signal.SIGHUP)
    victim.process.send_signal(signal.SIGHUP)
    assert victim.hash()["ok"]
    assert accepts(victim)


async def test_sockets_with_a_revoked_token_are_closed_with_1008(
    start: StartVictim, tmp_path: Path
) -> None:
    victim = await asyncio.to_thread(with_token_file, start, tmp_path)
    async with aiohttp.ClientSession() as http:
        sockets = [await http.ws_connect(victim.url + path) for path in PATHS]
        for socket in sockets:
            await socket.send_json({"type": "hello", "token": TOKEN})
        await sockets[0].receive()
        await asyncio.to_thread((tmp_path / "state/token").write_text, OTHER)
        victim.process.send_signal(signal.SIGHUP)
        for socket in sockets:
            async for _ in socket:
                pass
        assert [socket.close_code for socket in sockets] == [1008, 1008, 1008]


def test_a_signal_changes_nothing_else(victim: Victim) -> None:
    assert victim.hash()["ok"]
    victim.process.send_signal(signal.SIGHUP)
    assert victim.hash()["ok"]
    assert accepts(victim)
