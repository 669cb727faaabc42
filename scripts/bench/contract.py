"""What the tool contract costs, beside two validators of JSON Schema measured in the same minutes.

    python -m venv /tmp/contract && /tmp/contract/bin/pip install . jsonschema jsonschema-rs
    /tmp/contract/bin/python scripts/bench/contract.py
    /tmp/contract/bin/python scripts/bench/contract.py --json FILE     the same facts as JSON, too

The peers are no dependencies of the relay, so they stand in an environment of their own; a peer
that is not installed is left out. Rows take turns, a batch of calls each a round, so that a busy
machine is as busy for each of them. The relay's row does more than its peers do: it copies the
arguments and bounds their size, depth and number before it looks at the schema.
"""

import argparse
import asyncio
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from msgspec import Raw  # noqa: E402 - the path comes first

from relay.protocol.refusals import Refusal  # noqa: E402
from relay.tools import compiled  # noqa: E402
from relay.tools.arguments import check_arguments  # noqa: E402
from relay.tools.registry import ToolRegistry  # noqa: E402
from relay.tools.schema import admit_tool  # noqa: E402
from relay.tools.tool import AppId, HostKind, ToolCall, ToolSpec, Waiting  # noqa: E402

BATCH = 200
SIZE = 65_400
SCORE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "team": {"type": "string", "enum": ["home", "away"]},
        "points": {"type": "number", "description": "Points to add", "minimum": -99},
    },
    "required": ["team", "points"],
    "additionalProperties": False,
}
BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 80},
        "guests": {"type": "integer", "minimum": 1, "maximum": 20},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["window", "quiet"]}},
        "at": {
            "type": "object",
            "properties": {"day": {"type": "string"}, "hour": {"type": "integer", "maximum": 23}},
            "required": ["day"],
        },
    },
    "required": ["name", "guests"],
}
WIDE: dict[str, Any] = {
    "type": "object",
    "properties": {f"p{n}": {"type": "number", "minimum": 0} for n in range(64)},
}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "score, accepted": (SCORE, {"team": "home", "points": 3}),
    "score, refused": (SCORE, {"team": "nobody", "points": 3}),
    "booking, accepted": (
        BOOKING,
        {"name": "Ada", "guests": 4, "tags": ["quiet", "window"], "at": {"day": "fri", "hour": 19}},
    ),
    "64 numbers, accepted": (WIDE, {f"p{n}": n for n in range(64)}),
}
Check = Callable[[], bool]


class NoHost:
    """A place for registrations; nothing is called."""

    kind: HostKind = "mini-app"

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        """Never asked."""
        raise NotImplementedError


class Row(NamedTuple):
    """One validator; `times_us` for a call, one of each batch."""

    name: str
    check: Check
    times_us: list[float]


def relay_check(schema: dict[str, Any], args: dict[str, Any]) -> Check:
    """The whole check, as dispatch makes it."""
    spec = admit_tool({"name": "t", "description": "t", "parameters": schema})

    def check() -> bool:
        try:
            check_arguments(spec, args)
        except Refusal:
            return False
        return True

    return check


def rows_of(schema: dict[str, Any], args: dict[str, Any]) -> Iterator[Row]:
    """The relay, and the peers that are installed."""
    yield Row("relay", relay_check(schema, args), [])
    with suppress(ImportError):
        peer = importlib.import_module("jsonschema").Draft7Validator(schema)
        yield Row("jsonschema", lambda: bool(peer.is_valid(args)), [])
    with suppress(ImportError):
        rust = importlib.import_module("jsonschema_rs").validator_for(schema)
        yield Row("jsonschema-rs", lambda: bool(rust.is_valid(args)), [])


def interleave(rows: list[Row], rounds: int, *, expected: bool) -> dict[str, float]:
    """A batch of each row in turn; the median in µs of CPU for a call."""
    floor = Row("", lambda: expected, [])
    for _ in range(rounds):
        for row in (floor, *rows):
            began = time.thread_time()
            for _ in range(BATCH):
                assert row.check() is expected, row.name
            row.times_us.append((time.thread_time() - began) * 1e6 / BATCH)
    loop_us = median(floor.times_us)
    return {row.name: median(row.times_us) - loop_us for row in rows}


# ---- Registrations ----------------------------------------------------------------------------


def ordinary_set(seed: int) -> list[Raw]:
    """16 tools of an app; `seed` makes their schemas unlike those of any other set."""
    tools = []
    for number in range(16):
        own = {f"seed_{seed}_{number}": {"type": "boolean"}}
        schema = SCORE | {"properties": SCORE["properties"] | own}
        tools.append({"name": f"t{number}", "description": "A tool", "parameters": schema})
    return [Raw(json.dumps(tool).encode()) for tool in tools]


def _listed(member: str, before: str, after: str) -> str:
    count = (SIZE - len(before) - len(after)) // (len(member) + 1)
    return before + ",".join([member] * count) + after


