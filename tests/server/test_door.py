"""What every connection is answered, whatever comes over it; the relay behind its own door."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler

from relay.protocol.limits import Limits
from relay.protocol.refusals import RefusalCode
from relay.server.app import make_app
from relay.server.door import Door
from relay.settings import Settings
from relay.shelf.host import ShelfHost
from tests.conftest import AssertRefused
from tests.fakes.models import FakeModel
from tests.server.conftest import TOKEN

Answer = tuple[int, bytes, bytes]  # status, headers, body


class Line:
    """One connection to a relay, and the words for a good request."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.known = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        self.post = f"POST /api/call HTTP/1.1\r\n{self.known}Content-Type: application/json\r\n"

    async def answers(self, *pieces: str) -> list[Answer]:
        """Send, and read to the end of the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for piece in pieces:
            writer.write(piece.encode("latin-1"))
            await writer.drain()
        told = [answer async for answer in _answers(reader)]
        writer.close()
        return told


async def _answers(reader: asyncio.StreamReader) -> AsyncIterator[Answer]:
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        headers = head.lower()
        size = int(headers.partition(b"content-length: ")[2].split(b"\r\n")[0])
        yield int(head.split()[1]), headers, await reader.readexactly(size)


@web.middleware
async def _breaking(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Break where no middleware of the relay sees it."""
    if request.path == "/broken":
        raise LookupError("secret")
    return await handler(request)


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"half")
    raise OSError


OpenLine = Callable[..., Awaitable[Line]]


@pytest.fixture
async def open_line(tmp_path: Path) -> AsyncIterator[OpenLine]:
    """Start a relay behind its door, with two paths that break."""
    doors: list[Door] = []

    async def start(**bounds: int) -> Line:
        limits = Limits(**bounds)
        settings = Settings(state_dir=tmp_path / "state", home=tmp_path, provider="fake")
        shelf = ShelfHost(folder=tmp_path / "empty", limits=limits, admitted=None)
        models: dict[str, Any] = {"fake": FakeModel()}
        app = make_app(settings, token=TOKEN, limits=limits, models=models, shelf=shelf)
        app.middlewares.insert(0, _breaking)
        app.router.add_get("/half", _half)
        doors.append(Door(app))
        await doors[-1].start()
        return Line(await doors[-1].listen("127.0.0.1", 0))

    yield start
    for door in doors:
        await door.close()


async def test_a_request_that_no_parser_takes_is_refused_as_everything_is(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line()
    [(status, headers, body)] = await line.answers("G<b>T / HTTP/1.1\r\n\r\n")
    assert status == 400
    assert_refused(json.loads(body), RefusalCode.BAD_REQUEST)
    assert b"<b>" not in body
    for header in (b"nosniff", b"no-store", b"content-security-policy: default-src 'none'"):
        assert header in headers


async def test_what_comes_after_a_good_request_costs_only_itself(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line()
    reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
    answers = _answers(reader)
    writer.write(f"GET /api/health HTTP/1.1\r\n{line.known}\r\n".encode())
    status, _, _ = await anext(answers)
    assert status == 200
    writer.write(b"\0\0\0\0\r\n\r\n")
    status, _, body = await anext(answers)
    assert status == 400
    assert_refused(json.loads(body), RefusalCode.BAD_REQUEST)
    writer.close()


async def test_an_expectation_that_nobody_knows_is_not_repeated(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line()
    for path in ("/", "/nowhere"):
        text = f"GET {path} HTTP/1.1\r\n{line.known}Connection: close\r\nExpect: <secret>\r\n\r\n"
        [(status, headers, body)] = await line.answers(text)
        assert status == 417
        assert_refused(json.loads(body), RefusalCode.BAD_REQUEST)
        assert b"secret" not in body
        assert b"nosniff" in headers


async def test_a_socket_route_that_is_asked_for_a_page_says_so(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line()
    text = f"GET /live HTTP/1.1\r\n{line.known}Connection: close\r\n\r\n"
    [(status, _, body)] = await line.answers(text)
    assert status == 400
    assert_refused(json.loads(body), RefusalCode.BAD_REQUEST)


async def test_what_breaks_outside_of_every_handler_is_an_internal_error(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line()
    [(status, headers, body)] = await line.answers(f"GET /broken HTTP/1.1\r\n{line.known}\r\n")
    assert status == 500
    assert_refused(json.loads(body), RefusalCode.INTERNAL_ERROR)
    assert b"secret" not in body
    assert b"nosniff" in headers


async def test_an_answer_that_breaks_after_its_beginning_ends_the_connection(
    open_line: OpenLine,
) -> None:
    line = await open_line()
    reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
    writer.write(f"GET /half HTTP/1.1\r\n{line.known}\r\n".encode())
    told = await reader.read()
    assert b"half" in told
    assert b"internal-error" not in told
    writer.close()


async def test_a_body_that_never_comes_is_refused(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line(http_idle_ms=200)
    reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
    writer.write(f'{line.post}Content-Length: 50\r\n\r\n{{"nam'.encode())
    status, _, body = await anext(_answers(reader))
    assert status == 400
    assert_refused(json.loads(body), RefusalCode.BAD_REQUEST)
    writer.close()


async def test_a_body_in_an_encoding_that_it_is_not_in_is_refused(
    open_line: OpenLine, assert_refused: AssertRefused
) -> None:
    line = await open_line()
    text = f"{line.post}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
    [(status, _, body)] = await line.answers(text)
    assert status == 400
    assert_refused(json.loads(body), RefusalCode.BAD_REQUEST)


async def test_a_connection_that_reads_nothing_is_reset(open_line: OpenLine) -> None:
    line = await open_line(http_stuck_ms=400, http_idle_ms=3_600_000)
    _, writer = await asyncio.open_connection("127.0.0.1", line.port, limit=1)

    async def ask_for_ever() -> None:
        while True:
            writer.write(f"GET /api/openapi.json HTTP/1.1\r\n{line.known}\r\n".encode())
            await writer.drain()

    with pytest.raises(ConnectionError):
        await ask_for_ever()
    writer.close()
