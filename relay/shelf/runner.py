"""Hand one job to one fresh worker, bound it, end it, and say what became of it.

What a worker says is not believed: kinds, lengths and codes are checked, and it is killed
after its reply. Queues, digests and caches are elsewhere.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.abi import BufferAbi
from relay.shelf.artefacts import Artefact
from relay.shelf.job import (
    REFUSAL_MAX_BYTES,
    REPLY_HEAD_BYTES,
    ReplyKind,
    Work,
    pack_call,
    pack_code,
    unpack_reply,
)
from relay.shelf.loaded import LoadedWorkers, give_code
from relay.shelf.workers import Worker, WorkerSource, no_worker

_STATUS_WAIT_S = 1.0
_DETAIL_MAX_CHARS = 160
# What a worker may claim of itself; every other code is the host's to give.
_WORKER_CODES = {
    RefusalCode.WASM_INVALID: "the engine refuses the module",
    RefusalCode.WASM_TRAP: "the module trapped",
    RefusalCode.UNSUPPORTED_ABI: "the module does not fit its ABI",
    RefusalCode.RESOURCE_EXCEEDED: "the module wants more than it may have",
}
_OUT_OF_TIME = {"SIGALRM", "SIGXCPU"}
_VIOLATIONS = {"SIGSYS", "SIGSEGV", "SIGBUS", "SIGILL"}


class Runner:
    """Runs and compiles in the workers of `source`."""

    def __init__(self, *, source: WorkerSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._loaded = LoadedWorkers(source=source)

    async def stop(self) -> None:
        """End the workers that wait with a module."""
        await self._loaded.stop()

    async def compile(self, module: bytes) -> bytes:
        """Return the artefact of a module. Raises: Refusal."""
        worker = await self._take(Work.COMPILE)
        _, artefact = await self._finish(
            worker,
            worker.give(pack_code(len(module), module)),
            expected=(ReplyKind.ARTEFACT, self._limits.wasm_artefact_max_bytes),
            deadline_ms=self._limits.wasm_compile_deadline_ms,
        )
        return artefact

    async def run(
        self,
        artefact: Artefact,
        *,
        abi: BufferAbi,
        inputs: Sequence[bytes],
        on_hand_over: Callable[[], None],
    ) -> tuple[int, bytes]:
        """Return what the module returned and what it wrote. Raises: Refusal."""
        job = pack_call(abi.name, inputs)
        worker = self._loaded.take(artefact)
        if worker is None:
            worker = await self._take(Work.RUN)
            giving = give_code(worker, artefact, then=job)
        else:
            giving = worker.give(job)
        on_hand_over()
        try:
            return await self._finish(
                worker,
                giving,
                expected=(ReplyKind.ANSWER, self._limits.wasm_child_max_stdout_bytes),
                deadline_ms=self._limits.wasm_call_deadline_ms,
            )
        finally:
            self._loaded.load(artefact)

    async def _take(self, work: Work) -> Worker:
        try:
            async with asyncio.timeout(self._limits.wasm_waiting_max_ms / 1_000):
                return await self._source.take(work)
        except TimeoutError:
            raise no_worker("none came in time") from None

    async def _finish(
        self,
        worker: Worker,
        giving: Awaitable[None],
        *,
        expected: tuple[ReplyKind, int],
        deadline_ms: int,
    ) -> tuple[int, bytes]:
        """Give the job, take the reply, and end the worker in any case."""
        try:
            async with asyncio.timeout(deadline_ms / 1_000):
                await giving
                return await _reply(worker, expected)
        except TimeoutError:
            raise Refusal(
                RefusalCode.TIME_EXCEEDED, f"the module did not end within {deadline_ms} ms"
            ) from None
        except (EOFError, ConnectionError):
            raise _explain(await _status(worker)) from None
        finally:
            worker.dispose()
            self._source.refill()


async def _reply(worker: Worker, expected: tuple[ReplyKind, int]) -> tuple[int, bytes]:
    head = unpack_reply(await worker.take(REPLY_HEAD_BYTES))
    bounds: dict[int, int] = {expected[0]: expected[1], ReplyKind.REFUSAL: REFUSAL_MAX_BYTES}
    most = bounds.get(head.kind)
    if most is None:
        raise Refusal(RefusalCode.SANDBOX_VIOLATION, "the worker answered out of turn")
    if head.body_bytes > most:
        raise Refusal(
            RefusalCode.RESOURCE_EXCEEDED,
            f"the worker's answer is {head.body_bytes} bytes; its stdout bound is {most}",
        )
    body = await worker.take(head.body_bytes)
    if head.kind == ReplyKind.REFUSAL:
        raise _claimed(body)
    return head.returned, body


def _claimed(body: bytes) -> Refusal:
    """Turn a worker's refusal into ours: a code from the list, words without control codes."""
    name, _, detail = body.partition(b"\0")
    code = next((code for code in _WORKER_CODES if code.encode() == name), None)
    if code is None:
        return Refusal(RefusalCode.SANDBOX_VIOLATION, "the worker refused with an unknown code")
    words = "".join(chr(c) if 32 <= c < 127 else " " for c in detail[: 4 * _DETAIL_MAX_CHARS])
    return Refusal(code, f"{_WORKER_CODES[code]}: {' '.join(words.split())[:_DETAIL_MAX_CHARS]}")


async def _status(worker: Worker) -> int | None:
    try:
        async with asyncio.timeout(_STATUS_WAIT_S):
            return await worker.ended()
    except TimeoutError:
        return None


def _explain(status: int | None) -> Refusal:
    """Say why a worker ended without a reply; a negative status is a signal."""
    if status is None or status == 0:
        return Refusal(RefusalCode.WORKER_LOST, "the worker ended without an answer")
    if status > 0:
        return Refusal(RefusalCode.RESOURCE_EXCEEDED, f"the worker gave up with status {status}")
    name = _signal_name(-status)
    if name in _OUT_OF_TIME:
        return Refusal(RefusalCode.TIME_EXCEEDED, f"the kernel ended the worker ({name})")
    if name in _VIOLATIONS:
        return Refusal(RefusalCode.SANDBOX_VIOLATION, f"the worker did what it must not ({name})")
    return Refusal(RefusalCode.RESOURCE_EXCEEDED, f"the worker was ended by {name}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
