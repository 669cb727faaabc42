"""Compiled modules by digest, in sealed memory of this process only; one compiles at a time.

Never on disk, never loaded here: what a compiler made of foreign bytes is as foreign.
A module that can't be compiled is remembered, so that it costs its deadline once.
"""

import asyncio
import contextlib
import os
import weakref
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.manifest import Digest
from relay.shelf.module import has_start

_REFUSALS_MAX = 256
# These say nothing about the module, so the next call may try again.
_PASSING = (RefusalCode.WORKER_LOST, RefusalCode.SHELF_BUSY)


class Artefact:
    """A compiled module that nobody can change any more. Making and reading one blocks.

    `descriptor` (where the system has sealed memory) closes with the last reference;
    `has_start` tells whether foreign code runs when it is instantiated.
    """

    def __init__(self, data: bytes, *, has_start: bool) -> None:
        self.has_start = has_start
        self.size = len(data)
        self.descriptor = _sealed(data)
        self._data = data if self.descriptor is None else None
        if self.descriptor is not None:
            weakref.finalize(self, os.close, self.descriptor)

    def read(self) -> bytes:
        """Return the bytes, for a worker that takes no descriptor."""
        if self._data is not None:
            return self._data
        assert self.descriptor is not None
        return os.pread(self.descriptor, self.size, 0)


class Artefacts:
    """`compile_module` turns a module's bytes into an artefact, or raises a Refusal."""

    def __init__(
        self, *, compile_module: Callable[[bytes], Awaitable[bytes]], limits: Limits
    ) -> None:
        self._compile_module = compile_module
        self._limits = limits
        self._kept: OrderedDict[Digest, Artefact] = OrderedDict()
        self._refused: OrderedDict[Digest, Refusal] = OrderedDict()
        self._compiling: dict[Digest, asyncio.Task[Artefact]] = {}
        self._turn = asyncio.Lock()

    def refusal(self, digest: Digest) -> Refusal | None:
        """Why a module can't be compiled, if that is known."""
        return self._refused.get(digest)

    def digests(self) -> frozenset[Digest]:
        """Modules that are compiled."""
        return frozenset(self._kept)

    async def get(self, digest: Digest, module: bytes) -> Artefact:
        """Return the artefact, compiling it first if need be.

        A caller that goes away does not stop the compiling. Raises: Refusal.
        """
        if digest in self._refused:
            raise self._refused[digest]
        if digest in self._kept:
            self._kept.move_to_end(digest)
            return self._kept[digest]
        task = self._compiling.get(digest)
        if task is None:
            task = asyncio.create_task(self._compile(digest, module), name="wasm compile")
            task.add_done_callback(_look_at_exception)
            self._compiling[digest] = task
        return await asyncio.shield(task)

    async def stop(self) -> None:
        """End what is compiling and drop everything."""
        for task in list(self._compiling.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Refusal):
                await task
        self._kept.clear()

    async def _compile(self, digest: Digest, module: bytes) -> Artefact:
        try:
            async with self._turn:
                data = await self._compile_module(module)
            artefact = await asyncio.to_thread(Artefact, data, has_start=has_start(module))
            self._keep(digest, artefact)
            return artefact
        except Refusal as refusal:
            if refusal.code not in _PASSING:
                self._refused[digest] = refusal
                if len(self._refused) > _REFUSALS_MAX:
                    self._refused.popitem(last=False)
            raise
        finally:
            del self._compiling[digest]

    def _keep(self, digest: Digest, artefact: Artefact) -> None:
        self._kept[digest] = artefact
        most = self._limits.wasm_artefacts_max_bytes
        while len(self._kept) > 1 and sum(one.size for one in self._kept.values()) > most:
            self._kept.popitem(last=False)


def _look_at_exception(task: asyncio.Task[Artefact]) -> None:
    """Every waiting caller may have gone; the refusal is kept, so it is not lost."""
    if not task.cancelled():
        task.exception()


def _sealed(data: bytes) -> int | None:
    """Put the bytes into anonymous memory that even its owner can't write to any more."""
    if not hasattr(os, "memfd_create"):
        return None
    import fcntl

    descriptor = os.memfd_create("artefact", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
