"""The fake providers for people: they hear loudness only, and act and answer with a tone.

    python -m tests.fakes.openai_realtime --port 9301
    VOICEBOX_OPENAI_BASE_URL=ws://127.0.0.1:9301/v1 OPENAI_API_KEY=fake \\
        voicebox serve --provider openai

Typed text that names a tool's words calls that tool; anything said calls the next one.
"""

import argparse
import asyncio
import math
import struct
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any

import orjson

from tests.fakes.gemini_live import FakeGemini, GeminiConnection
from tests.fakes.openai_realtime import FakeOpenAI, OpenAIConnection

LOUD = 600
QUIET_S = 0.6
TONE = b"".join(
    struct.pack("<h", int(9_000 * math.sin(2 * math.pi * 440 * n / 24_000))) for n in range(9_600)
)
Json = dict[str, Any]


class Ear:
    """Notices in the sound so far that somebody began or stopped to speak."""

    def __init__(self, audio: bytearray, rate_hz: int) -> None:
        self._audio = audio
        self._rate_hz = rate_hz
        self._position = 0
        self._quiet_s = 0.0
        self.speaking = False

    def listen(self) -> str | None:
        """Read on; `started` or `stopped` when that happened."""
        end = len(self._audio) - len(self._audio) % 2
        samples = memoryview(bytes(self._audio[self._position : end])).cast("h")
        self._position = end
        if not len(samples):
            return None
        loudness = math.sqrt(sum(s * s for s in samples) / len(samples))
        self._quiet_s = 0.0 if loudness > LOUD else self._quiet_s + len(samples) / self._rate_hz
        if loudness > LOUD and not self.speaking:
            self.speaking = True
            return "started"
        if self.speaking and self._quiet_s > QUIET_S:
            self.speaking = False
            return "stopped"
        return None


def choose(tools: list[Json], text: str, turn: int) -> tuple[str, Json] | None:
    """A tool and arguments that fit its schema: the one whose words were typed, else the next."""
    if not tools:
        return None
    words = set(text.lower().split())
    named = [one for one in tools if words & set(one["name"].lower().split("_"))]
    tool = named[0] if named else tools[turn % len(tools)]
    return tool["name"], sample(tool.get("parameters", {"type": "object"}))


def sample(schema: Json) -> Any:
    """A value that fits a schema of either dialect."""
    if schema.get("enum"):
        return schema["enum"][0]
    match str(schema.get("type", "object")).lower():
        case "object":
            properties = schema.get("properties", {})
            return {name: sample(properties[name]) for name in schema.get("required", [])}
        case "array":
            return []
        case "boolean":
            return True
        case "number" | "integer":
            return schema.get("minimum", 3)
        case _:
            return "text".ljust(schema.get("minLength", 0))


async def play_openai(peer: OpenAIConnection) -> None:
    """Take part in one OpenAI session until it is over."""

    async def spoken() -> None:
        await peer.speech_stopped()
        await peer.heard("(something was said)")
        await peer.volunteer()

    await peer.ready()
    ear = Ear(peer.audio, 24_000)
    await _until_closed(peer, _listen(ear, peer.speech_started, spoken), _answer_openai(peer))


async def _answer_openai(peer: OpenAIConnection) -> None:
    called = False
    for turn in count():
        response = await peer.asked()
        items = [one["item"] for one in peer.of("conversation.item.create")]
        texts = [item["content"][0]["text"] for item in items if item["type"] == "message"]
        chosen = None if called else choose(peer.session["tools"], " ".join(texts[-1:]), turn)
        called = chosen is not None
        if chosen is not None:
            await response.call(chosen[0], orjson.dumps(chosen[1]).decode())
        else:
            await response.speak(TONE, "Done.")
        await response.done()


async def play_gemini(peer: GeminiConnection) -> None:
    """Take part in one Gemini session until it is over."""

    async def spoken() -> None:
        await peer.heard("(something was said)")
        await _act(peer, "")

    await peer.ready()
    ear = Ear(peer.audio, 16_000)
    await _until_closed(peer, _listen(ear, peer.interrupted, spoken), _read_texts(peer))


async def _read_texts(peer: GeminiConnection) -> None:
    position = 0
    while True:
        await asyncio.sleep(0.05)
        for text in peer.texts[position:]:
            position += 1
            await _act(peer, text)


async def _act(peer: GeminiConnection, text: str) -> None:
    assert peer.setup is not None
    declared = [one for tool in peer.setup.get("tools", []) for one in tool["functionDeclarations"]]
    chosen = choose([one for one in declared if one["name"] in peer.tools], text, len(peer.answers))
    if chosen is not None:
        await peer.call(chosen)
        await peer.until(lambda: not peer.pending)
    await peer.speak(TONE, "Done.")
    await peer.turn_complete()


async def _until_closed(
    peer: OpenAIConnection | GeminiConnection, *parts: Coroutine[Any, Any, None]
) -> None:
    tasks = [asyncio.create_task(part) for part in parts]
    await peer.closed.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _listen(
    ear: Ear,
    started: Callable[[], Awaitable[None]],
    stopped: Callable[[], Awaitable[None]],
) -> None:
    while True:
        await asyncio.sleep(0.05)
        match ear.listen():
            case "started":
                await started()
            case "stopped":
                await stopped()


async def _serve(
    server: FakeOpenAI | FakeGemini, play: Callable[[Any], Awaitable[None]], hint: str
) -> None:
    async with server, asyncio.TaskGroup() as group:
        _tell(f"listening; start the relay with\n  {hint.format(base=server.base_url)}")
        while True:
            group.create_task(_one(play, await server.connection()))


async def _one(play: Callable[[Any], Awaitable[None]], connection: Any) -> None:
    _tell("a session begins")
    with suppress(AssertionError):  # it was over before it began
        await play(connection)
    _tell(" ".join(["a session ended", *connection.faults]))


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _port() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    port: int = parser.parse_args().port
    return port


def serve_openai() -> None:
    """Serve until Ctrl-C."""
    hint = "VOICEBOX_OPENAI_BASE_URL={base} OPENAI_API_KEY=fake voicebox serve --provider openai"
    _run(_serve(FakeOpenAI(key="fake", port=_port()), play_openai, hint))


def serve_gemini() -> None:
    """Serve until Ctrl-C."""
    hint = "VOICEBOX_GEMINI_BASE_URL={base} GEMINI_API_KEY=fake voicebox serve --provider gemini"
    _run(_serve(FakeGemini(key="fake", port=_port()), play_gemini, hint))


def _run(serving: Coroutine[Any, Any, None]) -> None:
    with suppress(KeyboardInterrupt):
        asyncio.run(serving)
