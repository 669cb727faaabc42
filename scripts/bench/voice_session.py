"""One clip of the voice bench through the real engine process, and how soon it answers."""

import asyncio
import os
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import numpy as np
from msgspec import Struct, field
from voice_noise import RATE_HZ

from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel
from relay.tools.tool import HostKind, Registered, ToolName, ToolSpec, ToolSucceeded

_QUIET = bytes(2 * RATE_HZ)
# The last word in each session: agrees to what was read back, and else means nothing
_AGREED = "yes"
_READ_BACK = "I heard:"
_CHUNK_BYTES = 640
_SESSIONS = count(1)


class _Host:
    kind: HostKind = "mini-app"


class Heard(Struct):
    """What a clip led to."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    text: str = ""
    after_yes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    called_at: float | None = None
    spoke_at: float | None = None
    last_turn: str | None = None
    read_back: bool = False

    def note_caption(self, said: seam.TranscriptDelta) -> None:
        """What was understood, or answered; the bench's own last word opens the last turn."""
        if not said.final:
            return
        if said.role == "assistant":
            self.read_back = self.read_back or said.text.startswith(_READ_BACK)
        elif said.text == _AGREED:
            self.last_turn = said.turn_id
        else:
            self.text += said.text

    def note_call(self, call: seam.ToolCallRequested) -> None:
        """A call of the clip itself, or one that was agreed to."""
        self.called_at = self.called_at or monotonic()
        assert isinstance(call.args, dict)
        if self.last_turn is None:
            self.calls.append((call.name, call.args))
        elif self.read_back:
            self.after_yes.append((call.name, call.args))


async def heard_by(
    model: EmbeddedModel, pcm: bytes, tools: list[dict[str, Any]], *, live: bool = False
) -> Heard:
    """Stream a clip into a session of its own and note what comes of it."""
    specs = [
        ToolSpec(
            name=ToolName(tool["name"]),
            description=tool["description"],
            parameters=tool["parameters"],
        )
        for tool in tools
    ]
    registered = [
        Registered(exposed_name=spec.name, spec=spec, host=_Host())  # type: ignore[arg-type]
        for spec in specs
    ]
    config = seam.SessionConfig(
        session_id=f"bench_{next(_SESSIONS)}",
        instructions="",
        tools=registered,
        captions=False,
    )
    session = await model.open(config)
    heard, ready = Heard(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(_listen(session, heard, ready))
        await ready.wait()
        await _stream(session, pcm + _QUIET, live=live)
        await session.send_text(_AGREED)
        await listening
    await session.close()
    return heard


async def _stream(session: seam.LiveSession, pcm: bytes, *, live: bool) -> None:
    began = monotonic()
    for number, start in enumerate(range(0, len(pcm), _CHUNK_BYTES)):
        if live:
            due = began + (number + 1) * _CHUNK_BYTES / 2 / RATE_HZ
            await asyncio.sleep(max(0.0, due - monotonic()))
        await session.send_audio(pcm[start : start + _CHUNK_BYTES])


async def _listen(session: seam.LiveSession, heard: Heard, ready: asyncio.Event) -> None:
    """Note everything until the turn of the last word is over."""
    async for event in session.events():
        match event:
            case seam.Ready():
                ready.set()
            case seam.TranscriptDelta():
                heard.note_caption(event)
            case seam.ToolCallRequested(call_id=call_id):
                heard.note_call(event)
                outcome = ToolSucceeded(result_json=b'{"ok":true}', duration_ms=0.0)
                await session.send_outcome(call_id, outcome)
            case seam.AudioOut():
                heard.spoke_at = heard.spoke_at or monotonic()
            case seam.TurnEnded(turn_id=turn_id) if turn_id == heard.last_turn:
                return
            case seam.TurnEnded(reason=reason):
                heard.reasons.append(reason)
            case _:
                pass


# ---- times ------------------------------------------------------------------------------------


def cpu_s(model: EmbeddedModel) -> float:
    """What the engine process has used so far."""
    fields = Path(f"/proc/{model.engine.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def after_speech_ms(
    model: EmbeddedModel, pcm: bytes, tools: list[dict[str, Any]]
) -> tuple[float, float] | None:
    """Streamed in real time: from the last loud sample to the call, and to the first sound."""
    samples = np.abs(np.frombuffer(pcm, dtype="<i2").astype(np.int32))
    end_s = (int(np.flatnonzero(samples > 0.02 * samples.max())[-1]) + 1) / RATE_HZ
    started = monotonic()
    heard = await heard_by(model, pcm, tools, live=True)
    if heard.called_at is None or heard.spoke_at is None:
        return None
    ended = started + end_s
    return 1000 * (heard.called_at - ended), 1000 * (heard.spoke_at - ended)


def p50_p90(values: list[float]) -> list[int]:
    """Both, rounded; empty for nothing."""
    ordered = sorted(values)
    return [round(median(ordered)), round(ordered[int(0.9 * (len(ordered) - 1))])] if values else []
