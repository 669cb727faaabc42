"""ShelfHost: the tools of one shelf folder, verified at each call and run confined.

Puts the parts together and turns outputs into results. How a module is run is
`relay.shelf.runner`'s; what is right about its file is `relay.shelf.survey`'s.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf import abi, forkserver
from relay.shelf.artefacts import Artefact, Artefacts
from relay.shelf.forkserver import ForkServer
from relay.shelf.inventory import Inventory
from relay.shelf.job import Bounds
from relay.shelf.ledger import Ledger
from relay.shelf.manifest import ShelfEntry
from relay.shelf.places import Places
from relay.shelf.runner import Runner
from relay.shelf.spawned import SpawnedWorkers
from relay.shelf.survey import Item, Verified, verify
from relay.shelf.versions import engine_versions
from relay.shelf.workers import WorkerSource
from relay.tools.tool import HostKind, ToolCall, ToolSpec, Waiting

# Longer outputs are checked in a thread, so that no other session waits for them.
_DECODE_INLINE_MAX_BYTES = 4_096
_WATCHDOG_MARGIN_MS = 1_000
# The shelf itself changed under these; others are the module's or the call's business.
_SHELF_CHANGED = {
    RefusalCode.DIGEST_MISMATCH,
    RefusalCode.WASM_UNREADABLE,
    RefusalCode.MODULE_TOO_LARGE,
    RefusalCode.SHELF_UNAVAILABLE,
    RefusalCode.SHELF_UNREADABLE,
    RefusalCode.SHELF_ENTRY_INVALID,
    RefusalCode.UNKNOWN_TOOL,
}


class ShelfHost:
    """A `ToolHost`. `admitted` is the file that remembers first-seen digests."""

    kind: HostKind = "wasm"

    def __init__(
        self,
        *,
        folder: Path,
        limits: Limits,
        admitted: Path | None,
        source: WorkerSource | None = None,
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._ledger = Ledger(admitted, limits=limits)
        self._source = source or make_source(limits=limits)
        self._runner = Runner(source=self._source, limits=limits)
        self._artefacts = Artefacts(compile_module=self._runner.compile, limits=limits)
        self._places = Places(limits=limits)
        self._inventory = Inventory(
            folder=folder, ledger=self._ledger, artefacts=self._artefacts, limits=limits
        )

    async def start(self) -> None:
        """Start the workers and read the shelf; compiling goes on behind it."""
        await self._source.start()
        await self._inventory.start()

    async def stop(self) -> None:
        """End everything; nothing lives afterwards."""
        await self._inventory.stop()
        await self._artefacts.stop()
        await self._runner.stop()
        await self._source.stop()

    @property
    def ok(self) -> bool:
        """Whether the shelf as a whole could be read at the last look."""
        return self._inventory.ok

    def specs(self) -> tuple[ToolSpec, ...]:
        """Admitted tools, as they are known now."""
        return self._inventory.specs

    def knows(self, name: str) -> bool:
        """Whether the shelf has an entry of that name, callable or refused."""
        return self.refusal(name) is not None or any(spec.name == name for spec in self.specs())

    def refusal(self, name: str) -> Refusal | None:
        """Tell why an entry can't be called; its files are looked at again soon."""
        refusal = self._inventory.refusal_of(name)
        if refusal is not None:
            self._inventory.ask()
        return refusal

    def subscribe(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` after a tool was admitted, changed or withdrawn."""
        return self._inventory.subscribe(on_change)

    async def prove(self) -> dict[str, Any]:
        """Compile every admitted module that is not compiled yet, then give the status."""
        await self._inventory.look()
        await self._inventory.compile_all()
        return await self.status()

    async def status(self) -> dict[str, Any]:
        """Look at the shelf and say what it holds, for GET /api/shelf."""
        found = await self._inventory.look()
        engine, binding = await asyncio.to_thread(engine_versions)
        worker = {
            "engine": engine,
            "binding": binding,
            "hardening": self._source.confinement(),
            "running": self._places.running,
            "waiting": self._places.waiting,
        }
        answer: dict[str, Any] = {"ok": True, "dir": str(self._folder), "worker": worker}
        if found.refusal is not None:
            answer |= found.refusal.body()
        return answer | {"tools": [self._described(item) for item in found.items]}

    async def call(
        self,
        spec: ToolSpec,
        call: ToolCall,
        args: dict[str, Any],
        waiting: Waiting,
    ) -> bytes:
        """Verify, run in a fresh worker, check the output. Raises: Refusal."""
        began = time.perf_counter()

        def note_waiting() -> None:
            waiting.queued_ms = (time.perf_counter() - began) * 1_000

        try:
            async with self._places.place():
                note_waiting()
                return await self._run(spec.name, args, note_waiting)
        except Refusal as refusal:
            if refusal.code in _SHELF_CHANGED:
                self._inventory.ask()
            raise

    async def _run(
        self, tool_id: str, args: dict[str, Any], on_hand_over: Callable[[], None]
    ) -> bytes:
        verified = await asyncio.to_thread(
            verify,
            self._folder,
            tool_id,
            ledger=self._ledger,
            limits=self._limits,
            looked_at=self._artefacts.digests(),
        )
        entry = verified.entry
        inputs = abi.encode(entry.abi, args)
        returned, output = await self._runner.run(
            await self._artefact(verified), abi=entry.abi, inputs=inputs, on_hand_over=on_hand_over
        )
        if len(output) <= _DECODE_INLINE_MAX_BYTES:
            return result(entry, returned, output, inputs, limits=self._limits)
        return await asyncio.to_thread(result, entry, returned, output, inputs, limits=self._limits)

    async def _artefact(self, verified: Verified) -> Artefact:
        """Return the compiled module, or refuse once a call has waited its time for it."""
        most_ms = self._limits.wasm_call_deadline_ms
        try:
            async with asyncio.timeout(most_ms / 1_000):
                return await self._artefacts.get(verified.entry.digest, verified.module)
        except TimeoutError:
            raise Refusal(
                RefusalCode.TIME_EXCEEDED, f"the module was still compiling after {most_ms} ms"
            ) from None

    def _described(self, item: Item) -> dict[str, object]:
        refusal = self._inventory.refusal(item)
        entry = item.entry
        described: dict[str, object] = {
            "id": item.id,
            "abi": entry.abi.name if entry else None,
            "digest": item.digest,
            "description": item.description,
            "capability": entry.capability if entry else "",
            "ok": refusal is None,
        }
        return described if refusal is None else described | refusal.body()


def make_source(*, limits: Limits, left_out: Sequence[str] = (), fork: bool = True) -> WorkerSource:
    """Choose where workers come from; `left_out` names steps of confinement to do without."""
    bounds = Bounds(
        memory_bytes=limits.wasm_memory_max_bytes,
        worker_bytes=limits.wasm_worker_memory_max_bytes,
        compile_bytes=limits.wasm_compile_memory_max_bytes,
        run_watchdog_ms=limits.wasm_child_watchdog_ms,
        compile_watchdog_ms=limits.wasm_compile_deadline_ms + _WATCHDOG_MARGIN_MS,
        left_out=tuple(left_out),
    )
    if fork and forkserver.works_here():
        return ForkServer(bounds=bounds, limits=limits)
    return SpawnedWorkers(bounds=bounds, limits=limits)


def result(
    entry: ShelfEntry, returned: int, output: bytes, inputs: Sequence[bytes], *, limits: Limits
) -> bytes:
    """Write a call's result as JSON; blocks that would not fit are cut, and counted.

    Raises: Refusal from the ABI's decoder.
    """
    decoded = entry.abi.decode(returned, output, inputs)
    answer = {
        "ok": True,
        "tool": entry.id,
        "returned": returned,
        **decoded,
        "digest": entry.digest,
        "inputBytes": sum(map(len, inputs)),
    }
    text = msgspec.json.encode(answer)
    blocks = decoded.get("blocks", [])
    kept = len(blocks)
    while len(text) > limits.tool_output_max_bytes and kept:
        kept = kept * limits.tool_output_max_bytes // len(text) * 9 // 10
        cut = {"blocks": blocks[:kept], "truncated": True, "blocksTotal": len(blocks)}
        text = msgspec.json.encode(answer | cut)
    return text
