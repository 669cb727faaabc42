"""The host's side of the fork server: a pool of spare workers, kept filled.

The pool starts small, doubles when a burst finds it empty, and shrinks after a quiet time.
A fork server that dies is started again; calls in flight lose their workers.
"""

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections import Counter, deque

import structlog

from relay.protocol.limits import Limits
from relay.shelf.job import BORN, DIED, FAILED, FORK, PACKET_MAX_BYTES, Bounds, Work
from relay.shelf.launch import launch
from relay.shelf.workers import ForkedWorker, Worker
from relay.upkeep import keep_up

_RESTART_FIRST_S = 0.1
_RESTART_MOST_S = 5.0
_FORK_AGAIN_S = 0.2
_GOODBYE_S = 2.0
_TWO_DESCRIPTORS = struct.Struct("2i")
_log = structlog.get_logger(__name__)


def works_here() -> bool:
    """Whether this machine has what the fork server needs (Linux has)."""
    if not (hasattr(os, "fork") and hasattr(os, "pidfd_open") and hasattr(os, "memfd_create")):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


class ForkServer:
    """A `WorkerSource`."""

    def __init__(self, *, bounds: Bounds, limits: Limits) -> None:
        self._bounds = bounds
        self._limits = limits
        self._control: socket.socket | None = None
        self._packet = bytearray(PACKET_MAX_BYTES)  # kept, so that hearing takes no memory
        self._ready = False
        self._steps: list[str] | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._spares: deque[ForkedWorker] = deque()
        self._workers: dict[int, ForkedWorker] = {}
        self._ordered: Counter[Work] = Counter()
        self._waiting: dict[Work, deque[asyncio.Future[Worker]]] = {w: deque() for w in Work}
        self._target = limits.wasm_spares_min
        self._shrink: asyncio.TimerHandle | None = None

    async def start(self) -> None:  # noqa: D102
        self._supervisor = asyncio.create_task(keep_up(self._supervise), name="wasm fork server")

    async def stop(self) -> None:  # noqa: D102
        if self._shrink is not None:
            self._shrink.cancel()
        if self._supervisor is not None:
            self._supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervisor
        for waiting in self._waiting.values():
            while waiting:
                waiting.popleft().cancel()

    def confinement(self) -> list[str] | None:  # noqa: D102
        return self._steps

    async def take(self, work: Work) -> Worker:  # noqa: D102
        if work is Work.RUN:
            spare = self.take_spare()
            if spare is not None:
                return spare
            self._grow()
        future: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting[work].append(future)
        self._order_for_waiting(work)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                future.result().dispose()
            with contextlib.suppress(ValueError):  # it may have been taken out
                self._waiting[work].remove(future)
            raise

    def take_spare(self) -> Worker | None:  # noqa: D102
        while self._spares:
            spare = self._spares.popleft()
            if spare.is_alive:
                return spare
            spare.dispose()
        return None

    def refill(self) -> None:  # noqa: D102
        missing = self._target - len(self._spares) - self._ordered[Work.RUN]
        self._order(Work.RUN, missing, warm=True)

    # ---- the pool's size --------------------------------------------------------------------

    def _grow(self) -> None:
        """A call found no spare: keep more of them for a while."""
        if not self._ready:
            return
        self._target = min(2 * max(self._target, 1), self._limits.wasm_spares_max)
        if self._shrink is not None:
            self._shrink.cancel()
        quiet_s = self._limits.wasm_spares_idle_ms / 1_000
        self._shrink = asyncio.get_running_loop().call_later(quiet_s, self._shrink_now)

    def _shrink_now(self) -> None:
        self._target = self._limits.wasm_spares_min
        while len(self._spares) > self._target:
            self._spares.popleft().dispose()

    def _order_for_waiting(self, work: Work) -> None:
        # Warming up would take longer than it saves a call that waits already.
        self._order(work, len(self._waiting[work]) - self._ordered[work], warm=False)

    def _order(self, work: Work, count: int, *, warm: bool) -> None:
        if count <= 0 or self._control is None or not self._ready:
            return
        with contextlib.suppress(OSError):  # a fork server that hears nothing is found dead soon
            self._control.send(FORK.pack(b"F", work, min(count, 255), warm))
            self._ordered[work] += min(count, 255)

    # ---- the fork server's life -------------------------------------------------------------

    async def _supervise(self) -> None:
        pause_s = _RESTART_FIRST_S
        while True:
            self._ready = False
            with contextlib.suppress(OSError):
                await self._live_once()
            pause_s = _RESTART_FIRST_S if self._ready else min(2 * pause_s, _RESTART_MOST_S)
            await asyncio.sleep(pause_s)

    async def _live_once(self) -> None:
        """Run one fork server until it ends."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        process = None
        try:
            with theirs:
                process = await launch(
                    "relay.shelf.zygote",
                    [str(theirs.fileno()), self._bounds.to_json()],
                    descriptors=(theirs.fileno(),),
                )
            self._control = ours
            loop.add_reader(ours, self._on_packets)
            await process.wait()
        finally:
            loop.remove_reader(ours)
            self._forget_all()
            ours.close()  # the fork server ends at once, and its children with it
            if process is not None:
                await _see_off(process)

    def _forget_all(self) -> None:
        self._control = None
        for worker in self._workers.values():
            worker.report(None)
        while self._spares:
            self._spares.popleft().dispose()
        self._workers.clear()
        self._ordered.clear()

    # ---- what the fork server says ----------------------------------------------------------

    def _on_packets(self) -> None:
        assert self._control is not None
        try:
            while packet := self._hear(self._control):
                self._on_packet(*packet)
        except BlockingIOError:
            return
        except Exception:  # no memory for it: what was said is lost, and with it the count
            with contextlib.suppress(MemoryError):
                _log.exception("fork_server_misheard")
        self._hang_up(self._control)

    def _hear(self, control: socket.socket) -> tuple[bytes, list[int]] | None:
        """One packet and its descriptors; None at the end. Raises: OSError, MemoryError."""
        room = socket.CMSG_LEN(_TWO_DESCRIPTORS.size)
        size, ancillary, _, _ = control.recvmsg_into([self._packet], room)
        if not size:
            return None
        descriptors = [one for *_, data in ancillary for (one,) in struct.iter_unpack("i", data)]
        return bytes(self._packet[:size]), descriptors

    def _hang_up(self, control: socket.socket) -> None:
        """Have the fork server end, if it has not; another one is started then."""
        asyncio.get_running_loop().remove_reader(control)
        with contextlib.suppress(OSError):
            control.shutdown(socket.SHUT_RDWR)

    def _on_packet(self, packet: bytes, descriptors: list[int]) -> None:
        match packet[:1]:
            case b"H":
                self._steps = json.loads(packet[1:])["steps"]
                self._ready = True
                for work in Work:
                    self._order_for_waiting(work)
                self.refill()
            case b"W":
                _, work, pid = BORN.unpack(packet)
                self._on_birth(Work(work), pid, descriptors)
            case b"X":
                _, pid, status = DIED.unpack(packet)
                if pid in self._workers:
                    self._on_death(self._workers.pop(pid), status)
            case _:
                self._on_failure(Work(FAILED.unpack(packet)[1]))

    def _on_death(self, worker: ForkedWorker, status: int) -> None:
        worker.report(status)
        if worker in self._spares:  # nobody asks for it, so nobody else would let it go
            self._spares.remove(worker)
            worker.dispose()
            asyncio.get_running_loop().call_later(_FORK_AGAIN_S, self.refill)

    def _on_failure(self, work: Work) -> None:
        self._ordered[work] -= 1
        asyncio.get_running_loop().call_later(_FORK_AGAIN_S, self._order_for_waiting, work)

    def _on_birth(self, work: Work, pid: int, descriptors: list[int]) -> None:
        worker = ForkedWorker.adopt(descriptors)
        if worker is None:
            self._on_failure(work)
            return
        self._workers[pid] = worker
        self._ordered[work] -= 1
        waiting = self._waiting[work]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(worker)
                return
        if work is Work.RUN:
            self._spares.append(worker)
        else:
            worker.dispose()


async def _see_off(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a fork server whose control socket is closed."""
    try:
        async with asyncio.timeout(_GOODBYE_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
