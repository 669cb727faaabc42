#!/usr/bin/env python3
"""What bad peers cost the others: one that floods, one that does not read, one that interrupts.

    .venv/bin/python scripts/bench/bad_peers.py --rounds 9

Against `voicebox serve` in a process of its own. Idle and flooded rounds take turns, so that other
work of the machine is in both. Prints a table; exit 1 when a goal is missed.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.cli.conftest import TOKEN, environment, spawn, stop
from tests.faults.conftest import Victim
from tests.faults.test_stuck import LARGE, resident, sockets
from tests.faults.test_unread import asking
from tests.faults.wire import BINARY, PING, PONG, TEXT, Wire, frame

Client = AbstractContextManager[object]

BURST = b"".join([frame(b"\0\1" * 480, kind=BINARY)] * 2_000)  # 2,000 frames of 20 ms
PROBES = 200
STUCK = 16
RATE_HZ = 24_000
MIB = 1024 * 1024
SCRIPT = {
    "steps": [
        {"hear": {"text": "go"}},
        {"tone": {"ms": 60_000}},
        {"end": True},
        {"repeat": True},
    ]
}


class Row(NamedTuple):
    """One measure; `good` says whether the goal is reached."""

    what: str
    measured: str
    goal: str
    good: bool


def opened(relay: Victim, path: str) -> Wire:
    """A socket whose hello was said."""
    wire = Wire(relay.url, path)
    wire.say(type="hello", token=TOKEN)
    return wire


def ready(relay: Victim) -> Wire:
    """A voice session that takes sound."""
    wire = opened(relay, "/live")
    while wire.next("state")["state"] != "ready":
        pass
    return wire


def p99_ms(wire: Wire) -> float:
    """The 99th percentile of round trips of a session: a turn that is refused at once."""
    times = []
    for _ in range(PROBES):
        began = monotonic()
        wire.say(type="text", text=" ")
        wire.next("refused")
        times.append((monotonic() - began) * 1_000)
        sleep(0.003)
    return statistics.quantiles(times, n=100)[98]


@contextmanager
def flooding(relay: Victim) -> Iterator[None]:
    """One session that sends bursts of sound, one after another, as fast as they are taken."""
    over = threading.Event()

    def send(wire: Wire) -> None:
        with suppress(OSError):
            while not over.is_set():
                wire.socket.sendall(BURST)

    with ready(relay) as wire:
        thread = threading.Thread(target=send, args=(wire,), daemon=True)
        thread.start()
        yield
        over.set()
    thread.join()


def flood(relay: Victim, rounds: int) -> Row:
    """Another session's round trips, without and with a session that floods."""
    idle, flooded = [], []
    with ready(relay) as other:
        p99_ms(other)
        for _ in range(rounds):
            idle.append(p99_ms(other))
            with flooding(relay):
                flooded.append(p99_ms(other))
    before, now = statistics.median(idle), statistics.median(flooded)
    return Row(
        "another session's p99 while one floods (G8)",
        f"{now:.1f} ms ({min(flooded):.1f} to {max(flooded):.1f}); idle {before:.1f} ms",
        "2 x idle or 5 ms",
        now <= max(2 * before, 5.0),
    )


def stuck(
    relay: Victim, path: str, begin: Callable[[Victim, str], Client], goal_mib: int, goal_s: int
) -> Iterator[Row]:
    """What clients cost that stop reading, and how long they are kept."""
    sleep(1)  # those of before leave
    with ExitStack() as stack:
        before, rest = resident(relay), sockets(relay)
        for _ in range(STUCK):
            stack.enter_context(begin(relay, path))
        began = stuck_since = monotonic()
        while sockets(relay) < rest + STUCK and monotonic() - began < 5:
            sleep(0.01)  # some are still on their way in
        most, fullest = before, 0
        while sockets(relay) >= rest + STUCK // 2 and monotonic() - began < 60:
            relay.ask("POST", "/api/call", LARGE)
            most = max(most, resident(relay))
            if (waiting := unread(relay)) > fullest + MIB // 8:
                fullest, stuck_since = waiting, monotonic()
        took = monotonic() - stuck_since
    each = (most - before) / MIB / STUCK
    what = f"memory of a stuck client of {path} (G9)"
    yield Row(what, f"{each:.2f} MiB", f"{goal_mib} MiB", each <= goal_mib)
    what = f"time until a stuck client of {path} is let go (G9)"
    yield Row(what, f"{took:.1f} s", f"{goal_s} s", took <= goal_s)


def unread(relay: Victim) -> int:
    """Bytes that the kernel holds for the relay's clients; it grows until they are stuck."""
    port = f"{int(relay.url.rpartition(':')[2]):04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(line[4].split(":")[0], 16) for line in lines if line[1].endswith(f":{port}"))


def stale_ms(relay: Victim, *, reads: bool) -> float:
    """Sound that still comes after an interruption, by a client that reads or has stopped."""
    with ready(relay) as wire:
        wire.say(type="text", text="go")
        until = monotonic() + 3
        while monotonic() < until:
            if reads:
                answered(wire)
            else:
                sleep(0.1)
        wire.say(type="interrupt")
        heard = 0
        while True:
            opcode, data = answered(wire)
            if opcode == BINARY:
                heard += len(data)
            elif opcode == TEXT and json.loads(data)["type"] == "flush":
                return heard / 2 / RATE_HZ * 1_000


def answered(wire: Wire) -> tuple[int, bytes]:
    """The next frame; a ping is answered, which tells the relay how far the client has read."""
    opcode, data = wire.receive()
    if opcode == PING:
        wire.send(data, kind=PONG)
    return opcode, data


def main() -> int:
    """Measure, print, and say whether every goal is reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(SCRIPT))
        environ = environment(
            Path(folder),
            VOICEBOX_SCRIPT=str(script),
            VOICEBOX_FRAME_ARGS="1",
            VOICEBOX_LOG_LEVEL="error",
        )
        relay = Victim(spawn(environ, "serve", "--port", "0", "--provider", "script"), environ)
        try:
            rows = [flood(relay, rounds)]
            for reads in (True, False):
                times = [stale_ms(relay, reads=reads) for _ in range(3)]
                what = f"stale sound, client {'reads' if reads else 'had stopped reading'} (G7)"
                rows.append(Row(what, f"{max(times):.0f} ms", "200 ms", max(times) <= 200))
            for path in ("/workspace", "/frames"):
                rows += stuck(relay, path, opened, 1, 5)
            # the frames of before are an answer of two mebibytes, which waits as it was made
            rows += stuck(relay, "/api/frames?last=1000", asking, 2, 12)
        finally:
            stop(relay.process)
    print("| measure | measured | goal | reached |\n| --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row.what} | {row.measured} | {row.goal} | {'yes' if row.good else 'no'} |")
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
