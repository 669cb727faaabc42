"""Which tools of the shelf are admitted now, and word of it when that changes.

Looks again when files change, when a call met a change, and once a module turns out not to
compile. Verifying a call is `relay.shelf.survey`'s; running one is `relay.shelf.runner`'s.
"""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import structlog

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.shelf.artefacts import Artefacts
from relay.shelf.ledger import Ledger
from relay.shelf.survey import Item, Survey, fingerprint, survey, verify
from relay.tools.tool import ToolName, ToolSpec
from relay.upkeep import keep_up

log = structlog.get_logger(__name__)


class Inventory:
    """What one shelf folder offers."""

    def __init__(
        self, *, folder: Path, ledger: Ledger, artefacts: Artefacts, limits: Limits
    ) -> None:
        self._folder = folder
        self._ledger = ledger
        self._artefacts = artefacts
        self._limits = limits
        self._survey = Survey()
        self._specs: tuple[ToolSpec, ...] = ()
        self._digests: tuple[str | None, ...] = ()
        self._subscribers: list[Callable[[], None]] = []
        self._asked = asyncio.Event()
        self._looking = asyncio.Lock()  # so that no older look is published after a newer one
        self._watcher: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Look once, then go on watching."""
        await self.look()
        self._watcher = asyncio.create_task(keep_up(self._watch), name="wasm shelf watch")

    async def stop(self) -> None:
        """End the watching."""
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher

    @property
    def ok(self) -> bool:
        """Whether the shelf as a whole could be read at the last look."""
        return self._survey.refusal is None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Admitted tools."""
        return self._specs

    def subscribe(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` after each change; return what ends that."""
        self._subscribers.append(on_change)

        def unsubscribe() -> None:
            with contextlib.suppress(ValueError):
                self._subscribers.remove(on_change)

        return unsubscribe

    def ask(self) -> None:
        """Look again soon."""
        self._asked.set()

    async def look(self) -> Survey:
        """Survey the shelf now, and tell subscribers if something is different."""
        async with self._looking:
            self._survey = await asyncio.to_thread(
                survey, self._folder, ledger=self._ledger, limits=self._limits
            )
            self._publish()
            return self._survey

    def refusal(self, item: Item) -> Refusal | None:
        """Why a tool is not admitted: what the survey says, or the compiler."""
        if item.refusal is not None or item.entry is None:
            return item.refusal
        return self._artefacts.refusal(item.entry.digest)

    def refusal_of(self, tool_id: str) -> Refusal | None:
        """Why the tool of that id is not admitted; None also for an id that is not known."""
        for item in self._survey.items:
            if item.id == tool_id:
                return self.refusal(item)
        return None

    def _publish(self) -> None:
        entries = [
            item.entry
            for item in self._survey.items
            if item.entry is not None and self.refusal(item) is None
        ]
        specs = tuple(
            ToolSpec(
                name=ToolName(entry.id),
                description=entry.description or f"The WebAssembly tool {entry.id}.",
                parameters=entry.abi.parameters,
            )
            for entry in entries
        )
        digests = tuple(entry.digest for entry in entries)
        if (specs, digests) == (self._specs, self._digests):
            return
        self._specs, self._digests = specs, digests
        log.info("shelf_changed", tools=len(specs), refused=len(self._survey.items) - len(specs))
        for on_change in list(self._subscribers):
            on_change()

    async def _watch(self) -> None:
        while True:
            seen = await self._signs()
            await self.look()
            await self.compile_all()
            while not await self._wait() and await self._signs() == seen:
                pass

    async def _signs(self) -> tuple[object, ...]:
        return await asyncio.to_thread(fingerprint, self._folder, self._survey, self._ledger.path)

    async def _wait(self) -> bool:
        """Wait for the next look; True if it was asked for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.wasm_watch_interval_ms / 1_000):
                await self._asked.wait()
        asked = self._asked.is_set()
        self._asked.clear()
        return asked

    async def compile_all(self) -> None:
        """Compile what is admitted and new, one after the other; bytes are not kept."""
        for item in self._survey.items:
            if item.entry is None or self.refusal(item) is not None:
                continue
            if item.entry.digest in self._artefacts.digests():
                continue
            with contextlib.suppress(Refusal):  # it stands in the artefacts, or the next look
                await self._compile(item.id)
            self._publish()

    async def _compile(self, tool_id: str) -> None:
        found = await asyncio.to_thread(
            verify, self._folder, tool_id, ledger=self._ledger, limits=self._limits
        )
        await self._artefacts.get(found.entry.digest, found.module)
