"""The scripted model behind the seam. It hears lengths and words, never the sound itself."""

import asyncio
import math
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import count
from typing import Literal

from relay.protocol.audio import AudioFormat
from relay.protocol.refusals import Refusal
from relay.providers import model as seam
from relay.providers.script.script import Call, Hear, Script, Step, Tone
from relay.tools.arguments import parse_arguments
from relay.tools.tool import CallId, Registered, ToolOutcome

RATE_HZ = 24_000
_FORMAT = AudioFormat(RATE_HZ)
_HEARD_TEXTS_MAX = 64
_CAPABILITIES = seam.Capabilities(
    tool_update=True, tool_cancel=False, audio_during_tool=True, resume=False, manual_vad=False
)


class ScriptModel:
    """Opens sessions that play `load()`, which is asked anew for each of them."""

    name = "script"
    model = "script"
    input_rate_hz = RATE_HZ
    output_rate_hz = RATE_HZ
    capabilities = _CAPABILITIES
    ready = True
    trouble = None

    def __init__(self, load: Callable[[], Script]) -> None:
        self._load = load

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""

    async def open(self, config: seam.SessionConfig) -> "ScriptSession":
        """Open a session. Raises: Refusal `provider-unavailable`."""
        script = await asyncio.to_thread(self._load)
        return ScriptSession(script, config.session_id)


class ScriptSession:
    """One playing of a script."""

    def __init__(self, script: Script, session_id: str) -> None:
        self._script = script
        self._id = session_id
        self._audio_ms = 0.0
        self._texts: list[str] = []
        self._changed = asyncio.Event()
        self._closed = False
        self._turns = count(1)
        self._turn_id: str | None = None
        self._cut = False
        self._waiting: set[CallId] = set()
        self._calls = count(1)

    async def events(self) -> AsyncIterator[seam.ModelEvent]:
        """Play the script; ends on close."""
        yield seam.Ready()
        position = 0
        while not self._closed and position < len(self._script.steps):
            step = self._script.steps[position]
            position = 0 if step.repeat else position + 1
            async for event in self._play(step):
                yield event
        while not self._closed:
            await self._change()

    async def send_audio(self, pcm: bytes) -> None:
        """Count the sound's length."""
        self._audio_ms += _FORMAT.ms_of(len(pcm))
        self._changed.set()

    async def activity(self, kind: Literal["start", "end"]) -> None:
        """Edges mean nothing to a script."""

    async def send_text(self, text: str) -> None:
        """Hear a typed turn; the oldest of too many unheard ones is forgotten."""
        self._texts = [*self._texts, text][-_HEARD_TEXTS_MAX:]
        self._changed.set()

    async def send_outcome(self, call_id: CallId, outcome: ToolOutcome) -> bool:
        """Let a waiting step go on."""
        self._waiting.discard(call_id)
        self._changed.set()
        return not self._closed

    async def update_tools(self, tools: Sequence[Registered]) -> seam.ToolUpdate:
        """A script knows what it will call."""
        return seam.ToolUpdate.APPLIED

    async def interrupt(self, played_ms: float | None) -> None:
        """Say nothing more in this turn."""
        self._cut = True

    async def close(self) -> None:
        """End the session."""
        self._closed = True
        self._changed.set()

    async def _change(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    async def _play(self, step: Step) -> AsyncIterator[seam.ModelEvent]:
        if step.hear is not None:
            await self._hear(step.hear)
            return
        if step.repeat:
            await asyncio.sleep(0)  # a script that only repeats must not hold the loop
            return
        if self._turn_id is None:
            self._turn_id = f"turn_{self._id[-8:]}_{next(self._turns)}"
            self._cut = False
            yield seam.TurnStarted(turn_id=self._turn_id)
        for event in await self._said(step, self._turn_id):
            yield event
        if step.call is not None:
            call_id = CallId(f"call_{self._id[-8:]}_{next(self._calls)}")
            self._waiting.add(call_id)
            yield _requested(step.call, call_id, self._turn_id)
            while step.call.wait and call_id in self._waiting and not self._closed:
                await self._change()
        if step.end:
            self._turn_id = None

    async def _said(self, step: Step, turn_id: str) -> list[seam.ModelEvent]:
        said: list[seam.ModelEvent] = []
        if step.user is not None:
            said.append(_caption("user", step.user, turn_id))
        if step.assistant is not None:
            said.append(_caption("assistant", step.assistant, turn_id))
        if step.tone is not None and not self._cut:
            said.append(seam.AudioOut(turn_id=turn_id, pcm=await _sound(step.tone)))
        if step.end:
            said.append(seam.TurnEnded(turn_id=turn_id))
        return said

    async def _hear(self, wanted: Hear) -> None:
        until_ms = None if wanted.audio_ms is None else self._audio_ms + wanted.audio_ms
        while not self._closed:
            if until_ms is not None and self._audio_ms >= until_ms:
                return
            for position, text in enumerate(self._texts):
                if wanted.text is not None and wanted.text in text:
                    del self._texts[: position + 1]
                    return
            await self._change()


def _caption(role: Literal["user", "assistant"], text: str, turn_id: str) -> seam.TranscriptDelta:
    return seam.TranscriptDelta(role=role, text=text, final=True, turn_id=turn_id)


def _requested(call: Call, call_id: CallId, turn_id: str) -> seam.ToolCallRequested:
    args: object = call.args if call.args is not None else {}
    error = None
    if call.args_text is not None:
        try:
            args = parse_arguments(call.args_text)
        except Refusal as refusal:
            error = refusal.why
    return seam.ToolCallRequested(
        call_id=call_id, name=call.name, args=args, args_error=error, turn_id=turn_id
    )


async def _sound(tone: Tone) -> bytes:
    return await asyncio.to_thread(_sine, tone)  # a minute of it takes a while


def _sine(tone: Tone) -> bytes:
    samples = int(RATE_HZ * tone.ms / 1000)
    step = 2 * math.pi * tone.hz / RATE_HZ
    return struct.pack(f"<{samples}h", *(int(9_000 * math.sin(step * n)) for n in range(samples)))
