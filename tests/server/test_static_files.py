"""Static files go out packed, are known again by their digest, and are always as they are now."""

import asyncio
import gzip
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from relay.server.pages import Pages
from relay.server.static_files import takes_gzip
from tests.server.conftest import Relay

TEXT = "export const words = 1; // said again and again\n" * 40
Get = Callable[..., Awaitable[tuple[ClientResponse, bytes]]]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path.resolve() / "a.js"
    file.write_text(TEXT)
    (file.parent / "tiny.js").write_text("1;")
    (file.parent / "a.png").write_bytes(b"\0" * 4_000)
    return file


@pytest.fixture
async def get(script: Path, aiohttp_client: Callable[..., Awaitable[TestClient[Any, Any]]]) -> Get:
    """Ask for a file; the bytes come as they were on the wire."""
    app = web.Application()
    app.router.add_get("/static/{path:.+}", Pages(script.parent).named)
    client = await aiohttp_client(TestServer(app), auto_decompress=False)

    async def ask(name: str, encoding: str = "gzip, br", **headers: str) -> Any:
        asked = {"Accept-Encoding": encoding, **headers}
        async with client.get(f"/static/{name}", headers=asked) as response:
            return response, await response.read()

    return ask


async def test_a_file_is_packed_for_whoever_takes_that(get: Get) -> None:
    response, body = await get("a.js")
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert response.headers["Vary"] == "Accept-Encoding"
    assert int(response.headers["Content-Length"]) == len(body) < len(TEXT) / 4
    assert gzip.decompress(body).decode() == TEXT


@pytest.mark.parametrize("encoding", ["", "identity", "br", "gzip;q=0", "gzipped"])
async def test_nobody_else_gets_it_packed(get: Get, encoding: str) -> None:
    response, body = await get("a.js", encoding)
    assert "Content-Encoding" not in response.headers
    assert response.headers["Vary"] == "Accept-Encoding"
    assert body.decode() == TEXT


@pytest.mark.parametrize("name", ["tiny.js", "a.png"])
async def test_what_would_not_shrink_stays_as_it_is(get: Get, name: str) -> None:
    response, _ = await get(name)
    assert "Content-Encoding" not in response.headers


async def test_whoever_has_the_file_is_told_so(get: Get) -> None:
    packed, _ = await get("a.js")
    plain, _ = await get("a.js", "identity")
    assert packed.headers["ETag"] != plain.headers["ETag"]
    for encoding, first in (("gzip", packed), ("identity", plain)):
        for held in (first.headers["ETag"], f'"other", W/{first.headers["ETag"]}', "*"):
            again, body = await get("a.js", encoding, **{"If-None-Match": held})
            assert (again.status, body) == (304, b"")
            assert again.headers["ETag"] == first.headers["ETag"]
    other, body = await get("a.js", "identity", **{"If-None-Match": packed.headers["ETag"]})
    assert (other.status, body.decode()) == (200, TEXT)


def change(script: Path) -> None:
    script.write_text("changed")
    os.utime(script, ns=(1, 1))


async def test_a_file_that_was_changed_goes_out_changed(get: Get, script: Path) -> None:
    first, _ = await get("a.js", "identity")
    await asyncio.to_thread(change, script)
    again, body = await get("a.js", "identity", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, body) == (200, b"changed")
    await asyncio.to_thread(script.unlink)
    gone, _ = await get("a.js", "identity")
    assert gone.status == 404


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ("gzip", True),
        ("br;q=1.0, GZIP;q=0.8, *;q=0.1", True),
        ("*", True),
        ("gzip;q=0.000", False),
        ("x-gzip", False),
        ("gzip;q=9.9.9", False),
        ("deflate", False),
    ],
)
def test_an_accept_encoding_is_read_as_it_is_meant(accepted: str, taken: bool) -> None:  # noqa: FBT001
    assert takes_gzip(accepted) is taken


async def test_a_browser_keeps_files_but_no_page_and_no_answer(relay: Relay) -> None:
    kept = {"/static/app.js": "no-cache", "/static/styles/tokens.css": "no-cache"}
    fresh = dict.fromkeys(["/", "/dashboard", "/api/health", "/static/gone.js"], "no-store")
    for path, told in (kept | fresh).items():
        async with relay.client.get(path) as response:
            assert response.headers["Cache-Control"] == told, path
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            policy = response.headers["Content-Security-Policy"]
            if path in kept:
                assert policy == "default-src 'none'"
            else:
                assert re.search(r"default-src 'none'; script-src 'self'", policy)
                assert "camera=()" in response.headers["Permissions-Policy"]


async def test_a_picture_that_could_run_is_bound_like_a_page(relay: Relay) -> None:
    async with relay.client.get("/static/icon.svg") as response:
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        assert "Permissions-Policy" in response.headers
