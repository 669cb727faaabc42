"""Talking to the embedded voice in tests: the examples' tools, their sound, a conversation."""

import asyncio
import json
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from relay.extensions import _SPECS as EXTENSION_SPECS
from relay.miniapps.tool_specs import SPECS as MINI_APP_SPECS
from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel, wire
from relay.providers.embedded.session import EmbeddedSession, cards
from relay.tools.tool import (
    HostKind,
    Registered,
    ToolCall,
    ToolName,
    ToolSpec,
    ToolSucceeded,
    Waiting,
)

AUDIO = Path(__file__).parents[2] / "examples" / "audio"
COMMANDS: list[dict[str, Any]] = json.loads((AUDIO / "commands.json").read_text("utf-8"))
_ROOM = {"type": "string", "enum": ["kitchen", "living room", "bedroom"]}
_ROOM["description"] = "Which room"
_MINUTES = {"type": "number", "minimum": 0, "maximum": 600, "description": "Whole or part minutes"}
_SECONDS = {"type": "number", "minimum": 0, "maximum": 36000, "description": "Seconds to add"}
_LABEL = {"type": "string", "maxLength": 40, "description": "What the timer is for"}
_PERCENT = {"type": "number", "minimum": 0, "maximum": 100, "description": "Brightness"}


def spec(
    name: str, description: str, properties: dict[str, Any] | None = None, required: str = ""
) -> ToolSpec:
    """A declaration; `required` is a list of names in one string."""
    parameters: dict[str, Any] = {"type": "object", "properties": properties or {}}
    if required:
        parameters["required"] = required.split()
    return ToolSpec(name=ToolName(name), description=description, parameters=parameters)


EXAMPLE_TOOLS = {
    "scoreboard.html": [
        spec(
            "set_score",
            "Add points to a team on the scoreboard",
            {
                "team": {"type": "string", "enum": ["home", "away"]},
                "points": {"type": "number", "description": "Points to add"},
            },
            "team points",
        ),
        spec("reset_scores", "Set the score of both teams back to zero and start a new game"),
    ],
    "timer.html": [
        spec(
            "start_timer",
            "Start a countdown of the given minutes and seconds; a running one is replaced",
            {"minutes": _MINUTES, "seconds": _SECONDS, "label": _LABEL},
        ),
        spec("stop_timer", "Stop the running countdown"),
    ],
    "lights.html": [
        spec(
            "set_light",
            "Turn the light of a room on or off",
            {"room": _ROOM, "on": {"type": "boolean", "description": "true turns it on"}},
            "room on",
        ),
        spec(
            "set_brightness",
            "Set how bright the light of a room is, in percent; 0 turns it off",
            {"room": _ROOM, "percent": _PERCENT},
            "room percent",
        ),
    ],
}
BUILT_IN = [
    *EXTENSION_SPECS,
    *MINI_APP_SPECS,
    spec(
        "hash",
        "Compute the SHA-256 digest of a text of up to 8,192 bytes, as hex.",
        {"input": {"type": "string", "description": "Text to compute over."}},
        "input",
    ),
    spec(
        "diff",
        "Compare two texts line by line; tells the blocks of equal, deleted and inserted lines.",
        {
            "a": {"type": "string", "description": "The old text."},
            "b": {"type": "string", "description": "The new text."},
        },
        "a b",
    ),
]


class _Host:
    kind: HostKind = "mini-app"

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        raise AssertionError("these tests answer calls themselves")


def registered(specs: list[ToolSpec]) -> list[Registered]:
    """Declarations as a registry hands them out."""
    return [Registered(exposed_name=one.name, spec=one, host=_Host()) for one in specs]


ALL_SPECS = [*BUILT_IN, *(one for specs in EXAMPLE_TOOLS.values() for one in specs)]
ALL_TOOLS = registered(ALL_SPECS)
ALL_CARDS: list[wire.ToolCard] = cards(ALL_TOOLS)


def pcm_of(name: str) -> bytes:
    """An example's samples."""
    with wave.open(str(AUDIO / name)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        return file.readframes(file.getnframes())


class Conversation:
    """Drives one session and notes what it says; calls are answered with `result`."""

    BARRIER = "xyzzy plugh"
    QUIET = bytes(2 * 16_000)

    def __init__(self, session: EmbeddedSession) -> None:
        self.session = session
        self.events: list[seam.ModelEvent] = []
        self.result = b'{"ok":true,"currentScore":3}'
        self._changed = asyncio.Event()

    async def follow(self) -> None:
        async for event in self.session.events():
            self.events.append(event)
            self._changed.set()
            if isinstance(event, seam.ToolCallRequested):
                outcome = ToolSucceeded(result_json=self.result, duration_ms=1.0)
                assert await self.session.send_outcome(event.call_id, outcome)

    async def until(self, kind: type[seam.ModelEvent], count: int = 1) -> None:
        """Wait for the n-th event of a kind."""
        while len(self.of(kind)) < count:
            self._changed.clear()
            await self._changed.wait()

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def say(self, pcm: bytes, chunk_bytes: int = 640) -> None:
        """Stream sound and then quiet, faster than real time."""
        whole = pcm + self.QUIET
        for start in range(0, len(whole), chunk_bytes):
            await self.session.send_audio(whole[start : start + chunk_bytes])

    async def type(self, text: str) -> None:
        """Type a turn and wait for its end."""
        ended = len(self.of(seam.TurnEnded))
        await self.session.send_text(text)
        await self.until(seam.TurnEnded, ended + 1)

    async def settle(self) -> None:
        """Wait until everything said before has been answered: a typed turn comes after it."""
        await self.session.send_text(self.BARRIER)
        while not any(caption.text == self.BARRIER for caption in self.captions("user")):
            self._changed.clear()
            await self._changed.wait()
        while len(self.of(seam.TurnEnded)) < len(self.of(seam.TurnStarted)):
            self._changed.clear()
            await self._changed.wait()

    def captions(self, role: str, *, final: bool = True) -> list[Any]:
        """Of a speaker: the final ones, or those that came before them."""
        captions = [one for one in self.of(seam.TranscriptDelta) if one.role == role]
        return [caption for caption in captions if caption.final is final]

    def calls(self) -> list[tuple[str, object]]:
        return [(call.name, call.args) for call in self.of(seam.ToolCallRequested)]


@asynccontextmanager
async def conversation(
    model: EmbeddedModel, tools: list[Registered] | None = None, session_id: str = "session_1"
) -> AsyncIterator[Conversation]:
    """An open session that is ready."""
    config = seam.SessionConfig(
        session_id=session_id,
        instructions="",
        tools=ALL_TOOLS if tools is None else tools,
    )
    talk = Conversation(await model.open(config))
    async with asyncio.TaskGroup() as group:
        following = group.create_task(talk.follow())
        await talk.until(seam.Ready)
        yield talk
        await talk.session.close()
        await following
