"""A fork server in a process of its own, and a host that asks it for workers. Started by tests.

python nursery.py ROOT: prints what the host saw
"""

import contextlib
import json
import os
import signal
import socket
import sys
from typing import Any

sys.path.append(sys.argv[1])

from relay.shelf.engine import WARM_UP
from relay.shelf.job import (
    BORN,
    DIED,
    FORK,
    PACKET_MAX_BYTES,
    REPLY_HEAD_BYTES,
    Bounds,
    Work,
    pack_call,
    pack_code,
    unpack_reply,
)
from relay.shelf.zygote import Zygote

MIB = 1024 * 1024
BOUNDS = Bounds(64 * MIB, 16 * MIB, 512 * MIB, 6_000, 31_000, ())


class Host:
    """The other end of the control socket."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self.ended: list[int] = []

    def worker(self, work: Work, *, warm: bool) -> socket.socket:
        """Order one worker and take its channel."""
        self._control.send(FORK.pack(b"F", work, 1, warm))
        while True:
            packet, descriptors, _, _ = socket.recv_fds(self._control, PACKET_MAX_BYTES, 2)
            if packet[:1] == b"W":
                _, kind, _ = BORN.unpack(packet)
                assert kind == work
                os.close(descriptors[1])
                return socket.socket(fileno=descriptors[0])
            self._note(packet)

    def until_ended(self, count: int) -> None:
        """Wait until so many workers are buried."""
        while len(self.ended) < count:
            self._note(self._control.recv(PACKET_MAX_BYTES))

    def _note(self, packet: bytes) -> None:
        kind, _, status = DIED.unpack(packet)
        assert kind == b"X"
        self.ended.append(status)


def converse(worker: socket.socket, job: bytes) -> tuple[int, bytes]:
    """Give a job and take the reply."""
    with worker, worker.makefile("rb") as replies:
        worker.sendall(job)
        head = unpack_reply(replies.read(REPLY_HEAD_BYTES))
        return head.kind, replies.read(head.body_bytes)


def ask(control: socket.socket) -> dict[str, Any]:
    """Compile a module and run it, cold and warm; leave one worker without a job."""
    host = Host(control)
    _, artefact = converse(host.worker(Work.COMPILE, warm=False), pack_code(len(WARM_UP), WARM_UP))
    job = pack_code(len(artefact), artefact) + pack_call("buffer-abi/1", [b"abc"])
    answers = [converse(host.worker(Work.RUN, warm=warm), job)[1].hex() for warm in (False, True)]
    host.worker(Work.RUN, warm=True).close()
    host.until_ended(4)
    return {"answers": answers, "ended": host.ended}


def main() -> None:
    """Be the fork server; a child is the host, so that this process can be measured."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        theirs.close()
        told = json.loads(ours.recv(PACKET_MAX_BYTES)[1:])
        sys.stdout.write(json.dumps(told | ask(ours)))
        sys.stdout.flush()
        os._exit(0)
    ours.close()
    zygote = Zygote(theirs, BOUNDS)
    theirs.send(b"H" + json.dumps(zygote.prepare()).encode())
    with contextlib.suppress(ConnectionError):  # it tells of the host's own end, to nobody
        zygote.run()
    signal.set_wakeup_fd(-1)


if __name__ == "__main__":
    main()
