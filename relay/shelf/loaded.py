"""Workers that hold the modules used last and wait for a call: most of its time is over then.

A worker still sees one call only, and its module runs nothing before that call.
"""

import asyncio
import contextlib
from collections import OrderedDict

from relay.shelf.artefacts import Artefact
from relay.shelf.job import pack_code
from relay.shelf.workers import Worker, WorkerSource

_MODULES_MAX = 2


async def give_code(worker: Worker, artefact: Artefact, *, then: bytes = b"") -> None:
    """Send an artefact, by descriptor where both sides can, and what follows it."""
    descriptor = artefact.descriptor if worker.takes_descriptors else None
    code = await asyncio.to_thread(artefact.read) if descriptor is None else b""
    part = pack_code(artefact.size, code, has_start=artefact.has_start)
    await worker.give(part + then, descriptor)


class LoadedWorkers:
    """At most one waiting worker for each of the modules used last."""

    def __init__(self, *, source: WorkerSource) -> None:
        self._source = source
        self._waiting: OrderedDict[Artefact, Worker] = OrderedDict()
        self._loading: dict[Artefact, asyncio.Task[None]] = {}

    def take(self, artefact: Artefact) -> Worker | None:
        """Return a living worker that holds the artefact, if there is one."""
        worker = self._waiting.pop(artefact, None)
        if worker is None or worker.is_alive:
            return worker
        worker.dispose()
        return None

    def load(self, artefact: Artefact) -> None:
        """Begin to give the artefact to a spare; without a spare, leave it."""
        if artefact in self._waiting or artefact in self._loading:
            return
        worker = self._source.take_spare()
        if worker is None:
            return
        task = asyncio.create_task(self._load(worker, artefact), name="wasm loading")
        self._loading[artefact] = task
        task.add_done_callback(lambda task: self._on_done(task, artefact, worker))

    async def stop(self) -> None:
        """End all of them."""
        for task in list(self._loading.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        while self._waiting:
            self._waiting.popitem()[1].dispose()

    def _on_done(self, task: asyncio.Task[None], artefact: Artefact, worker: Worker) -> None:
        del self._loading[artefact]
        if task.cancelled():  # perhaps before it began
            worker.dispose()

    async def _load(self, worker: Worker, artefact: Artefact) -> None:
        try:
            await give_code(worker, artefact)
        except Exception:  # it is gone, or there was no memory to tell it: a call takes another
            worker.dispose()
            return
        self._waiting[artefact] = worker
        while len(self._waiting) > _MODULES_MAX:
            self._waiting.popitem(last=False)[1].dispose()
