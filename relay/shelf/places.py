"""A bounded number of places and a bounded queue for them, first come, first served."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode


class Places:
    """Places for running shelf calls."""

    def __init__(self, *, limits: Limits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.wasm_running_max)
        self.waiting = 0
        self.running = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place; given back whatever happens. Raises: Refusal `shelf-busy`."""
        await self._wait()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._free.release()

    async def _wait(self) -> None:
        limits = self._limits
        if self._free.locked() and self.waiting >= limits.wasm_waiting_max:
            raise _busy(f"{self.running} calls run and {self.waiting} wait")
        self.waiting += 1
        try:
            async with asyncio.timeout(limits.wasm_waiting_max_ms / 1_000):
                await self._free.acquire()
        except TimeoutError:
            raise _busy(f"no place came free within {limits.wasm_waiting_max_ms} ms") from None
        finally:
            self.waiting -= 1


def _busy(what: str) -> Refusal:
    return Refusal(RefusalCode.SHELF_BUSY, f"the shelf is busy: {what}")
