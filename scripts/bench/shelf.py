"""How long a shelf call takes in a fresh process, beside peers measured in the same minutes.

    python scripts/bench/shelf.py                 the tables
    python scripts/bench/shelf.py --rounds 105    more rounds
    python scripts/bench/shelf.py --json FILE     the same facts as JSON, too

Rows take turns, one call each a round, so that a busy machine is as busy for each of them.
Peers: the same module in this process (nothing confined: the floor), and a Node process
started for each call where `node` is installed (module and input as JSON on its stdin).
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import structlog

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from relay.protocol.limits import LIMITS  # noqa: E402 - the path comes first
from relay.shelf import engine  # noqa: E402
from relay.shelf.abi import DIGEST_ABI  # noqa: E402
from relay.shelf.host import ShelfHost, make_source  # noqa: E402
from relay.tools.tool import CallId, ToolCall, Waiting  # noqa: E402

SHELF = ROOT / "shelf"
INPUT = "hello"
DIGEST = hashlib.sha256(INPUT.encode()).hexdigest()
BURST = 50
BURSTS = 4
PAUSE_S = 0.03  # lets spares be made again, so that one row does not pay for another
NODE_WORKER = """
let text = "";
for await (const piece of process.stdin) text += piece;
const { module, input } = JSON.parse(text);
const { instance } = await WebAssembly.instantiate(Buffer.from(module, "base64"), {});
const { memory, sha256 } = instance.exports;
const data = Buffer.from(input, "base64");
new Uint8Array(memory.buffer).set(data, 0x400);
const returned = sha256(data.length);
const output = Buffer.from(memory.buffer, 0x2400, 32).toString("hex");
console.log(JSON.stringify({ ok: true, returned, output }));
"""
NODE = ("node", "--max-old-space-size=64", "--max-semi-space-size=16", "--input-type=module", "-e")

Call = Callable[[], Awaitable[str]]


class Row(NamedTuple):
    """One way to run the module; `times_ms` of its calls."""

    name: str
    call: Call
    times_ms: list[float]


def shelf_call(host: ShelfHost) -> Call:
    """A call through the shelf, as dispatch makes it."""
    spec = next(spec for spec in host.specs() if spec.name == "hash")
    args: dict[str, Any] = {"input": INPUT}
    call = ToolCall(call_id=CallId("call_bench"), name="hash", args=args)

    async def run() -> str:
        answer = json.loads(await host.call(spec, call, args, Waiting()))
        return str(answer["output"])

    return run


def in_process() -> Call:
    """Read, hash, deserialise, instantiate, call: everything but the process."""
    own = engine.make_engine()
    artefact = engine.compile_module(own, (SHELF / "hash.wasm").read_bytes())

    async def run() -> str:
        hashlib.sha256((SHELF / "hash.wasm").read_bytes()).hexdigest()
        module = engine.load_artefact(own, artefact)
        bound = LIMITS.wasm_memory_max_bytes
        instance = engine.instantiate(own, module, memory_bytes=bound)
        _, output = engine.call(instance, DIGEST_ABI, [INPUT.encode()])
        return output.hex()

    return run


def node_per_call() -> Call:
    """Start Node, hand over module and input, read its line."""

    async def run() -> str:
        module = (SHELF / "hash.wasm").read_bytes()
        hashlib.sha256(module).hexdigest()
        job = {name: base64.b64encode(data).decode() for name, data in _job(module)}
        process = await asyncio.create_subprocess_exec(
            *NODE, NODE_WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}
        )
        answer, _ = await process.communicate(json.dumps(job).encode())
        return str(json.loads(answer)["output"])

    return run


def _job(module: bytes) -> Iterator[tuple[str, bytes]]:
    yield "module", module
    yield "input", INPUT.encode()


async def interleave(rows: list[Row], rounds: int) -> None:
    """Two warm calls of each row, then one call of each in turn."""
    for row in rows:
        for _ in range(2):
            assert await row.call() == DIGEST, row.name
            await asyncio.sleep(PAUSE_S)
    for _ in range(rounds):
        for row in rows:
            began = time.perf_counter()
            output = await row.call()
            row.times_ms.append((time.perf_counter() - began) * 1_000)
            assert output == DIGEST, row.name
            await asyncio.sleep(PAUSE_S)


async def burst(call: Call) -> tuple[float, int]:
    """Start BURST calls at once; return (ms until the last one ended, right answers)."""
    began = time.perf_counter()
    outputs = await asyncio.gather(*(call() for _ in range(BURST)))
    return (time.perf_counter() - began) * 1_000, outputs.count(DIGEST)


def spare_kib() -> list[int] | None:
    """PSS of each spare worker; None where the system does not tell."""
    try:
        (fork_server,) = _children(os.getpid())
        return [_pss_kib(worker) for worker in _children(fork_server)]
    except (OSError, ValueError):
        return None


def processor_ms() -> tuple[float, float]:
    """Processor time so far, in ms: of this process, and of the fork server and dead workers."""
    workers_ms = 0.0
    for pid in _children(os.getpid()):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        workers_ms += sum(map(int, fields[11:15])) * 1_000 / os.sysconf("SC_CLK_TCK")
    return time.process_time() * 1_000, workers_ms


def _children(pid: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _pss_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise ValueError(pid)


def percentiles(times_ms: list[float]) -> dict[str, float]:
    """Sum up a row: min, p10, p50, p90, p99 in ms."""
    cuts = quantiles(times_ms, n=100, method="inclusive")
    points = {"p10": cuts[9], "p50": cuts[49], "p90": cuts[89], "p99": cuts[98]}
    return {"min": min(times_ms), **points}


async def measure(rounds: int) -> dict[str, Any]:
    """Run everything; return the facts."""
    forked = ShelfHost(folder=SHELF, limits=LIMITS, admitted=None)
    spawned_source = make_source(limits=LIMITS, fork=False)
    spawned = ShelfHost(folder=SHELF, limits=LIMITS, admitted=None, source=spawned_source)
    await forked.start()
    try:
        facts: dict[str, Any] = {"load": os.getloadavg()[0]}
        call = shelf_call(forked)
        await call()
        await asyncio.sleep(1)
        facts["sparePssKib"] = spare_kib()
        before = processor_ms()
        facts["burstsMs"] = [await burst(call) for _ in range(BURSTS)]
        await asyncio.sleep(1)
        facts["burstProcessorMs"] = [
            (now - then) / BURSTS for then, now in zip(before, processor_ms(), strict=True)
        ]
        await spawned.start()
        rows = [
            Row("in this process, not confined (floor)", in_process(), []),
            Row("shelf, forked worker", call, []),
            Row("shelf, spawned worker (no fork)", shelf_call(spawned), []),
        ]
        if shutil.which("node"):
            rows.append(Row("node, started per call", node_per_call(), []))
        await interleave(rows, rounds)
        facts["worker"] = (await forked.status())["worker"]
    finally:
        await forked.stop()
        await spawned.stop()
    facts["rows"] = {row.name: percentiles(row.times_ms) for row in rows}
    return facts | {"rounds": rounds}


def show(facts: dict[str, Any]) -> None:
    """Print the tables and what the goals ask for."""
    print(f"load {facts['load']:.1f}, {facts['rounds']} rounds, {os.cpu_count()} processors;")
    print("confined by " + ", ".join(facts["worker"]["hardening"]) + "\n")
    print("| ms per call | min | p10 | p50 | p90 | p99 |\n| --- | --- | --- | --- | --- | --- |")
    for name, row in facts["rows"].items():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in row.values()) + " |")
    floor, forked, _, *peer = facts["rows"].values()
    print(f"\nW1 p10 is {forked['p10'] / floor['p10']:.1f} times the floor's (goal: at most 2.5)")
    for node in peer:
        print(f"W1 p50 is 1/{node['p50'] / forked['p50']:.0f} of node's (goal: 1/50)")
    for took, right in facts["burstsMs"]:
        print(f"W2 burst of {BURST}: {took:.0f} ms, {right} right answers (goal: 250 ms, {BURST})")
    host_ms, workers_ms = facts["burstProcessorMs"]
    print(f"W2 processor time of a burst: host {host_ms:.0f} ms, workers {workers_ms:.0f} ms")
    spares = facts["sparePssKib"]
    if spares:
        print(f"W3 PSS of a spare: at most {max(spares) / 1_024:.1f} MiB (goal: 5)")
    else:
        print("W3 PSS of a spare: this user may not read it")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=35, help="calls of each row (35)")
    parser.add_argument("--json", type=Path, help="a file for the facts")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    facts = asyncio.run(measure(arguments.rounds))
    show(facts)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
