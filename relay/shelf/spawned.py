"""Workers without a fork server: processes of their own, a few started ahead.

The same jobs, replies and single use as with the fork server, for machines that can't fork
or have no pidfd; each spare costs more memory and its start more time.
"""

import asyncio
import contextlib
import json
import os
from collections import deque

from relay.protocol.limits import Limits
from relay.shelf.job import PROBE, REPLY_HEAD_BYTES, Bounds, Work, unpack_reply
from relay.shelf.launch import command
from relay.shelf.pipes import PipeWorker
from relay.shelf.workers import Worker, no_worker
from relay.upkeep import keep_up

_MODULE = "relay.shelf.worker"
_RETRY_S = 1.0


class SpawnedWorkers:
    """A `WorkerSource`."""

    def __init__(self, *, bounds: Bounds, limits: Limits) -> None:
        self._bounds = bounds
        self._spares_wanted = limits.wasm_spares_min
        self._spares: deque[PipeWorker] = deque()
        self._workers: set[PipeWorker] = set()
        self._steps: list[str] | None = None
        self._wanted = asyncio.Event()
        self._filler: asyncio.Task[None] | None = None

    async def start(self) -> None:  # noqa: D102
        self._filler = asyncio.create_task(keep_up(self._fill), name="wasm spare workers")

    async def stop(self) -> None:  # noqa: D102
        if self._filler is not None:
            self._filler.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._filler
        for worker in self._workers:
            worker.dispose()
            await worker.ended()
        self._spares.clear()

    def confinement(self) -> list[str] | None:  # noqa: D102
        return self._steps

    async def take(self, work: Work) -> Worker:  # noqa: D102
        spare = self.take_spare() if work is Work.RUN else None
        if spare is not None:
            return spare
        try:
            return await self._spawn(work.name)
        except OSError as error:
            raise no_worker(error.strerror or "the system refused") from None

    def take_spare(self) -> Worker | None:  # noqa: D102
        while self._spares:
            spare = self._spares.popleft()
            if spare.is_alive:
                return spare
        return None

    def refill(self) -> None:  # noqa: D102
        self._wanted.set()

    async def _spawn(self, purpose: str) -> PipeWorker:
        arguments = [purpose, self._bounds.to_json(), str(os.getpid())]
        worker = await PipeWorker.start(command(_MODULE, arguments))
        self._workers = {worker, *(one for one in self._workers if one.is_alive)}
        return worker

    async def _fill(self) -> None:
        await self._probe()
        while True:
            try:
                while len(self._spares) < self._spares_wanted:
                    self._spares.append(await self._spawn(Work.RUN.name))
            except OSError:
                await asyncio.sleep(_RETRY_S)
                continue
            self._wanted.clear()
            await self._wanted.wait()

    async def _probe(self) -> None:
        worker = await self._spawn(PROBE)
        try:
            head = unpack_reply(await worker.take(REPLY_HEAD_BYTES))
            self._steps = json.loads(await worker.take(head.body_bytes))
        except EOFError:
            self._steps = []
        finally:
            worker.dispose()
