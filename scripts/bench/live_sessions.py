#!/usr/bin/env python3
"""Hold many sessions through the fake providers at once; look for cross-talk and leaks.

    python scripts/bench/live_sessions.py --sessions 100 --seconds 60

Each session types a sentence of its own, has a tool called and hears an answer, again and again.
Afterwards no socket and no task may be left. Prints what was measured; fails when something mixed.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import aiohttp
from aiohttp import web

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from relay.logs import configure_logs
from relay.providers.model import LiveModel
from relay.server.app import make_app
from relay.settings import read_settings
from tests.fakes.gemini_live import FakeGemini, GeminiConnection
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection
from tests.fakes.remote import gemini_model, openai_model

TOKEN = "vbx_" + "0" * 48
SOUND = b"\1\0" * 4_800  # 200 ms
PAUSE_S = 0.5
SETTLE_S = 1.0


async def answer_openai(peer: OpenAIConnection) -> None:
    """Call a tool, then repeat what was typed."""
    await peer.ready()
    while True:
        first = await peer.asked()
        await first.call("list_extensions", "{}")
        await first.done()
        second = await peer.asked()
        items = [one["item"] for one in peer.of("conversation.item.create")]
        texts = [one["content"][0]["text"] for one in items if one["type"] == "message"]
        await second.speak(SOUND, texts[-1])
        await second.done()
        peer.received.clear()


async def answer_gemini(peer: GeminiConnection) -> None:
    """Call a tool, then repeat what was typed."""
    await peer.ready()
    while True:
        await peer.until(lambda: bool(peer.texts))
        await peer.call(("list_extensions", None))
        await peer.until(lambda: not peer.pending)
        await peer.speak(SOUND, peer.texts.pop())
        await peer.turn_complete()
        peer.received.clear()


async def converse(
    http: aiohttp.ClientSession, url: str, number: int, until: float, times: list[float]
) -> int:
    """One client; returns its turns. Raises: AssertionError when it hears another's answer."""
    provider = ("openai", "gemini")[number % 2]
    turns = 0
    async with http.ws_connect(url, max_msg_size=0) as socket:
        await socket.send_json(
            {"type": "hello", "token": TOKEN, "room": f"room_{number % 8}", "provider": provider}
        )
        await _wait(socket, '"ready"')
        while monotonic() < until:
            mine = f"sentence {number} of turn {turns}"
            began = monotonic()
            await socket.send_json({"type": "text", "text": mine})
            told = await _turn(socket, began, times)
            assert mine in told, f"session {number} heard {told!r}"
            turns += 1
            await asyncio.sleep(PAUSE_S)
        await socket.send_json({"type": "stop"})
        await _wait(socket, '"closed"')
    return turns


async def _wait(socket: "aiohttp.ClientWebSocketResponse[bool]", word: str) -> str:
    while True:
        message = await socket.receive(timeout=20)
        if isinstance(message.data, str) and word in message.data:
            return message.data


async def _turn(
    socket: "aiohttp.ClientWebSocketResponse[bool]", began: float, times: list[float]
) -> str:
    """Read up to the end of the turn; returns what the answer says."""
    said, heard = "", False
    while True:
        message = await socket.receive(timeout=20)
        if isinstance(message.data, bytes):
            if not heard:
                times.append(monotonic() - began)
            heard = True
        elif '"role":"assistant"' in message.data:
            said = message.data
        elif '"turn-complete"' in message.data and heard:
            return said


async def measure(sessions: int, seconds: float, folder: Path) -> bool:
    """Run the sessions and print; whether nothing was left behind."""
    async with FakeOpenAI() as openai, FakeGemini() as gemini:
        models: dict[str, LiveModel] = {
            "openai": openai_model(openai),
            "gemini": gemini_model(gemini),
        }
        settings = read_settings(
            {"HOME": str(folder), "VOICEBOX_WASM_SHELF_DIR": str(folder / "none")},
            provider="openai",
        )
        runner = web.AppRunner(make_app(settings, token=TOKEN, models=models))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/live"
        await _all(2, 0.1, url, openai, gemini)  # what a first session leaves is no leak
        await asyncio.sleep(SETTLE_S)
        before = (len(asyncio.all_tasks()), _files())
        times, turns = await _all(sessions, seconds, url, openai, gemini)
        await asyncio.sleep(SETTLE_S)
        after = (len(asyncio.all_tasks()), _files())
        faults = openai.faults + gemini.faults
        left = len(openai.open) + len(gemini.open)
        await runner.cleanup()
    ordered = sorted(times)
    print(f"sessions {sessions}, turns {turns}, faults {len(faults)}")
    print(f"first sound: median {statistics.median(ordered) * 1000:.0f} ms, ", end="")
    print(f"95th percentile {ordered[int(len(ordered) * 0.95)] * 1000:.0f} ms")
    print(f"tasks {before[0]} -> {after[0]}, files {before[1]} -> {after[1]}, upstream {left}")
    return not faults and left == 0 and after[0] <= before[0] and after[1] <= before[1] + 2


def _files() -> int:
    """Open descriptors but those of spare workers: a socket and a handle each, as they come."""
    held = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            held.append(str(entry.readlink()))
    return len(held) - 2 * held.count("anon_inode:[pidfd]")


async def _all(
    sessions: int, seconds: float, url: str, openai: FakeOpenAI, gemini: FakeGemini
) -> tuple[list[float], int]:
    times: list[float] = []
    until = monotonic() + seconds
    answering = [
        asyncio.create_task(_answer_all(openai, answer_openai)),
        asyncio.create_task(_answer_all(gemini, answer_gemini)),
    ]
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http, asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(converse(http, url, number, until, times))
            for number in range(sessions)
        ]
    for task in answering:
        task.cancel()
    await asyncio.gather(*answering, return_exceptions=True)
    return times, sum(task.result() for task in tasks)


async def _answer_all(server: Any, answer: Callable[[Any], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as group:
        while True:
            group.create_task(_until_closed(await server.connection(), answer))


async def _until_closed(peer: Any, answer: Callable[[Any], Awaitable[None]]) -> None:
    task = asyncio.create_task(answer(peer))
    await peer.closed.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    configure_logs(level="error", as_json=False)
    with tempfile.TemporaryDirectory() as folder:
        clean = asyncio.run(measure(args.sessions, args.seconds, Path(folder)))
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
