"""The shelf through the relay's doors: declared, listed, called by name, and refused by name."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from relay.protocol.limits import Limits
from relay.server.app import make_app
from relay.settings import Settings
from tests.shelf.hostile.modules import hashing
from tests.shelf.shelves import Shelf

TOKEN = "vbx_" + "0123456789abcdef" * 3
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
WATCHED = Limits(wasm_watch_interval_ms=20)


class Door:
    """Asks a relay over HTTP."""

    def __init__(self, client: TestClient[Any, Any]) -> None:
        self._client = client

    async def get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with self._client.get(path, headers=headers) as response:
            return await response.json()

    async def call(self, tool: str, /, **args: Any) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        body = {"name": tool, "args": args}
        async with self._client.post("/api/call", json=body, headers=headers) as response:
            return response.status, await response.json()

    async def names(self) -> set[str]:
        return {tool["name"] for tool in (await self.get("/api/tools"))["tools"]}

    async def until_named(self, name: str, *, there: bool) -> None:
        """Wait until a tool is declared, or no longer."""
        while (name in await self.names()) != there:  # noqa: ASYNC110 - asked from outside
            await asyncio.sleep(0.01)

    async def until_running(self, count: int) -> None:
        """Wait until so many calls of the shelf run."""
        while (await self.get("/api/shelf"))["worker"]["running"] != count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


Open = Callable[..., Awaitable[Door]]


@pytest.fixture
async def open_door(
    aiohttp_client: Callable[..., Awaitable[TestClient[Any, Any]]], shelf: Shelf, tmp_path: Path
) -> Open:
    async def start(limits: Limits = WATCHED) -> Door:
        settings = Settings(
            state_dir=tmp_path / "state",
            home=tmp_path,
            provider="script",
            wasm_shelf_dir=shelf.folder,
        )
        app = make_app(settings, token=TOKEN, limits=limits)
        return Door(await aiohttp_client(TestServer(app)))

    return start


async def test_admitted_tools_are_declared_and_called_by_name(
    open_door: Open, shelf: Shelf
) -> None:
    shelf.put_shipped("hash", "diff")
    door = await open_door()
    assert {"hash", "diff", "list_extensions", "call_extension"} <= await door.names()
    status, told = await door.call("hash", input="abc")
    assert (status, told["ok"], told["result"]["output"]) == (200, True, ABC)
    assert told["durationMs"] >= 0
    status, told = await door.call("diff", a="x\n", b="y\n")
    assert [block["op"] for block in told["result"]["blocks"]] == ["delete", "insert"]


async def test_call_extension_is_the_same_call_by_another_door(
    open_door: Open, shelf: Shelf
) -> None:
    shelf.put_shipped("hash")
    door = await open_door()
    status, told = await door.call("call_extension", name="hash", input="abc")
    assert (status, told["result"]["output"]) == (200, ABC)
    frames = (await door.get("/api/frames"))["frames"]
    inner = [frame for frame in frames if frame["name"] == "hash" and frame["state"] == "done"]
    assert [frame["via"] for frame in inner] == ["call_extension"]
    assert inner[0]["host"] == "wasm"
    assert inner[0]["durationMs"] >= inner[0]["queuedMs"] >= 0
    assert (await door.call("call_extension", name="nope"))[1]["refused"] == "unknown-tool"
    assert (await door.call("call_extension", name="hash", a="x"))[1]["refused"] == (
        "missing-argument"
    )


async def test_extensions_are_listed_with_abi_and_digest(open_door: Open, shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    shelf.put("bad", b"nothing")
    door = await open_door()
    for told in ((await door.get("/api/extensions")), (await door.call("list_extensions"))[1]):
        first, second = told["result"]["extensions"]
        assert (first["id"], first["abi"], first["ok"]) == ("hash", "buffer-abi/1", True)
        assert first["digest"] == shelf.entries[0]["digest"]
        assert (second["id"], second["ok"], second["refused"]) == ("bad", False, "wasm-invalid")


async def test_a_flipped_byte_is_told_at_every_call_until_it_is_mended(
    open_door: Open, shelf: Shelf
) -> None:
    shelf.put_shipped("hash")
    door = await open_door()
    before = shelf.entries[0]["digest"][:16]
    shelf.flip("hash", 100)
    for there in (True, False):  # at once, and after the tool was withdrawn
        if not there:
            await door.until_named("hash", there=False)
        for told in (
            await door.call("hash", input="abc"),
            await door.call("call_extension", name="hash", input="abc"),
        ):
            assert told[1]["refused"] == "digest-mismatch"
            assert before in told[1]["why"]
    assert not (await door.get("/api/shelf"))["tools"][0]["ok"]
    shelf.flip("hash", 100)
    await door.until_named("hash", there=True)
    assert (await door.call("hash", input="abc"))[1]["result"]["output"] == ABC


async def test_a_client_that_hangs_up_frees_its_place(open_door: Open, shelf: Shelf) -> None:
    shelf.put("loop", hashing("(loop $on (br $on)) (i32.const 32)"))
    door = await open_door(Limits(wasm_call_deadline_ms=60_000))
    call = asyncio.create_task(door.call("loop", input=""))
    await door.until_running(1)
    call.cancel()
    await door.until_running(0)


async def test_health_says_whether_the_shelf_can_be_read(open_door: Open, shelf: Shelf) -> None:
    door = await open_door()
    assert (await door.get("/api/health"))["shelf"] == {"ok": True}
    (shelf.folder / "manifest.json").write_text("{")
    assert (await door.get("/api/shelf"))["refused"] == "shelf-unreadable"
    assert (await door.get("/api/health"))["shelf"] == {"ok": False}
