"""Mixed load for minutes: does anything grow?

    .venv/bin/python scripts/bench/soak.py --minutes 10

One relay in a process of its own; against it, all at once: voice sessions by the script provider
(each speaks, calls tools of all three hosts, hears an answer and leaves), calls over HTTP, a page
that registers anew and reconnects, and dashboards that come and go. Prints resident memory, open
descriptors, tasks and the 99th percentile of a call, by quarter of the time; the first quarter
warms up. Exit code 1 when memory, descriptors or tasks of the last quarter are over 5 % (and a
small constant) above those of the second.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import aiohttp

TOKEN = "vbx_" + "5" * 48
BEARER = {"Authorization": f"Bearer {TOKEN}"}
QUARTERS = 4
GROWTH_MAX = 0.05
# What breathes with the load of a moment, whatever its size
SLACK = {"rss MiB": 3.0, "descriptors": 12.0, "tasks": 24.0}
SCRIPT = {
    "steps": [
        {"hear": {"audioMs": 200}},
        {"user": "what was heard"},
        {"call": {"name": "echo", "args": {"text": "hello"}}},
        {"call": {"name": "hash", "args": {"input": "abc"}}},
        {"call": {"name": "list_extensions", "args": {}}},
        {"assistant": "the answer"},
        {"tone": {"ms": 200}},
        {"end": True},
        {"repeat": True},
    ]
}
ECHO = {
    "name": "echo",
    "description": "Say it again",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
}


class Sample(NamedTuple):
    """The relay at one moment."""

    rss_mib: float
    descriptors: int
    tasks: int


class Load:
    """What the relay is put through, and what was measured."""

    def __init__(self, http: aiohttp.ClientSession, address: str, pid: int) -> None:
        self.http = http
        self.address = address
        self.pid = pid
        self.samples: list[Sample] = []
        self.call_ms: list[tuple[int, float]] = []
        self.done = {"sessions": 0, "calls": 0, "registrations": 0, "observers": 0, "failures": 0}

    @asynccontextmanager
    async def socket(
        self, path: str, **hello: Any
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a socket that has said hello."""
        async with self.http.ws_connect(self.address + path) as socket:
            await socket.send_json({"type": "hello", "token": TOKEN, **hello})
            yield socket

    async def speak(self) -> None:
        """One voice session: a second of sound, one whole answer."""
        async with self.socket("/live") as socket:
            async for message in socket:
                if message.type is not aiohttp.WSMsgType.TEXT:
                    continue
                told = json.loads(message.data)
                if told.get("state") == "ready":
                    for _ in range(20):
                        await socket.send_bytes(bytes(960))
                        await asyncio.sleep(0.01)
                elif told.get("state") == "turn-complete":
                    self.done["sessions"] += 1
                    return

    async def call(self) -> None:
        """One call of the shelf over HTTP, and a short rest."""
        began = perf_counter()
        body = {"name": "hash", "args": {"input": "abc"}}
        async with self.http.post(self.address + "/api/call", json=body) as answer:
            told = await answer.json()
        if not told["ok"]:
            self.done["failures"] += 1
        self.done["calls"] += 1
        self.call_ms.append((len(self.samples), (perf_counter() - began) * 1_000))
        await asyncio.sleep(0.05)

    async def page(self) -> None:
        """A page for a while: registers, answers calls, registers anew, leaves."""
        with suppress(TimeoutError):
            async with asyncio.timeout(5), self.socket("/workspace") as socket:
                register = {"type": "register_tools", "appId": "app_soak", "tools": [ECHO]}
                await socket.send_json(register)
                async for message in socket:
                    told = json.loads(message.data)
                    if told["type"] == "call_tool":
                        answer = {"type": "tool_result", "callId": told["callId"], "ok": True}
                        await socket.send_json({**answer, "result": told["args"]})
                    elif told["type"] == "tools_registered":
                        self.done["registrations"] += 1
                        await asyncio.sleep(0.2)
                        await socket.send_json(register)

    async def observe(self) -> None:
        """A dashboard for two seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2), self.socket("/frames", last=50) as socket:
                async for _ in socket:
                    pass
        self.done["observers"] += 1

    async def sample(self) -> None:
        """Look at the relay from outside, twice a second."""
        async with self.http.get(self.address + "/metrics") as answer:
            found = re.search(r"^voicebox_tasks (\S+)", await answer.text(), re.MULTILINE)
        assert found is not None
        self.samples.append(
            Sample(
                rss_mib=_rss_mib(self.pid),
                descriptors=len(os.listdir(f"/proc/{self.pid}/fd")),  # noqa: PTH208 - count only
                tasks=int(float(found[1])),
            )
        )
        await asyncio.sleep(0.5)


def _rss_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _again(step: Callable[[], Awaitable[None]]) -> None:
    while True:
        await step()


async def soak(address: str, pid: int, *, minutes: float, voices: int) -> Load:
    """Load the relay for that time."""
    async with aiohttp.ClientSession(headers=BEARER) as http:
        load = Load(http, address, pid)
        steps = [load.sample, load.page, load.observe, load.observe, load.call, load.call]
        tasks = [asyncio.ensure_future(_again(step)) for step in [*steps, *[load.speak] * voices]]
        ended, _ = await asyncio.wait(
            tasks, timeout=minutes * 60, return_when=asyncio.FIRST_EXCEPTION
        )
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in ended:
            task.result()
        return load


def report(load: Load) -> bool:
    """Print the table; say whether it is flat."""
    size = max(len(load.samples) // QUARTERS, 1)
    rows: dict[str, list[float]] = {"rss MiB": [], "descriptors": [], "tasks": [], "p99 ms": []}
    for quarter in range(QUARTERS):
        samples = load.samples[quarter * size : (quarter + 1) * size]
        for name, values in zip(rows, zip(*samples, strict=True), strict=False):
            rows[name].append(statistics.median(values))
        first, last = quarter * size, (quarter + 1) * size
        inside = [ms for index, ms in load.call_ms if first <= index < last]
        rows["p99 ms"].append(sorted(inside)[int(len(inside) * 0.99)])
    print("| | " + " | ".join(f"quarter {number + 1}" for number in range(QUARTERS)) + " |")
    print("| --- " * (QUARTERS + 1) + "|")
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + " |")
    print("\n" + ", ".join(f"{count} {name}" for name, count in load.done.items()))
    grown = [
        name
        for name, slack in SLACK.items()
        if rows[name][-1] > rows[name][1] * (1 + GROWTH_MAX) + slack
    ]
    print("flat" if not grown else f"grew: {', '.join(grown)}")
    return not grown


def main() -> int:
    """Start a relay, load it, report."""
    parser = argparse.ArgumentParser(description="Mixed load for minutes: does anything grow?")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--voices", type=int, default=8, help="voice sessions at a time (8)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        script = Path(home) / "script.json"
        script.write_text(json.dumps(SCRIPT))
        environ = {"PATH": os.environ["PATH"], "HOME": home, "VOICEBOX_TOKEN": TOKEN}
        environ |= {"VOICEBOX_SCRIPT": str(script), "VOICEBOX_LOG_LEVEL": "warning"}
        command = [sys.executable, "-m", "relay", "serve", "--port", "0", "--provider", "script"]
        relay = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        try:
            assert relay.stdout is not None
            address = relay.stdout.readline().removeprefix("listening ").strip()
            load = asyncio.run(soak(address, relay.pid, minutes=args.minutes, voices=args.voices))
        finally:
            relay.terminate()
            relay.wait(timeout=15)
    return 0 if report(load) and not load.done["failures"] else 1


if __name__ == "__main__":
    sys.exit(main())
