"""The child: one job, one answer, then it dies. Forked by the fork server, or run by itself.

Everything it takes away from itself is in `relay.shelf.confine`. It opens no file, keeps no
cache and never sees a second job.
"""

import contextlib
import functools
import gc
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

import wasmtime

from relay.protocol.refusals import RefusalCode
from relay.shelf import confine
from relay.shelf.abi import ABIS, DIGEST_ABI, BufferAbi
from relay.shelf.confine import Confinement
from relay.shelf.engine import (
    WARM_UP,
    EngineRefused,
    call,
    compile_module,
    instantiate,
    load_artefact,
    make_engine,
)
from relay.shelf.job import (
    CALL_HEAD_BYTES,
    CODE_HEAD_BYTES,
    PROBE,
    REFUSAL_MAX_BYTES,
    Bounds,
    ReplyKind,
    Work,
    pack_reply,
    unpack_call,
    unpack_code,
)

_DETAIL_MAX_CHARS = 400


class Channel:
    """Two descriptors (perhaps one socket) to the host; blocking.

    Raises: EOFError when the host is gone.
    """

    def __init__(self, receive: int, send: int) -> None:
        self._receive = receive
        self._send = send
        # Made here, since a socket object asks the kernel about itself when it is born.
        self._socket = socket.socket(fileno=receive) if receive == send else None

    def take(self, count: int) -> bytes:
        """Read exactly `count` bytes."""
        data = bytearray()
        while len(data) < count:
            piece = os.read(self._receive, count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def take_code(self) -> tuple[bytes, bool]:
        """Read a code part, wherever its bytes are, and whether it has a start function."""
        if self._socket is None:
            size, has_start = unpack_code(self.take(CODE_HEAD_BYTES))
            return self.take(size), has_start
        head, descriptors, _, _ = socket.recv_fds(self._socket, CODE_HEAD_BYTES, 1)
        if not head:
            raise EOFError
        size, has_start = unpack_code(head + self.take(CODE_HEAD_BYTES - len(head)))
        if not descriptors:
            return self.take(size), has_start
        code = os.pread(descriptors[0], size, 0)
        os.close(descriptors[0])
        return code, has_start

    def take_call(self) -> tuple[BufferAbi, list[bytes]]:
        """Read a call part."""
        name, sizes = unpack_call(self.take(CALL_HEAD_BYTES))
        abi = ABIS[name]
        return abi, [self.take(size) for size in sizes[: len(abi.inputs)]]

    def give(self, data: bytes) -> None:
        """Write everything."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._send, view) :]


_Work = Callable[[Confinement, wasmtime.Engine, Channel], bytes]


def serve(
    confinement: Confinement, engine: wasmtime.Engine, *, artefact: bytes | None, channel: Channel
) -> NoReturn:
    """Live a confined worker's life; `artefact` is the compiled warm-up module, if any."""
    status = 1
    try:
        gc.disable()  # one short life; a collection would only touch what is shared
        if artefact is not None:
            _warm_up(engine, artefact, confinement.bounds)
        work = _compile if confinement.work is Work.COMPILE else _run
        channel.give(_reply(work, confinement, engine, channel))
        status = 0
    except EOFError:
        status = 0
    finally:
        # No exception of foreign making is told or cleaned up after: the host reads the status.
        os._exit(status)


def _warm_up(engine: wasmtime.Engine, artefact: bytes, bounds: Bounds) -> None:
    module = load_artefact(engine, artefact)
    call(instantiate(engine, module, memory_bytes=bounds.memory_bytes), DIGEST_ABI, [b"warm"])


def _reply(
    work: _Work, confinement: Confinement, engine: wasmtime.Engine, channel: Channel
) -> bytes:
    try:
        return work(confinement, engine, channel)
    except EngineRefused as refused:
        return _refusal(refused)
    except MemoryError:
        return _refusal(EngineRefused(RefusalCode.RESOURCE_EXCEEDED, "out of memory"))


def _compile(confinement: Confinement, engine: wasmtime.Engine, channel: Channel) -> bytes:
    module, _ = channel.take_code()
    confine.arm_watchdog(confinement)
    return pack_reply(ReplyKind.ARTEFACT, compile_module(engine, module))


def _run(confinement: Confinement, engine: wasmtime.Engine, channel: Channel) -> bytes:
    shut = confine.last_step(confinement)
    code, has_start = channel.take_code()
    module = load_artefact(engine, code)
    make = functools.partial(
        instantiate, engine, module, memory_bytes=confinement.bounds.memory_bytes
    )
    instance = None
    if not has_start:  # nothing of the module runs, so this need not wait for the call
        with contextlib.suppress(EngineRefused):  # the call will say so
            instance = make()
    abi, inputs = channel.take_call()
    confine.arm_watchdog(confinement)
    shut()
    returned, output = call(instance or make(), abi, inputs)
    return pack_reply(ReplyKind.ANSWER, output, returned)


def _refusal(refused: EngineRefused) -> bytes:
    detail = refused.detail[:_DETAIL_MAX_CHARS].encode(errors="replace")
    return pack_reply(
        ReplyKind.REFUSAL, refused.code.encode() + b"\0" + detail[: REFUSAL_MAX_BYTES - 64]
    )


def main() -> NoReturn:
    """Be a worker by itself, where there is no fork server.

    Arguments: PROBE, RUN or COMPILE, bounds, and the host's process id. PROBE writes what
    confinement there is.
    """
    purpose, bounds, host = sys.argv[1], Bounds.from_json(sys.argv[2]), int(sys.argv[3])
    work = Work[purpose] if purpose in Work.__members__ else Work.RUN
    engine = make_engine()
    artefact = compile_module(engine, WARM_UP) if work is Work.RUN else None
    send = os.dup(1)
    channel = Channel(0, send)
    confine.drop_root()
    confinement = Confinement(
        steps=confine.offered(bounds.left_out),
        work=work,
        bounds=bounds,
        base_bytes=confine.data_bytes(),
        parent=host,
        channel=send,
    )
    try:
        confinement = confinement._replace(steps=confine.available(confinement))
    except ProcessLookupError:  # the host went while this process started: nobody wants its job
        os._exit(0)
    if purpose == PROBE:
        told = json.dumps(sorted(confinement.steps)).encode()
        channel.give(pack_reply(ReplyKind.ANSWER, told))
        os._exit(0)
    serve(confinement, engine, artefact=artefact, channel=channel)
