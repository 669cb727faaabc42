"""The fork server: one thread, no module, no environment; it forks workers and buries them.

It never compiles or loads a module: even its own warm-up module is compiled in a child. The
host decides how many workers there are; when the host is gone, so is everything here.
Its words are in `relay.shelf.job`.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from relay.shelf import confine, worker
from relay.shelf.abi import DIGEST_ABI
from relay.shelf.confine import SECCOMP, Confinement
from relay.shelf.engine import WARM_UP, make_engine
from relay.shelf.job import (
    BORN,
    CHANNEL,
    DIED,
    FAILED,
    FORK,
    PACKET_MAX_BYTES,
    REPLY_HEAD_BYTES,
    Bounds,
    ReplyKind,
    Work,
    pack_call,
    pack_code,
    unpack_reply,
)

_HIGHEST_DESCRIPTOR = 256


class Zygote:
    """`control` is the packet socket to the host."""

    def __init__(self, control: socket.socket, bounds: Bounds) -> None:
        self._control = control
        self._bounds = bounds
        self._engine = make_engine()
        self._artefact: bytes | None = None
        self._base_bytes = 0
        self._steps = frozenset[str]()

    def prepare(self) -> dict[str, object]:
        """Get ready to fork; return what the host should know."""
        dropped = confine.drop_root()
        confine.make_filters(CHANNEL)
        self._base_bytes = confine.data_bytes()
        self._settle()
        gc.collect()
        gc.freeze()
        self._base_bytes = confine.data_bytes()
        return {"steps": sorted(self._steps), "rootDropped": dropped}

    def run(self) -> None:
        """Serve the host until it is gone."""
        wake_out, wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake_out, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake_out:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake_out, PACKET_MAX_BYTES)
                    self._bury()
                elif not self._obey():
                    return

    def _obey(self) -> bool:
        packet = self._control.recv(PACKET_MAX_BYTES)
        if not packet:
            return False
        _, work, count, warm = FORK.unpack(packet)
        for _ in range(count):
            self._give_birth(Work(work), warm=warm)
        return True

    def _give_birth(self, work: Work, *, warm: bool) -> None:
        try:
            ours, pid = self._fork(work, warm=warm)
        except OSError as error:
            self._control.send(FAILED.pack(b"E", work, error.errno or 0))
            return
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self._control, [BORN.pack(b"W", work, pid)], [ours.fileno(), pidfd])
        os.close(pidfd)
        ours.close()

    def _bury(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            self._control.send(DIED.pack(b"X", pid, code))

    def _confinement(self, work: Work, parent: int) -> Confinement:
        return Confinement(
            steps=self._steps,
            work=work,
            bounds=self._bounds,
            base_bytes=self._base_bytes,
            parent=parent,
            channel=CHANNEL,
        )

    def _fork(self, work: Work, *, warm: bool = False) -> tuple[socket.socket, int]:
        """Fork a worker; return the host's end of its channel."""
        parent = os.getpid()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        pid = os.fork()
        if pid == 0:
            self._become_worker(self._confinement(work, parent), theirs, warm=warm)
        theirs.close()
        return ours, pid

    def _become_worker(
        self, confinement: Confinement, theirs: socket.socket, *, warm: bool
    ) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            os.dup2(theirs.fileno(), CHANNEL)
            os.closerange(CHANNEL + 1, _HIGHEST_DESCRIPTOR)
            channel = worker.Channel(CHANNEL, CHANNEL)
            confine.confine(confinement)
            artefact = self._artefact if warm and confinement.work is Work.RUN else None
            worker.serve(confinement, self._engine, artefact=artefact, channel=channel)
        finally:
            os._exit(1)  # nothing of the fork server may run on in a child

    # ---- getting ready ----------------------------------------------------------------------

    def _settle(self) -> None:
        """Find the steps of confinement with which a whole call works here.

        Raises: RuntimeError where not even less of it does.
        """
        steps = self._probe()
        for self._steps in (steps, steps - {SECCOMP}):
            self._artefact = self._compile_warm_up()
            if self._artefact is not None and self._rehearse(self._artefact):
                return
        raise RuntimeError("no worker answers on this machine")

    def _probe(self) -> frozenset[str]:
        """Try each step in a child of its own."""
        self._steps = confine.offered(self._bounds.left_out)
        offered = self._confinement(Work.RUN, os.getpid())
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(theirs.fileno(), CHANNEL)
                steps = confine.available(offered)
                os.write(CHANNEL, json.dumps(sorted(steps)).encode())
            finally:
                os._exit(0)
        theirs.close()
        with ours:
            answer = ours.recv(PACKET_MAX_BYTES)
        os.waitpid(pid, 0)
        # A filter that kills its own probe is left out below, by the rehearsal.
        return frozenset(json.loads(answer)) if answer else self._steps

    def _compile_warm_up(self) -> bytes | None:
        job = pack_code(len(WARM_UP), WARM_UP)
        return self._converse(Work.COMPILE, job, ReplyKind.ARTEFACT)

    def _rehearse(self, artefact: bytes) -> bool:
        """Say whether a worker that gets its code by descriptor, as real ones do, answers."""
        job = pack_code(len(artefact)) + pack_call(DIGEST_ABI.name, [b""])
        descriptor = os.memfd_create("artefact")
        try:
            os.write(descriptor, artefact)
            return self._converse(Work.RUN, job, ReplyKind.ANSWER, descriptor) is not None
        finally:
            os.close(descriptor)

    def _converse(
        self, work: Work, job: bytes, expected: ReplyKind, *descriptors: int
    ) -> bytes | None:
        """Have a child do one job of our own; None where it does not answer as expected."""
        ours, pid = self._fork(work)
        reply, body = None, b""
        with ours, contextlib.suppress(ConnectionError), ours.makefile("rb") as replies:
            sent = socket.send_fds(ours, [job], descriptors)
            ours.sendall(job[sent:])
            head = replies.read(REPLY_HEAD_BYTES)
            if len(head) == REPLY_HEAD_BYTES:
                reply = unpack_reply(head)
                body = replies.read(reply.body_bytes)
        os.waitpid(pid, 0)
        return body if reply is not None and reply.kind == expected else None


def main() -> NoReturn:
    """Arguments: the control socket's descriptor, and bounds."""
    control = socket.socket(fileno=int(sys.argv[1]))
    zygote = Zygote(control, Bounds.from_json(sys.argv[2]))
    control.send(b"H" + json.dumps(zygote.prepare()).encode())
    with contextlib.suppress(ConnectionError):
        zygote.run()
    os._exit(0)  # at once: workers end with this process, and tidying up takes a while
