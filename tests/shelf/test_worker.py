"""A worker's life without its confinement, in a thread of this process."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import wasmtime

from relay.shelf import confine
from relay.shelf.abi import ABIS, DIGEST_ABI
from relay.shelf.confine import Confinement
from relay.shelf.engine import WARM_UP, compile_module, make_engine
from relay.shelf.job import (
    PROBE,
    REPLY_HEAD_BYTES,
    Bounds,
    ReplyKind,
    Work,
    pack_call,
    pack_code,
    unpack_reply,
)
from relay.shelf.launch import command, surroundings
from relay.shelf.worker import Channel, _compile, _reply, _run, _warm_up
from tests.shelf.hostile.modules import hashing

MIB = 1024 * 1024
BOUNDS = Bounds(64 * MIB, 16 * MIB, 512 * MIB, 6_000, 31_000, ())
ENGINE = make_engine()
MEMORY = '(memory (export "memory") 1)'
TRAPPING_DATA = hashing("(i32.const 32)", around=f'{MEMORY} (data (i32.const 65535) "xx")')
TRAPPING_START = hashing("(i32.const 32)", around=f"{MEMORY} (func $s (unreachable)) (start $s)")
TOO_LARGE = hashing("(i32.const 32)", around='(memory (export "memory") 2000)')
Talk = Callable[[Work, bytes, list[int]], tuple[int, int, bytes]]


def confinement(work: Work) -> Confinement:
    return Confinement(frozenset(), work, BOUNDS, 0, os.getppid(), 0)


def reply_to(work: Work, channel: Channel) -> bytes:
    return _reply(_compile if work is Work.COMPILE else _run, confinement(work), ENGINE, channel)


@pytest.fixture
def talk() -> Iterator[Talk]:
    ours, theirs = socket.socketpair()

    def converse(work: Work, job: bytes, descriptors: list[int]) -> tuple[int, int, bytes]:
        channel = Channel(theirs.fileno(), theirs.fileno())
        thread = threading.Thread(target=lambda: channel.give(reply_to(work, channel)))
        thread.start()
        sent = socket.send_fds(ours, [job], descriptors)
        ours.sendall(job[sent:])
        with ours.makefile("rb") as replies:
            head = unpack_reply(replies.read(REPLY_HEAD_BYTES))
            body = replies.read(head.body_bytes)
        thread.join()
        channel._socket.detach() if channel._socket else None
        return head.kind, head.returned, body

    yield converse
    ours.close()
    theirs.close()


def test_a_module_becomes_an_artefact_and_the_artefact_an_answer(talk: Talk) -> None:
    kind, _, artefact = talk(Work.COMPILE, pack_code(len(WARM_UP), WARM_UP), [])
    assert kind == ReplyKind.ARTEFACT
    job = pack_code(len(artefact), artefact) + pack_call(DIGEST_ABI.name, [b"abc"])
    kind, returned, output = talk(Work.RUN, job, [])
    assert (kind, returned, output) == (ReplyKind.ANSWER, 32, b"\3" + bytes(31))


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="descriptors are Linux's way")
def test_an_artefact_may_come_as_a_descriptor(talk: Talk, tmp_path: Path) -> None:
    artefact = compile_module(ENGINE, WARM_UP)
    (tmp_path / "artefact").write_bytes(artefact)
    descriptor = os.open(tmp_path / "artefact", os.O_RDONLY)
    job = pack_code(len(artefact)) + pack_call(DIGEST_ABI.name, [b"abcd"])
    assert talk(Work.RUN, job, [descriptor])[2][0] == 4
    os.close(descriptor)


@pytest.mark.parametrize(
    ("module", "has_start", "code"),
    [
        (hashing("(unreachable)"), False, b"wasm-trap"),
        (TRAPPING_DATA, False, b"wasm-trap"),
        (TRAPPING_START, True, b"wasm-trap"),
        (TOO_LARGE, False, b"resource-exceeded"),
    ],
    ids=["call", "data", "start", "memory"],
)
def test_what_goes_wrong_is_told_once_there_is_a_call(
    talk: Talk, module: bytes, *, has_start: bool, code: bytes
) -> None:
    artefact = compile_module(ENGINE, module)
    job = pack_code(len(artefact), artefact, has_start=has_start)
    kind, _, body = talk(Work.RUN, job + pack_call(DIGEST_ABI.name, [b""]), [])
    assert (kind, body.partition(b"\0")[0]) == (ReplyKind.REFUSAL, code)


def test_what_does_not_compile_is_refused_in_few_words(talk: Talk) -> None:
    kind, _, body = talk(Work.COMPILE, pack_code(4, b"nope"), [])
    assert (kind, body.partition(b"\0")[0]) == (ReplyKind.REFUSAL, b"wasm-invalid")
    names = b"".join(b'(import "%s" "x" (func))' % (b"n" * 9_000) for _ in range(1))
    long = bytes(wasmtime.wat2wasm(b"(module " + names + b")")) + b"\x01\x01\x00"
    kind, _, body = talk(Work.COMPILE, pack_code(len(long), long), [])
    assert kind == ReplyKind.REFUSAL
    assert len(body) < 4_096


def test_being_out_of_memory_is_a_refusal() -> None:
    def greedy(*_: object) -> bytes:
        raise MemoryError

    body = _reply(greedy, confinement(Work.RUN), ENGINE, Channel(0, 1))[REPLY_HEAD_BYTES:]
    assert body == b"resource-exceeded\0out of memory"


@pytest.mark.parametrize("job", [b"", b"\1", pack_code(10, b"short")])
def test_a_host_that_hangs_up_is_an_end(job: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall(job)
        channel = Channel(theirs.fileno(), theirs.fileno())
        with pytest.raises(EOFError):
            channel.take_code()
        assert channel._socket is not None
        channel._socket.detach()


def test_a_pipe_carries_everything_as_bytes() -> None:
    receive, send = os.pipe()
    channel = Channel(receive, send)
    channel.give(pack_code(4, b"code") + pack_call("buffer-abi/diff", [b"a", b"bc"]))
    assert channel.take_code() == (b"code", False)
    assert channel.take_call() == (ABIS["buffer-abi/diff"], [b"a", b"bc"])
    os.close(send)
    with pytest.raises(EOFError):
        channel.take_call()
    os.close(receive)


def test_a_worker_warms_up_with_a_module_of_our_own() -> None:
    _warm_up(ENGINE, compile_module(ENGINE, WARM_UP), BOUNDS)


def test_a_probe_says_what_confines_workers_here() -> None:
    told = subprocess.run(
        command("relay.shelf.worker", [PROBE, BOUNDS.to_json(), str(os.getpid())]),
        capture_output=True,
        check=True,
        **surroundings(),
    )
    assert set(json.loads(told.stdout[REPLY_HEAD_BYTES:])) <= confine.offered(())
    assert told.stderr == b""


def test_a_worker_whose_host_is_gone_ends_well() -> None:
    ended = subprocess.run(
        command("relay.shelf.worker", ["RUN", BOUNDS.to_json(), str(os.getpid())]),
        input=b"",
        capture_output=True,
        check=False,
        **surroundings(),
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_a_worker_whose_host_went_while_it_started_takes_no_job() -> None:
    """It has another parent by then, which it must not take for its host."""
    another = os.getppid()
    ended = subprocess.run(
        command("relay.shelf.worker", ["COMPILE", BOUNDS.to_json(), str(another)]),
        input=pack_code(len(WARM_UP), WARM_UP),
        capture_output=True,
        check=False,
        **surroundings(),
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_bounds_survive_a_command_line() -> None:
    bounds = BOUNDS._replace(left_out=("seccomp", "data-limit"))
    assert Bounds.from_json(bounds.to_json()) == bounds


def test_the_data_segment_is_known_where_the_system_tells() -> None:
    assert (confine.data_bytes() > MIB) == (sys.platform == "linux")
