"""Shelf folders for tests, and hosts that serve them."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from relay.protocol.limits import Limits
from relay.protocol.refusals import RefusalCode
from relay.shelf.host import ShelfHost
from relay.shelf.workers import WorkerSource
from relay.tools.tool import CallId, ToolCall, Waiting
from scripts.build_wasm import compile as compile_wat

SHIPPED = Path(__file__).resolve().parent.parent.parent / "shelf"
# A worker that is waited for on a busy machine has time; a loop is not waited for long.
LIMITS = Limits(wasm_call_deadline_ms=2_500, wasm_child_watchdog_ms=8_000)


class Shelf:
    """A folder with a manifest that grows."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.entries: list[Any] = []
        self.write()

    def put(self, tool_id: str, module: bytes | str, **fields: Any) -> None:
        """Add a module (bytes or WebAssembly text) with an entry that pins it."""
        data = compile_wat(module) if isinstance(module, str) else module
        (self.folder / f"{tool_id}.wasm").write_bytes(data)
        entry = {
            "id": tool_id,
            "wasm": f"{tool_id}.wasm",
            "digest": hashlib.sha256(data).hexdigest(),
            "description": f"The tool {tool_id}.",
            "abi": "buffer-abi/1",
        }
        self.entries.append(entry | fields)
        self.write()

    def put_shipped(self, *tool_ids: str) -> None:
        """Add tools that ship with the product."""
        abis = {"hash": "buffer-abi/1", "diff": "buffer-abi/diff"}
        for tool_id in tool_ids:
            module = (SHIPPED / f"{tool_id}.wasm").read_bytes()
            self.put(tool_id, module, abi=abis[tool_id])

    def repin(self, tool_id: str) -> None:
        """Write the digest that the tool's file has now."""
        for entry in self.entries:
            if entry["id"] == tool_id:
                data = (self.folder / entry["wasm"]).read_bytes()
                entry["digest"] = hashlib.sha256(data).hexdigest()
        self.write()

    def flip(self, tool_id: str, place: int = -1) -> None:
        """Change one byte on disk and leave the manifest."""
        file = self.folder / f"{tool_id}.wasm"
        data = bytearray(file.read_bytes())
        data[place] ^= 1
        file.write_bytes(data)

    def write(self) -> None:
        """Write the manifest."""
        text = json.dumps({"name": "a shelf", "tools": self.entries})
        (self.folder / "manifest.json").write_text(text)


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    limits: Limits = LIMITS,
    admitted: Path | None = None,
    source: WorkerSource | None = None,
) -> AsyncIterator[ShelfHost]:
    """Run a host of a folder."""
    host = ShelfHost(folder=folder, limits=limits, admitted=admitted, source=source)
    await host.start()
    try:
        yield host
    finally:
        await host.stop()


async def ask(host: ShelfHost, tool_id: str, waiting: Waiting | None = None, **args: Any) -> Any:
    """Call a tool that is declared now, as dispatch does. Raises: Refusal."""
    spec = next(spec for spec in host.specs() if spec.name == tool_id)
    call = ToolCall(call_id=CallId("call_test"), name=tool_id, args=args)
    return json.loads(await host.call(spec, call, args, waiting or Waiting()))


def refusal_of(status: dict[str, Any], tool_id: str) -> tuple[RefusalCode | None, str]:
    """What a status says of one tool."""
    (tool,) = (tool for tool in status["tools"] if tool["id"] == tool_id)
    return (RefusalCode(tool["refused"]), tool["why"]) if "refused" in tool else (None, "")


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds; the test's own timeout ends a wait in vain."""
    while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(0.01)
