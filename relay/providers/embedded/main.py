"""The engine process: `main()` reads frames on stdin and writes frames on stdout.

Three threads: this one hears (frames, voice activity) and never waits for the others; one
understands (recognition, decisions, speech), one job at a time; one writes captions meanwhile.
The models are loaded once.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from relay.providers.embedded import wire
from relay.providers.embedded.engine import Engine
from relay.providers.embedded.parts import load
from relay.providers.embedded.setup import read_setup

Emit = Callable[[wire.FromEngine], None]


def main() -> None:
    """Serve until stdin ends; the last argument is a `Setup` as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the relay decides when the engine ends
    emit = _emitter(_own_stdout())
    engines: list[Engine] = []
    loaded = threading.Event()
    worker = threading.Thread(target=_work, args=(engines, loaded, emit), daemon=True)
    worker.start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = _read(sys.stdin.buffer)
            if isinstance(message, wire.Ping) and not loaded.is_set():
                emit(wire.Pong())
            elif loaded.is_set():
                engines[0].take(message)
    os._exit(0)  # a native library may be in the middle of something that nobody wants any more


def _work(engines: list[Engine], loaded: threading.Event, emit: Emit) -> None:
    """Load, then do one job after the other."""
    try:
        engine = load(read_setup(sys.argv[-1]), emit)
    except Exception as error:  # whatever it is, it is told, or the relay would wait for ever
        emit(wire.Failed(str(error)))
        os._exit(1)
    engines.append(engine)
    loaded.set()
    emit(wire.Loaded())
    threading.Thread(target=_or_end, args=(engine.scribe.work,), daemon=True).start()
    while (job := engine.jobs.take()) is not None:
        _or_end(job)


def _or_end(act: Callable[[], None]) -> None:
    try:
        act()
    except Exception:  # a fault must end the engine, or its session would wait for ever
        os._exit(2)


def _own_stdout() -> BinaryIO:
    """The pipe to the relay; whatever a library prints goes nowhere."""
    pipe = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return pipe


def _emitter(pipe: BinaryIO) -> Emit:
    lock = threading.Lock()

    def emit(message: wire.FromEngine) -> None:
        data = memoryview(wire.frame(message))
        with lock:
            while data:
                data = data[pipe.write(data) :]

    return emit


def _read(pipe: BinaryIO) -> wire.ToEngine:
    head = pipe.read(wire.LENGTH.size)
    if len(head) < wire.LENGTH.size:
        raise EOFError
    (length,) = wire.LENGTH.unpack(head)
    if length > wire.FRAME_MAX_BYTES:
        raise EOFError
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return wire.read_to_engine(body)
