"""Bytes that no honest client sends: the socket that sent them ends with its code, and no other."""

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import PATIENCE_S, TOKEN, environment, spawn, stop
from tests.faults.conftest import Victim
from tests.faults.wire import BINARY, CLOSE, PING, TEXT, Wire, frame

pytestmark = pytest.mark.timeout(120)

MIB = 1024 * 1024
PATHS = pytest.mark.parametrize("path", ["/live", "/workspace", "/frames"])
CONTINUED = 0


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    environ = environment(tmp_path_factory.mktemp("relay"), VOICEBOX_LOG_LEVEL="error")
    process = spawn(environ, "serve", "--port", "0", "--provider", "script")
    yield Victim(process, environ)
    process.terminate()
    _, err = process.communicate(timeout=PATIENCE_S)
    stop(process)
    assert "Traceback" not in err


@pytest.fixture(autouse=True)
def _others_live(victim: Victim) -> Iterator[None]:
    """A conversation that goes on while somebody else misbehaves."""
    with Wire(victim.url, "/live") as friend:
        friend.say(type="hello", token=TOKEN)
        yield
        friend.say(type="text", text="go")
        assert friend.next("text")["text"]


def said(path: str) -> bytes:
    """A message that the socket refuses, in any number of pieces, and lives on."""
    return f'{{"type": "nonsense", "more": "{"ä" * 50}", "of": "{path}"}}'.encode()


@PATHS
def test_a_message_in_many_pieces_is_one_message(victim: Victim, path: str) -> None:
    with Wire(victim.url, path) as peer:
        hello = json.dumps({"type": "hello", "token": TOKEN}).encode()
        for place in range(len(hello)):  # one byte a frame, with pings between them
            kind = TEXT if place == 0 else CONTINUED
            peer.send(hello[place : place + 1], kind=kind, final=place == len(hello) - 1)
            peer.send(b"?", kind=PING)
        text = said(path)
        middle = text.index("ä".encode()) + 1  # in the middle of a letter
        peer.send(text[:middle], final=False)
        peer.send(text[middle:], kind=CONTINUED)
        assert peer.next("refused")["refused"] == "unknown-message"


TOO_LARGE = 1009
BROKEN = {1002, 1007}


def flood(peer: Wire) -> None:
    """Pieces of a message that never ends."""
    peer.send(b"x", final=False)
    for _ in range(80):
        peer.send(b"x" * (64 * 1024), kind=CONTINUED, final=False)


def interleave(peer: Wire) -> None:
    """Begin a message within a message."""
    peer.send(b"x", final=False)
    peer.send(b"x")


BREACHES: dict[str, tuple[set[int], Callable[[Wire], None]]] = {
    "one frame of over 4 MiB": ({TOO_LARGE}, lambda peer: peer.send(b"x" * (4 * MIB + 1))),
    "a head that claims 2^62 bytes": (
        {TOO_LARGE, 1002},
        lambda peer: peer.socket.sendall(struct.pack(">BBQ", 0x81, 0xFF, 1 << 62) + bytes(4)),
    ),
    "pieces without end": ({TOO_LARGE}, flood),
    "text that is no UTF-8": ({1007}, lambda peer: peer.send(b'{"type":"\xff"}')),
    "half a surrogate pair": ({1007}, lambda peer: peer.send(b'{"type":"\xed\xa0\x80"}')),
    "reserved bits": (BROKEN, lambda peer: peer.socket.sendall(b"\xf1" + frame(b"x")[1:])),
    "an unknown opcode": (BROKEN, lambda peer: peer.send(b"x", kind=5)),
    "a ping in pieces": (BROKEN, lambda peer: peer.send(b"x", kind=PING, final=False)),
    "a ping of 126 bytes": (BROKEN, lambda peer: peer.send(b"x" * 126, kind=PING)),
    "a message within a message": (BROKEN, interleave),
    "the rest of no message": (BROKEN, lambda peer: peer.send(b"x", kind=CONTINUED)),
    "a close code that is none": (
        BROKEN,
        lambda peer: peer.send((1005).to_bytes(2, "big"), kind=CLOSE),
    ),
}


@PATHS
@pytest.mark.parametrize("known", ["known", "unknown"])
@pytest.mark.parametrize("breach", BREACHES)
def test_frames_that_break_a_rule_end_their_socket(
    victim: Victim, path: str, known: str, breach: str
) -> None:
    codes, commit = BREACHES[breach]
    with Wire(victim.url, path) as peer:
        if known == "known":
            peer.say(type="hello", token=TOKEN)
        with suppress(ConnectionError):
            commit(peer)
        code = last_code(peer)
    # the last word to one that sent too much may be lost; one that was never known is shown out
    also = {None} if TOO_LARGE in codes else set()
    assert code in codes | also | ({1008} if known == "unknown" else set())


def last_code(peer: Wire) -> int | None:
    try:
        return peer.close_code()
    except (EOFError, ConnectionError):
        return None


@PATHS
def test_sound_and_text_that_are_unknown_cost_themselves(victim: Victim, path: str) -> None:
    with Wire(victim.url, path) as peer:
        peer.say(type="hello", token=TOKEN)
        for _ in range(3):
            peer.send(b"\0" * 64, kind=BINARY)
            peer.say(type="no such message")
            while (told := peer.next("refused")["refused"]) != "unknown-message":
                assert told == "bad-json"


def test_no_log_holds_the_token(victim: Victim, tmp_path: Path) -> None:
    environ = environment(tmp_path, VOICEBOX_LOG_LEVEL="debug")
    process = spawn(environ, "serve", "--port", "0", "--provider", "script")
    talkative = Victim(process, environ)
    wrong = "vbx_" + "9" * 48
    for token in (TOKEN, wrong):
        with Wire(talkative.url, "/live") as peer:
            peer.say(type="hello", token=token)
            peer.receive()
        with Wire(talkative.url, f"/live?token={token}") as peer:
            peer.say(type=token, token=token)
            peer.receive()
    assert talkative.told("POST", f"/api/call?token={TOKEN}", {"name": TOKEN})["ok"] is False
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE_S)
    assert talkative.process.returncode == 0
    assert TOKEN not in err
    assert wrong not in err + out
    assert "message_refused" in err, "the log was on"
