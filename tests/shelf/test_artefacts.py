"""Compiled modules: kept sealed, once, within a bound; what does not compile is remembered."""

import asyncio
import mmap
import os
import sys

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.artefacts import Artefact, Artefacts
from relay.shelf.manifest import Digest

MODULE = b"\0asm\1\0\0\0"
ONE, TWO, THREE = (Digest(digit * 64) for digit in "123")


class Compiler:
    """Compiles to ten bytes, or refuses, once it may."""

    def __init__(self) -> None:
        self.jobs = 0
        self.running = 0
        self.most = 0
        self.may = asyncio.Event()
        self.may.set()
        self.refusal: Refusal | None = None

    async def __call__(self, module: bytes) -> bytes:
        self.jobs += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.may.wait()
        finally:
            self.running -= 1
        if self.refusal is not None:
            raise self.refusal
        return b"x" * 10


@pytest.fixture
def compiler() -> Compiler:
    return Compiler()


def kept_in(compiler: Compiler, **bounds: int) -> Artefacts:
    return Artefacts(compile_module=compiler, limits=Limits(**bounds))


async def test_a_module_is_compiled_once_however_many_ask(compiler: Compiler) -> None:
    artefacts = kept_in(compiler)
    compiler.may.clear()
    asked = [asyncio.create_task(artefacts.get(ONE, MODULE)) for _ in range(5)]
    await asyncio.sleep(0)
    compiler.may.set()
    assert len(set(await asyncio.gather(*asked))) == 1
    assert await artefacts.get(ONE, MODULE) is asked[0].result()
    assert compiler.jobs == 1
    assert artefacts.digests() == {ONE}
    await artefacts.stop()
    assert artefacts.digests() == frozenset()


async def test_one_compiles_at_a_time(compiler: Compiler) -> None:
    artefacts = kept_in(compiler)
    await asyncio.gather(*(artefacts.get(one, MODULE) for one in (ONE, TWO, THREE)))
    assert (compiler.jobs, compiler.most) == (3, 1)
    await artefacts.stop()


async def test_the_least_used_go_first_and_the_last_one_stays(compiler: Compiler) -> None:
    artefacts = kept_in(compiler, wasm_artefacts_max_bytes=20)
    await artefacts.get(ONE, MODULE)
    await artefacts.get(TWO, MODULE)
    await artefacts.get(ONE, MODULE)
    await artefacts.get(THREE, MODULE)
    assert artefacts.digests() == {ONE, THREE}
    small = kept_in(compiler, wasm_artefacts_max_bytes=5)
    await small.get(ONE, MODULE)
    assert small.digests() == {ONE}


async def test_a_refusal_is_remembered_unless_it_passes(compiler: Compiler) -> None:
    artefacts = kept_in(compiler)
    compiler.refusal = Refusal(C.WORKER_LOST, "gone")
    for _ in range(2):
        with pytest.raises(Refusal, match="worker-lost"):
            await artefacts.get(ONE, MODULE)
    compiler.refusal = Refusal(C.WASM_INVALID, "bad")
    for _ in range(2):
        with pytest.raises(Refusal, match="wasm-invalid"):
            await artefacts.get(ONE, MODULE)
    assert compiler.jobs == 3
    assert artefacts.refusal(ONE) is compiler.refusal
    assert artefacts.refusal(TWO) is None


async def test_refusals_are_not_remembered_without_end(compiler: Compiler) -> None:
    artefacts = kept_in(compiler)
    compiler.refusal = Refusal(C.WASM_INVALID, "bad")
    digests = [Digest(f"{number:064}") for number in range(300)]
    for digest in digests:
        with pytest.raises(Refusal):
            await artefacts.get(digest, MODULE)
    assert artefacts.refusal(digests[0]) is None
    assert sum(artefacts.refusal(digest) is not None for digest in digests) == 256


async def test_compiling_goes_on_when_who_asked_has_left(compiler: Compiler) -> None:
    artefacts = kept_in(compiler)
    compiler.may.clear()
    asked = asyncio.create_task(artefacts.get(ONE, MODULE))
    await asyncio.sleep(0)
    asked.cancel()
    compiler.may.set()
    assert (await artefacts.get(ONE, MODULE)).size == 10
    assert compiler.jobs == 1


async def test_stopping_ends_what_compiles(compiler: Compiler) -> None:
    artefacts = kept_in(compiler)
    compiler.may.clear()
    asked = asyncio.create_task(artefacts.get(ONE, MODULE))
    await asyncio.sleep(0)
    await artefacts.stop()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert compiler.running == 0


def test_an_artefact_is_what_it_was_made_of() -> None:
    artefact = Artefact(b"code", has_start=True)
    assert (artefact.size, artefact.read(), artefact.has_start) == (4, b"code", True)


@pytest.mark.skipif(sys.platform != "linux", reason="sealed memory is Linux's")
def test_nobody_can_change_an_artefact() -> None:
    artefact = Artefact(b"code", has_start=False)
    descriptor = artefact.descriptor
    assert descriptor is not None
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)
    for size in (0, 100):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    with pytest.raises(PermissionError):
        mmap.mmap(descriptor, 4, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    with pytest.raises(PermissionError):
        os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR | os.O_TRUNC)
    assert artefact.read() == b"code"
    del artefact
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptor)


def test_without_sealed_memory_the_bytes_stay_in_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    artefact = Artefact(b"code", has_start=False)
    assert artefact.descriptor is None
    assert artefact.read() == b"code"
