"""A thousand strangers at the door: they get no further, and who has the token still gets in."""

import socket
from contextlib import ExitStack

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import StartVictim, Victim, eventually
from tests.faults.wire import Wire

pytestmark = pytest.mark.timeout(180)

CROWD = 1_000


def friend(victim: Victim, path: str = "/live") -> Wire:
    """Somebody with the token gets in, whoever else is at the door."""
    peer = Wire(victim.url, path)
    assert peer.status == 101
    peer.say(type="hello", token=TOKEN)
    assert peer.next("rate")["room"] == "main"
    return peer


def test_a_thousand_sockets_that_say_nothing_keep_nobody_out(victim: Victim) -> None:
    with victim.unharmed(), ExitStack() as stack:
        first = stack.enter_context(friend(victim))
        statuses = set()
        for number in range(CROWD):
            stranger = stack.enter_context(Wire(victim.url, "/workspace"))
            statuses.add(stranger.status)
            if number % 200 == 199:
                stack.enter_context(friend(victim))
                assert victim.hash()["ok"]
        assert statuses <= {101, 503}
        assert victim.ask("GET", "/api/tools")["ok"]
        first.say(type="text", text="go")
        assert first.next("text")["text"]


def test_a_thousand_connections_that_ask_nothing_are_let_go(start: StartVictim) -> None:
    victim = start("--provider", "script", VOICEBOX_HTTP_IDLE_MS="2000")
    name, port = victim.url.removeprefix("http://").split(":")
    with victim.unharmed(), ExitStack() as stack:
        silent = []
        for number in range(CROWD):
            connection = stack.enter_context(socket.create_connection((name, int(port)), 60))
            if number % 2:  # half of a request
                connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            silent.append(connection)
        with friend(victim):
            assert victim.hash()["ok"]
        for connection in silent:
            assert ended(connection)
    assert eventually(lambda: victim.open_files() < CROWD // 4)


def ended(connection: socket.socket) -> bool:
    """Whether the relay closes it; a line that is cut is refused first."""
    try:
        while connection.recv(4_096):
            pass
    except ConnectionError:
        pass
    return True
