"""HTTP clients that ask and do not read: each is dropped, together they cost little."""

import json
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.cli.conftest import TOKEN
from tests.faults.conftest import StartVictim, Victim, eventually
from tests.faults.test_stuck import MIB, OTHERS_MIB, resident

pytestmark = pytest.mark.timeout(180)

CROWD = 16
NEVER = "3600000"
LARGE = MIB * 3 // 4  # an answer of this size; more than fits on the way
PIPELINED = 24  # as many as are read ahead of an answer, and no more than a client can write


@contextmanager
def asking(victim: Victim, path: str, *, times: int = PIPELINED) -> Iterator[socket.socket]:
    """A client that asked so often, in one breath, and has room for next to nothing."""
    host = victim.url.removeprefix("http://")
    name, port = host.split(":")
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(60)
        client.connect((name, int(port)))
        client.sendall(request.encode() * times)
        yield client


def was_reset(client: socket.socket) -> bool:
    """Whether the relay has ended the connection; seen without reading."""
    poll = select.poll()
    poll.register(client, 0)
    return bool(poll.poll(0))


def large_app(victim: Victim) -> str:
    """The path of a saved mini-app of that size."""
    html = "<!doctype html><title>Large</title>" + "x" * LARGE
    saved = victim.ask("POST", "/api/mini-apps", {"html": html, "title": "Large"})
    return f"/api/mini-apps?id={saved['miniApp']['appId']}"


def full_history(victim: Victim) -> str:
    """The path of a long answer of another kind."""
    for _ in range(20):
        call = {"name": "none", "args": {"x": "y" * 60_000}}
        assert victim.told("POST", "/api/call", call)["ok"] is False
    return "/api/frames?last=1000"


@pytest.mark.parametrize("prepare", [large_app, full_history])
def test_clients_that_read_no_answer_are_dropped(start: StartVictim, prepare: object) -> None:
    assert callable(prepare)
    victim = start(
        *("--provider", "script"),
        VOICEBOX_HTTP_STUCK_MS="800",
        VOICEBOX_HTTP_IDLE_MS=NEVER,
        VOICEBOX_FRAME_ARGS="1",
    )
    path = prepare(victim)
    with victim.unharmed(), ExitStack() as stack:
        crowd = [stack.enter_context(asking(victim, path)) for _ in range(CROWD)]
        assert eventually(lambda: all(was_reset(client) for client in crowd))
        assert victim.ask("GET", path)["ok"], "who reads is answered"


def test_a_file_that_needs_no_token_is_bound_by_the_same_rule(start: StartVictim) -> None:
    victim = start(
        *("--provider", "script"), VOICEBOX_HTTP_STUCK_MS="800", VOICEBOX_HTTP_IDLE_MS=NEVER
    )
    with victim.unharmed(), asking(victim, "/static/app.js", times=4_000) as client:
        assert eventually(lambda: was_reset(client))


def test_together_they_cost_no_more_than_the_bound(start: StartVictim) -> None:
    bound = 4 * MIB
    victim = start(
        *("--provider", "script"),
        VOICEBOX_HTTP_STUCK_MS=NEVER,
        VOICEBOX_HTTP_IDLE_MS=NEVER,
        VOICEBOX_HTTP_UNREAD_MAX_BYTES=str(bound),
        MALLOC_MMAP_THRESHOLD_="65536",  # what is freed leaves the process, and is not counted
    )
    path = large_app(victim)
    assert victim.ask("GET", path)["ok"]
    before, most = resident(victim), 0
    with ExitStack() as stack:
        for _ in range(6 * CROWD):
            stack.enter_context(asking(victim, path))
            most = max(most, resident(victim))
        assert victim.ask("GET", path)["ok"]
        most = max(most, resident(victim))
    # beside what waits there are the answers that it is the rest of; without a bound it is 140 MiB
    assert most - before < 8 * bound + OTHERS_MIB * MIB


def test_a_client_that_reads_bit_by_bit_gets_everything(victim: Victim) -> None:
    path = large_app(victim)
    with asking(victim, path, times=4) as client:
        answers = 0
        with client.makefile("rb") as reader:
            for _ in range(4):
                size = 0
                while (line := reader.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        size = int(line.split(b":")[1])
                answers += json.loads(reader.read(size))["ok"]
    assert answers == 4


def test_a_stop_does_not_wait_for_them(start: StartVictim) -> None:
    victim = start(
        *("--provider", "script"), VOICEBOX_HTTP_STUCK_MS=NEVER, VOICEBOX_HTTP_IDLE_MS=NEVER
    )
    with asking(victim, large_app(victim)):
        victim.process.send_signal(signal.SIGTERM)
        victim.process.communicate(timeout=60)
    assert victim.process.returncode == 0