def worst_tools() -> dict[str, str]:
    """Legal declarations that are about as large as one may be, each in another way."""
    head = '{"name":"%s","description":"d","parameters":{"type":"object","properties":{'
    v = head + '"v":{"type":"number","enum":['
    wide = {f"p{n}": {"type": "number", "minimum": 1, "description": "d" * 60} for n in range(512)}
    nested: dict[str, Any] = {"type": "string", "enum": ["x" * 60] * 800}
    for _ in range(15):
        nested = {"type": "object", "properties": {"o": nested}, "required": ["o"]}
    small = {f"p{n}": {"type": "number", "minimum": 1, "maximum": 9.5} for n in range(15)}
    return {
        "512 properties": head + json.dumps(wide)[1:-1] + "}}}",
        "small integers": _listed("1", v, "]}}}}"),
        "whole doubles": _listed("2.0", v, "]}}}}"),
        "fractions": _listed("4.05", v, "]}}}}"),
        "small doubles": _listed("1.5e-6", v, "]}}}}")[: SIZE // 2].rpartition(",")[0] + "]}}}}",
        "texts": _listed('""', v.replace("number", "string"), "]}}}}"),
        "required names": _listed('"a"', head + '},"required":[', "]}}"),
        "ignored lists": _listed("[]", head + '}},"x":[', "]}"),
        "ignored doubles": _listed('{"":2.0}', head + '}},"x":[', "]}"),
        "16 levels": head + '"o":' + json.dumps(nested) + "}}}",
        "as much as is compiled": head + json.dumps(small)[1:-1] + "}}}",
    }


def worst_set() -> list[Raw]:
    """16 tools, of all kinds of the worst ones."""
    kinds = list(worst_tools().values())
    tools = [kinds[number % len(kinds)] % f"t{number}" for number in range(16)]
    return [Raw(tool.encode()) for tool in tools]


async def registration_ms(tools: list[Raw]) -> float:
    """CPU of one registration, in ms."""
    began = time.thread_time()
    admission = await ToolRegistry().replace(NoHost(), AppId("app_bench"), tools)
    took = (time.thread_time() - began) * 1_000
    assert not admission.rejected, admission.rejected
    return took


async def longest_hold_ms(tools: list[Raw]) -> float:
    """How long a registration keeps the loop from its other work, in ms of CPU at most."""
    longest = 0.0
    turn = time.thread_time()

    async def watch() -> None:
        nonlocal longest, turn
        while True:
            now = time.thread_time()
            longest, turn = max(longest, now - turn), now
            await asyncio.sleep(0)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    await registration_ms(tools)
    watching.cancel()
    return longest * 1_000


async def registrations(rounds: int) -> dict[str, float]:
    """Cold: schemas that were never seen. Cached: the same set again. Worst: the cap of all."""
    cold = [await registration_ms(ordinary_set(seed)) for seed in range(rounds)]
    same = ordinary_set(0)
    await registration_ms(same)
    cached = [await registration_ms(same) for _ in range(rounds)]
    holds = []
    for _ in range(rounds):
        compiled._compiled.cache_clear()  # noqa: SLF001 - each round is a cold one
        holds.append(await longest_hold_ms(worst_set()))
    return {"cold": median(cold), "cached": median(cached), "hold": median(holds)}


def hostile_ms() -> dict[str, float]:
    """How long it takes to say no to (or to admit) what is much too large, in ms of CPU."""
    properties = {f"p{n}": {"type": "string"} for n in range(5_000)}
    hostile = {
        "5,000 properties": {"type": "object", "properties": properties},
        "100,000 members": {
            "type": "object",
            "properties": {"v": {"type": "integer", "enum": list(range(100_000))}},
        },
        "names that are code": {
            "type": "object",
            "properties": {f"'\"{{x.__class__}}\n{n}": {"type": "string"} for n in range(500)},
        },
    }
    took = {}
    for name, schema in hostile.items():
        tool = json.dumps({"name": "t", "description": "t", "parameters": schema}).encode()
        began = time.thread_time()
        with suppress(Refusal):
            admit_tool(tool)
        took[name] = (time.thread_time() - began) * 1_000
    return took


def show(facts: dict[str, Any]) -> bool:
    """Print the tables and whether each goal is reached; return whether all are."""
    print(f"load {facts['load']:.1f}, {facts['rounds']} rounds, {os.cpu_count()} processors\n")
    names = list(next(iter(facts["checks"].values())))
    print("| µs of CPU for a check | " + " | ".join(names) + " |")
    print("| --- |" + " --- |" * len(names))
    for case, times in facts["checks"].items():
        print(f"| {case} | " + " | ".join(f"{us:.2f}" for us in times.values()) + " |")
    goals: list[tuple[str, float, float]] = []
    for case, times in facts["checks"].items():
        if "jsonschema" in times and case.endswith("accepted"):
            share = times["relay"] / times["jsonschema"]
            goals.append((f"share of jsonschema's time, {case}", share, 1 / 8))
    set_of = facts["registrations"]
    goals.append(("ms of CPU for 16 new tools", set_of["cold"], 25))
    goals.append(("ms of CPU for 16 known tools", set_of["cached"], 1))
    goals.append(("ms that 16 of the worst hold the loop", set_of["hold"], 5))
    goals += [(f"ms of CPU for {name}", ms, 50) for name, ms in facts["hostile"].items()]
    print("\n| goal | measured | at most | |\n| --- | --- | --- | --- |")
    for name, value, most in goals:
        print(f"| {name} | {value:.3f} | {most:.3f} | {'yes' if value <= most else 'NO'} |")
    return all(value <= most for _, value, most in goals)


def main() -> int:
    """Measure and print; exit 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=35, help="batches of each row (35)")
    parser.add_argument("--json", type=Path, help="a file for the facts")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    facts: dict[str, Any] = {"load": os.getloadavg()[0], "rounds": rounds}
    facts["checks"] = {
        case: interleave(list(rows_of(*question)), rounds, expected="accepted" in case)
        for case, question in CASES.items()
    }
    facts["registrations"] = asyncio.run(registrations(rounds))
    facts["hostile"] = hostile_ms()
    reached = show(facts)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
