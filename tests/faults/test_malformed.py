"""What is no HTTP, or none that the relay reads: refused in the shape of every refusal, or ended.

`{host}` and `{token}` stand for the right ones; the word `secret` must not come back.
"""

import json
import os
import random
import socket
from contextlib import suppress

import pytest

from relay.protocol.refusals import RefusalCode
from tests.cli.conftest import TOKEN
from tests.conftest import AssertRefused
from tests.faults.conftest import StartVictim, Victim
from tests.faults.wire import TEXT, frame

pytestmark = pytest.mark.timeout(180)

KNOWN = "Host: {host}\r\nAuthorization: Bearer {token}\r\n"
CALL = f"POST /api/call HTTP/1.1\r\n{KNOWN}Content-Type: application/json\r\n"
GET = f"GET / HTTP/1.1\r\n{KNOWN}"

MALFORMED = {
    "TLS": "\x16\x03\x01\x02\x00\x01\r\n\r\n",
    "noughts": "\0\0\0\0\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "SSH": "SSH-2.0-secret\r\n\r\n",
    "a frame of WebSocket": frame(b"secret", kind=TEXT).decode("latin-1") + "\r\n\r\n",
    "no version": "GET /secret\r\n\r\n",
    "a version with letters": f"GET / HTTP/secret\r\n{KNOWN}\r\n",
    "a method with a bracket": f"GET<secret> / HTTP/1.1\r\n{KNOWN}\r\n",
    "an empty line for a method": f" / HTTP/1.1\r\n{KNOWN}\r\n",
    "bare line feeds": "GET / HTTP/1.1\nHost: {host}\n\n",
    "a long address": f"GET /{'secret' * 4_000} HTTP/1.1\r\n{KNOWN}\r\n",
    "an address that is none": f"GET http://[secret HTTP/1.1\r\n{KNOWN}\r\n",
    "an address without a slash": f"GET secret HTTP/1.1\r\n{KNOWN}\r\n",
    "an address with a port that is none": f"GET http://a:99999999/ HTTP/1.1\r\n{KNOWN}\r\n",
    "an address with raw bytes": f"GET /\xff\xfe HTTP/1.1\r\n{KNOWN}\r\n",
    "another scheme": "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    "no host": "GET / HTTP/1.1\r\n\r\n",
    "no host, and old": "GET / HTTP/1.0\r\n\r\n",
    "two hosts": "GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.test\r\n\r\n",
    "a header without a colon": f"{GET}secret\r\n\r\n",
    "a header with a nought": f"{GET}X: secret\0\r\n\r\n",
    "a header with a space before its colon": f"{GET}X : secret\r\n\r\n",
    "a header in two lines": f"{GET}X: a\r\n secret\r\n\r\n",
    "a header without a name": f"{GET}: secret\r\n\r\n",
    "a long header": f"{GET}X: {'secret' * 4_000}\r\n\r\n",
    "a header with a long name": f"{GET}{'secret' * 4_000}: x\r\n\r\n",
    "many headers": GET + "X: secret\r\n" * 500 + "\r\n",
    "an unknown expectation": f"{GET}Connection: close\r\nExpect: secret\r\n\r\n",
    "length and chunks": f"{CALL}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": f"{CALL}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}",
    "a negative length": f"{CALL}Content-Length: -1\r\n\r\n",
    "a length that is none": f"{CALL}Content-Length: secret\r\n\r\n",
    "a length without end": f"{CALL}Content-Length: {'9' * 60}\r\n\r\n",
    "a chunk whose size is none": f"{CALL}Transfer-Encoding: chunked\r\n\r\nsecret\r\n\r\n",
    "a second chunk whose size is none": (
        f"{CALL}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\nsecret\r\n\r\n"
    ),
    "a chunk that is longer than its size": (
        f"{CALL}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}secret\r\n0\r\n\r\n"
    ),
    "an unknown way to transfer": f"{CALL}Transfer-Encoding: secret\r\n\r\nsecret",
    "a body that is not packed": (
        f"{CALL}Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\nsecret"
    ),
    "a body that is packed somehow": (
        f"{CALL}Content-Encoding: zstd\r\nContent-Length: 6\r\n\r\nsecret"
    ),
    "nonsense after a good request": f"GET /api/health HTTP/1.1\r\n{KNOWN}\r\nsecret\r\n\r\n",
}
STATUSES = {400, 413, 417, 421}


def spoken(victim: Victim, data: bytes, *, cut: bool = False) -> bytes:
    """All that the relay answers before it ends the connection; `cut` ends ours after `data`."""
    name, port = victim.url.removeprefix("http://").split(":")
    answer = b""
    with socket.create_connection((name, int(port)), timeout=60) as peer, suppress(ConnectionError):
        peer.sendall(data)
        if cut:
            peer.shutdown(socket.SHUT_WR)
        while piece := peer.recv(65_536):
            answer += piece
    return answer


def filled_in(victim: Victim, text: str) -> bytes:
    host = victim.url.removeprefix("http://")
    return text.replace("{host}", host).replace("{token}", TOKEN).encode("latin-1")


@pytest.mark.parametrize("cut", [False, True])
def test_what_is_no_request_is_refused_or_ended_and_never_repeated(
    start: StartVictim, assert_refused: AssertRefused, *, cut: bool
) -> None:
    # a version that is none is an old one, whose answer ends with its connection
    victim = start("--provider", "script", VOICEBOX_HTTP_IDLE_MS="2000")
    with victim.unharmed():
        for kind, text in MALFORMED.items():
            answer = spoken(victim, filled_in(victim, text), cut=cut)
            assert b"secret" not in answer, kind
            if answer:
                head, _, body = answer.partition(b"\r\n\r\n")
                assert int(head.split()[1]) in STATUSES, kind
                assert b"nosniff" in head, kind
                code = RefusalCode(json.loads(body)["refused"])
                assert code is not RefusalCode.INTERNAL_ERROR, kind
                assert_refused(json.loads(body), code)
            else:
                assert cut, f"{kind} is answered"
    victim.process.terminate()
    _, log = victim.process.communicate(timeout=60)
    assert "Traceback" not in log
    assert "secret" not in log


def test_noise_is_refused_or_ended(start: StartVictim) -> None:
    victim = start("--provider", "script")
    seed = int.from_bytes(os.urandom(4))
    chance = random.Random(seed)
    good = filled_in(victim, f"{CALL}Content-Length: 2\r\n\r\n{{}}")
    with victim.unharmed():
        for _ in range(200):
            data = bytearray(good)
            for _ in range(chance.randrange(1, 9)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            answer = spoken(victim, bytes(data), cut=True)
            assert not answer or 400 <= int(answer.split()[1]) < 500, (seed, data, answer)
    victim.process.terminate()
    _, log = victim.process.communicate(timeout=60)
    assert "Traceback" not in log, (seed, log)
