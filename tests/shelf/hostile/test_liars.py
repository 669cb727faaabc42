"""What a worker says is not believed: it may have been taken over."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.abi import DIGEST_ABI
from relay.shelf.artefacts import Artefact
from relay.shelf.job import Work
from relay.shelf.pipes import PipeWorker
from relay.shelf.runner import Runner
from relay.shelf.workers import Worker

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
# A process that starts on a busy machine has its time; what is never said is not waited for long
PATIENT = Limits(wasm_call_deadline_ms=20_000, wasm_compile_deadline_ms=20_000)
SHORT = Limits(wasm_call_deadline_ms=1_000, wasm_compile_deadline_ms=1_000)
NEVER_SAID = {"a body that never comes", "one byte at a time", "silence"}


class Liars:
    """A source of workers that tell one lie."""

    def __init__(self, lie: str) -> None:
        self._lie = lie
        self.limits = SHORT if lie in NEVER_SAID else PATIENT
        self.workers: list[PipeWorker] = []

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        for worker in self.workers:
            worker.dispose()
            await worker.ended()

    async def take(self, work: Work) -> Worker:
        command = [sys.executable, "-I", str(HERE / "liar.py"), str(ROOT), self._lie]
        self.workers.append(await PipeWorker.start(command))
        return self.workers[-1]

    def take_spare(self) -> Worker | None:
        return None

    def refill(self) -> None:
        pass

    def confinement(self) -> list[str] | None:
        return None


@pytest.fixture
async def liars() -> AsyncIterator[Callable[[str], Liars]]:
    made: list[Liars] = []

    def make(lie: str) -> Liars:
        made.append(Liars(lie))
        return made[-1]

    yield make
    for one in made:
        await one.stop()


async def run(source: Liars) -> tuple[int, bytes]:
    artefact = await asyncio.to_thread(Artefact, b"", has_start=False)
    runner = Runner(source=source, limits=source.limits)
    return await runner.run(artefact, abi=DIGEST_ABI, inputs=[b""], on_hand_over=lambda: None)


async def test_an_honest_worker_is_believed(liars: Callable[[str], Liars]) -> None:
    assert await run(liars("none")) == (32, b"\7" * 32)


@pytest.mark.parametrize(
    ("lie", "code", "why"),
    [
        ("a head of 3 MB", C.RESOURCE_EXCEEDED, "stdout bound is 2097152"),
        ("a body that never comes", C.TIME_EXCEEDED, "1000 ms"),
        ("one byte at a time", C.TIME_EXCEEDED, ""),
        ("an artefact", C.SANDBOX_VIOLATION, "out of turn"),
        ("an unknown kind", C.SANDBOX_VIOLATION, "out of turn"),
        ("a refusal of 5 kB", C.RESOURCE_EXCEEDED, "4096"),
        ("a code that is the host's", C.SANDBOX_VIOLATION, "unknown code"),
        ("a code that there is not", C.SANDBOX_VIOLATION, "unknown code"),
        ("a refusal of nothing", C.SANDBOX_VIOLATION, "unknown code"),
        ("half a head", C.WORKER_LOST, "without an answer"),
        ("silence", C.TIME_EXCEEDED, ""),
        ("hang up", C.WORKER_LOST, ""),
        ("exit 0", C.WORKER_LOST, ""),
        ("exit 3", C.RESOURCE_EXCEEDED, "status 3"),
        ("SIGSEGV", C.SANDBOX_VIOLATION, "SIGSEGV"),
        ("SIGSYS", C.SANDBOX_VIOLATION, "SIGSYS"),
        ("SIGALRM", C.TIME_EXCEEDED, "SIGALRM"),
        ("SIGXCPU", C.TIME_EXCEEDED, "SIGXCPU"),
        ("SIGABRT", C.RESOURCE_EXCEEDED, "SIGABRT"),
        ("SIGKILL", C.RESOURCE_EXCEEDED, "SIGKILL"),
        ("a signal without a name", C.RESOURCE_EXCEEDED, "signal 40"),
    ],
)
async def test_a_lie_is_refused_by_its_code_and_its_worker_ends(
    liars: Callable[[str], Liars], lie: str, code: C, why: str
) -> None:
    source = liars(lie)
    with pytest.raises(Refusal) as refused:
        await run(source)
    assert refused.value.code is code
    assert why in refused.value.why
    assert await source.workers[0].ended() != 0 or lie in {"half a head", "exit 0"} | CLAIMS


CLAIMS = {
    "an artefact", "an unknown kind", "a refusal of 5 kB", "a code that is the host's",
    "a code that there is not", "a refusal of nothing",
}  # fmt: skip


async def test_words_of_a_worker_are_made_harmless(liars: Callable[[str], Liars]) -> None:
    with pytest.raises(Refusal) as refused:
        await run(liars("terminal codes"))
    assert refused.value.code is C.WASM_TRAP
    assert refused.value.why == "the module trapped: [2J"


async def test_a_worker_that_writes_on_after_its_reply_is_killed(
    liars: Callable[[str], Liars],
) -> None:
    source = liars("more after the reply")
    assert await run(source) == (32, b"\7" * 32)
    assert await source.workers[0].ended() < 0


@pytest.mark.parametrize(
    ("lie", "code"),
    [
        ("an answer", C.SANDBOX_VIOLATION),
        ("silence", C.TIME_EXCEEDED),
        ("exit 3", C.RESOURCE_EXCEEDED),
    ],
)
async def test_a_compiler_is_not_believed_either(
    liars: Callable[[str], Liars], lie: str, code: C
) -> None:
    source = liars(lie)
    with pytest.raises(Refusal) as refused:
        await Runner(source=source, limits=source.limits).compile(b"")
    assert refused.value.code is code


async def test_an_artefact_is_taken_from_a_compiler_only(liars: Callable[[str], Liars]) -> None:
    runner = Runner(source=liars("an artefact"), limits=PATIENT)
    assert await runner.compile(b"") == b"x" * 1024 * 1024
    small = Limits(wasm_artefact_max_bytes=1_000)
    with pytest.raises(Refusal, match="resource-exceeded"):
        await Runner(source=liars("an artefact"), limits=small).compile(b"")


async def test_a_source_without_workers_is_waited_for_no_longer_than_allowed() -> None:
    class Empty(Liars):
        async def take(self, work: Work) -> Worker:
            await asyncio.Event().wait()
            raise AssertionError

    artefact = await asyncio.to_thread(Artefact, b"", has_start=False)
    runner = Runner(source=Empty(""), limits=Limits(wasm_waiting_max_ms=20))
    with pytest.raises(Refusal) as refused:
        await runner.run(artefact, abi=DIGEST_ABI, inputs=[b""], on_hand_over=lambda: None)
    assert refused.value.code is C.WORKER_LOST
