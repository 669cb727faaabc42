"""Where workers come from: spares that are kept, grow with a burst, and die without harm."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.shelf import forkserver, launch
from relay.shelf.abi import DIGEST_ABI
from relay.shelf.artefacts import Artefact
from relay.shelf.confine import STEPS
from relay.shelf.forkserver import ForkServer
from relay.shelf.host import make_source
from relay.shelf.job import (
    BORN,
    FAILED,
    REPLY_HEAD_BYTES,
    Bounds,
    ReplyKind,
    Work,
    pack_call,
    pack_code,
    unpack_reply,
)
from relay.shelf.loaded import LoadedWorkers, give_code
from relay.shelf.runner import Runner
from relay.shelf.spawned import SpawnedWorkers
from relay.shelf.workers import ForkedWorker, Worker, WorkerSource
from tests.shelf.shelves import SHIPPED, until

HASH = (SHIPPED / "hash.wasm").read_bytes()
needs_fork = pytest.mark.skipif(not forkserver.works_here(), reason="no fork server here")
BOUNDS = Bounds(64 << 20, 16 << 20, 512 << 20, 6_000, 31_000, ())
SMALL = Limits(wasm_spares_min=2, wasm_spares_max=4, wasm_spares_idle_ms=100)


@pytest.fixture(params=[pytest.param("forked", marks=needs_fork), "spawned"])
async def source(request: pytest.FixtureRequest) -> AsyncIterator[WorkerSource]:
    source = make_source(limits=SMALL, fork=request.param == "forked")
    await source.start()
    yield source
    await source.stop()


@pytest.fixture
async def forks() -> AsyncIterator[ForkServer]:
    source = make_source(limits=SMALL)
    assert isinstance(source, ForkServer)
    await source.start()
    yield source
    await source.stop()


async def artefact_of(source: WorkerSource) -> Artefact:
    data = await Runner(source=source, limits=Limits()).compile(HASH)
    return await asyncio.to_thread(Artefact, data, has_start=False)


async def answer_of(worker: Worker) -> tuple[int, bytes]:
    head = unpack_reply(await worker.take(REPLY_HEAD_BYTES))
    return head.kind, await worker.take(head.body_bytes)


async def test_a_worker_does_its_job_in_parts_and_ends(source: WorkerSource) -> None:
    artefact = await artefact_of(source)
    worker = await source.take(Work.RUN)
    assert worker.is_alive
    await give_code(worker, artefact)
    await worker.give(pack_call(DIGEST_ABI.name, [b"abc"]))
    kind, output = await answer_of(worker)
    assert (kind, output.hex()[:8]) == (ReplyKind.ANSWER, "ba7816bf")
    assert await worker.ended() == 0
    assert not worker.is_alive
    with pytest.raises((EOFError, ConnectionError)):
        await worker.take(1)
    worker.dispose()
    worker.dispose()


async def test_a_disposed_worker_is_killed_whatever_it_does(source: WorkerSource) -> None:
    worker = await source.take(Work.COMPILE)
    worker.dispose()
    assert await worker.ended() == -signal.SIGKILL


async def test_a_refusal_comes_back_as_one(source: WorkerSource) -> None:
    worker = await source.take(Work.COMPILE)
    await worker.give(pack_code(4, b"nope"))
    kind, body = await answer_of(worker)
    assert (kind, body.partition(b"\0")[0]) == (ReplyKind.REFUSAL, b"wasm-invalid")
    worker.dispose()


async def test_spares_are_made_ahead_and_dead_ones_are_not_given_out(
    source: WorkerSource,
) -> None:
    await until(lambda: len(_spares(source)) == 2)
    dead = _spares(source)
    for spare in dead:
        spare.dispose()
        await spare.ended()
    worker = await source.take(Work.RUN)
    assert worker not in dead
    assert worker.is_alive
    worker.dispose()
    source.refill()
    await until(lambda: len(_spares(source)) == 2)
    spare = source.take_spare()
    assert spare is not None
    spare.dispose()


def _spares(source: WorkerSource) -> list[Worker]:
    assert isinstance(source, ForkServer | SpawnedWorkers)
    return [*source._spares]


async def test_a_source_says_what_confines_its_workers(source: WorkerSource) -> None:
    await until(lambda: source.confinement() is not None)
    assert set(source.confinement() or ()) <= set(STEPS)


async def test_a_source_that_never_started_can_be_stopped() -> None:
    for fork in (True, False):
        source = make_source(limits=SMALL, fork=fork)
        assert source.confinement() is None
        assert source.take_spare() is None
        await source.stop()


# ---- the fork server --------------------------------------------------------------------


@needs_fork
async def test_a_burst_finds_more_spares_later_and_quiet_ends_them() -> None:
    limits = Limits(wasm_spares_min=2, wasm_spares_max=4, wasm_spares_idle_ms=3_000)
    forks = ForkServer(bounds=BOUNDS, limits=limits)
    await forks.start()
    await until(lambda: len(forks._spares) == 2)
    taken = [await forks.take(Work.RUN) for _ in range(5)]
    for worker in taken:
        worker.dispose()
        forks.refill()
    await until(lambda: len(forks._spares) >= 4)
    await until(lambda: len(forks._spares) == 2)
    await forks.stop()


@needs_fork
async def test_who_stops_waiting_leaves_nothing_behind(forks: ForkServer) -> None:
    await until(lambda: len(forks._spares) == 2)
    waiting = [asyncio.create_task(forks.take(Work.COMPILE)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await until(lambda: not forks._ordered.total())
    assert not forks._waiting[Work.COMPILE]
    worker = await forks.take(Work.COMPILE)
    assert worker.is_alive
    worker.dispose()


@needs_fork
async def test_a_worker_that_came_for_who_has_just_left_is_ended(forks: ForkServer) -> None:
    await until(lambda: len(forks._spares) == 2)
    loop, control = asyncio.get_running_loop(), forks._control
    loop.remove_reader(control)  # so that nothing runs between the birth and the leaving
    task = asyncio.create_task(forks.take(Work.COMPILE))
    await asyncio.sleep(0)
    future = forks._waiting[Work.COMPILE][0]
    forks._on_packets()
    while not future.done():
        await asyncio.sleep(0.01)
        forks._on_packets()
    worker = future.result()
    task.cancel()
    loop.add_reader(control, forks._on_packets)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await worker.ended() == -signal.SIGKILL


@needs_fork
async def test_a_failed_fork_is_tried_again(forks: ForkServer) -> None:
    await until(lambda: len(forks._spares) == 2)
    forks._ordered[Work.COMPILE] += 1  # as if it had been ordered
    task = asyncio.create_task(forks.take(Work.COMPILE))
    await asyncio.sleep(0)
    forks._on_packet(FAILED.pack(b"E", Work.COMPILE, 11), [])
    worker = await task
    assert worker.is_alive
    worker.dispose()


@needs_fork
async def test_a_birth_without_its_descriptors_counts_as_failed(forks: ForkServer) -> None:
    """So it is when this process may open no more files."""
    await until(lambda: len(forks._spares) == 2)
    ours, theirs = socket.socketpair()
    forks._ordered[Work.RUN] += 1
    forks._on_packet(BORN.pack(b"W", Work.RUN, 1), [ours.detach()])
    with theirs:
        assert theirs.recv(1) == b""  # the one that came was closed
    assert forks._ordered[Work.RUN] == 0
    assert len(forks._spares) == 2


@needs_fork
async def test_a_fork_server_that_can_not_be_started_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = []

    async def fail(*arguments: object, **more: object) -> None:
        starts.append(arguments)
        raise FileNotFoundError

    monkeypatch.setattr(forkserver, "launch", fail)
    source = make_source(limits=SMALL)
    await source.start()
    await until(lambda: len(starts) >= 2)
    waiting = asyncio.create_task(source.take(Work.RUN))
    await asyncio.sleep(0)
    await source.stop()
    with pytest.raises(asyncio.CancelledError):
        await waiting


# ---- without one ------------------------------------------------------------------------


async def test_a_process_that_can_not_be_started_is_no_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = make_source(limits=SMALL, fork=False)
    monkeypatch.setattr(launch.sys, "executable", "/nonexistent/python")
    with pytest.raises(Refusal, match="worker-lost"):
        await source.take(Work.RUN)


# ---- workers that hold a module ---------------------------------------------------------


@pytest.fixture
async def loaded(source: WorkerSource) -> AsyncIterator[LoadedWorkers]:
    loaded = LoadedWorkers(source=source)
    yield loaded
    await loaded.stop()


async def load(loaded: LoadedWorkers, source: WorkerSource, artefact: Artefact) -> None:
    source.refill()
    await until(lambda: len(_spares(source)) >= 1)
    loaded.load(artefact)
    await until(lambda: artefact in loaded._waiting)


async def test_a_loaded_worker_is_given_once(source: WorkerSource, loaded: LoadedWorkers) -> None:
    artefact = await artefact_of(source)
    assert loaded.take(artefact) is None
    await load(loaded, source, artefact)
    loaded.load(artefact)  # it is there already
    worker = loaded.take(artefact)
    assert worker is not None
    assert loaded.take(artefact) is None
    await worker.give(pack_call(DIGEST_ABI.name, [b"abc"]))
    assert (await answer_of(worker))[1].hex()[:8] == "ba7816bf"
    worker.dispose()


async def test_only_the_modules_used_last_are_loaded(
    source: WorkerSource, loaded: LoadedWorkers
) -> None:
    artefact = await artefact_of(source)
    data = await asyncio.to_thread(artefact.read)
    others = [await asyncio.to_thread(Artefact, data, has_start=True) for _ in range(2)]
    for one in (artefact, *others):
        await load(loaded, source, one)
    assert list(loaded._waiting) == others


async def test_a_loaded_worker_that_died_is_not_given(
    source: WorkerSource, loaded: LoadedWorkers
) -> None:
    artefact = await artefact_of(source)
    await load(loaded, source, artefact)
    worker = loaded._waiting[artefact]
    worker.dispose()
    await worker.ended()
    assert loaded.take(artefact) is None


async def test_without_a_spare_nothing_is_loaded(loaded: LoadedWorkers) -> None:
    class Empty(SpawnedWorkers):
        def take_spare(self) -> Worker | None:
            return None

    artefact = await asyncio.to_thread(Artefact, b"", has_start=False)
    LoadedWorkers(source=Empty.__new__(Empty)).load(artefact)
    assert loaded.take(artefact) is None


@needs_fork
async def test_a_worker_that_dies_while_it_is_loaded_is_dropped(forks: ForkServer) -> None:
    await until(lambda: len(forks._spares) == 2)
    loaded = LoadedWorkers(source=forks)
    artefact = await asyncio.to_thread(Artefact, b"", has_start=False)
    for spare in forks._spares:
        assert isinstance(spare, ForkedWorker)
        spare._channel.shutdown(socket.SHUT_RDWR)
    loaded.load(artefact)
    assert loaded._loading
    await until(lambda: not loaded._loading)
    assert not loaded._waiting
    await loaded.stop()


async def test_stopping_ends_what_is_being_loaded(source: WorkerSource) -> None:
    loaded = LoadedWorkers(source=source)
    artefact = await artefact_of(source)
    await until(lambda: _spares(source))
    loaded.load(artefact)
    await loaded.stop()
    assert not loaded._waiting
    assert not loaded._loading
