"""A host that is short of memory, threads or descriptors loses no worker and no watch for good."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from relay.protocol.limits import Limits
from relay.shelf import artefacts, forkserver
from relay.shelf.artefacts import Artefact
from relay.shelf.forkserver import ForkServer
from relay.shelf.host import make_source
from relay.shelf.inventory import Inventory
from relay.shelf.job import BORN, Work
from relay.shelf.loaded import LoadedWorkers
from relay.shelf.workers import ForkedWorker
from tests.shelf.shelves import Shelf, ask, serving, until

pytestmark = pytest.mark.skipif(not forkserver.works_here(), reason="no fork server here")
SMALL = Limits(wasm_spares_min=2, wasm_spares_max=4, wasm_watch_interval_ms=20)


@pytest.fixture
async def forks() -> AsyncIterator[ForkServer]:
    source = make_source(limits=SMALL)
    assert isinstance(source, ForkServer)
    await source.start()
    await until(lambda: len(source._spares) == 2)
    yield source
    await source.stop()


def no_memory(*_: object, **__: object) -> None:
    raise MemoryError


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


async def test_a_worker_for_which_there_is_no_memory_is_let_go(
    forks: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = socket.socketpair()
    forks._ordered[Work.RUN] += 1
    pidfd = os.pidfd_open(os.getpid())
    with monkeypatch.context() as short:
        short.setattr(ForkedWorker, "__init__", no_memory)
        forks._on_packet(BORN.pack(b"W", Work.RUN, 1), [ours.detach(), pidfd])
    with theirs:
        assert theirs.recv(1) == b""
    assert not is_open(pidfd)
    assert forks._ordered[Work.RUN] == 0
    assert len(forks._spares) == 2


async def test_a_fork_server_that_was_misheard_is_started_anew(
    forks: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it said is lost: nobody knows any more which workers there are."""
    before = list(forks._spares)
    with monkeypatch.context() as short:
        short.setattr(forks, "_on_packet", no_memory)
        forks._order(Work.RUN, 1, warm=False)
        await until(lambda: not forks._workers)
    await until(lambda: len(forks._spares) == 2)
    assert all(worker._disposed for worker in before)
    assert all(worker.is_alive for worker in forks._spares)


async def test_a_worker_that_can_not_be_told_its_module_is_let_go(
    forks: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForkedWorker, "give", no_memory)
    loaded = LoadedWorkers(source=forks)
    first = forks._spares[0]
    loaded.load(await asyncio.to_thread(Artefact, b"", has_start=False))
    await until(lambda: not loaded._loading)
    assert not loaded._waiting
    await until(lambda: not first.is_alive)
    await loaded.stop()


@pytest.mark.parametrize("fault", [MemoryError(), OSError(28, "No space left on device")])
def test_an_artefact_that_finds_no_room_leaves_no_descriptor(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    made: list[int] = []

    def write(descriptor: int, _: memoryview) -> int:
        made.append(descriptor)
        raise fault

    with monkeypatch.context() as short:
        short.setattr(artefacts.os, "write", write)
        with pytest.raises(type(fault)):
            Artefact(b"x", has_start=False)
    assert not is_open(made[0])


async def test_the_watch_of_the_shelf_goes_on_after_a_look_that_failed(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Inventory._signs
    failed: list[Path] = []

    async def without_thread(inventory: Inventory) -> tuple[object, ...]:
        if not failed:
            failed.append(inventory._folder)
            raise RuntimeError("can't start new thread")
        return await look(inventory)

    shelf.put_shipped("hash")
    monkeypatch.setattr(Inventory, "_signs", without_thread)
    async with serving(shelf.folder, limits=SMALL) as host:
        await until(lambda: failed)
        shelf.put_shipped("diff")
        await until(lambda: len(host.specs()) == 2)
        assert (await ask(host, "hash", input="abc"))["returned"] == 32
