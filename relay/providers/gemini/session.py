"""One session with Gemini, over as many connections as it takes.

Only the start of a connection and `update_tools` wait for the server; the reader waits for
nobody. What happens on a connection is the `Dialogue`'s affair.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import count
from typing import Literal

from relay.protocol.limits import Limits
from relay.providers import loss
from relay.providers import model as seam
from relay.providers.calls import OpenCalls
from relay.providers.declared import Declaration, Declared
from relay.providers.gemini import events as said
from relay.providers.gemini import wire
from relay.providers.gemini.dialogue import Dialogue
from relay.providers.gemini.options import GeminiOptions
from relay.providers.gemini.profile import Profile
from relay.providers.line import Line
from relay.providers.loss import Lost
from relay.providers.memory import Memory, late_outcome
from relay.providers.rotation import Rotation
from relay.providers.websocket import SOUND_PIECE_BYTES, Endpoint, Upstream
from relay.tools.declarations import gemini_declaration
from relay.tools.outcome import model_answer
from relay.tools.tool import CallId, Registered, ToolOutcome

_LATE_MAX = 32
_TOOL_AT_FAULT = re.compile(r"function_?[dD]eclarations\[(\d+)\]")


class GeminiSession:
    """A LiveSession; `set_up`, `on_frame` and `on_disconnect` are for its line."""

    def __init__(
        self,
        config: seam.SessionConfig,
        *,
        options: GeminiOptions,
        profile: Profile,
        endpoint: Endpoint,
        limits: Limits,
    ) -> None:
        self._options = options
        self._profile = profile
        self._limits = limits
        self._line = Line(endpoint, limits)
        self._instructions = f"{config.instructions}\n{options.instructions}".strip()
        self._declared = Declared(
            config.tools, dialect=gemini_declaration, at_most=limits.provider_tools_max
        )
        self._told: list[Declaration] = []
        self._turn_ids = (f"turn_{config.session_id[-8:]}_{n}" for n in count(1))
        self._calls = OpenCalls()
        self._memory = Memory(limits)
        self._late: deque[str] = deque(maxlen=_LATE_MAX)  # typed turns for the next connection
        self._notices: list[seam.ModelEvent] = []
        self._handle: str | None = None
        self._upstream: Upstream | None = None
        self._dialogue: Dialogue | None = None
        self._was_ready = False
        self._updated: asyncio.Future[seam.ToolUpdate] | None = None
        self._rotation = Rotation(
            after_s=options.rotate_after_s or profile.rotate_after_s, on_due=self._use_idle_moment
        )

    def events(self) -> AsyncIterator[seam.ModelEvent]:
        """Dial, and yield events until the session ends. Raises: SessionLost."""
        return self._line.events(self)

    async def send_audio(self, pcm: bytes) -> None:
        """Pass sound on; without a connection, or where a call forbids it, it is dropped."""
        for start in range(0, len(pcm), SOUND_PIECE_BYTES):
            if start:
                await asyncio.sleep(0)  # let the first pieces leave
            if self._upstream is not None and not self._is_deaf():
                self._upstream.send_audio(wire.audio(pcm[start : start + SOUND_PIECE_BYTES]))

    async def activity(self, kind: Literal["start", "end"]) -> None:
        """Push-to-talk; a session that finds the edges itself is only told the end."""
        if self._upstream is None:
            return
        if self._options.vad == "none":
            self._upstream.send(wire.edge("activityStart" if kind == "start" else "activityEnd"))
        elif kind == "end":
            self._upstream.send(wire.stream_end())

    async def send_text(self, text: str) -> None:
        """Add a typed turn that wants an answer."""
        if self._dialogue is None:
            self._late.append(text)
        else:
            self._dialogue.say(text)

    async def send_outcome(self, call_id: CallId, outcome: ToolOutcome) -> bool:
        """Answer a call; on another connection than the one that asked it is told as text."""
        asked = self._calls.take(call_id)
        if asked is None:
            return False
        answer = model_answer(outcome, limits=self._limits)
        if self._dialogue is None or not self._calls.is_current(asked):
            await self.send_text(late_outcome(asked.name, answer.decode()))
            return False
        self._dialogue.answer(asked, answer)
        self._use_idle_moment()
        return True

    async def update_tools(self, tools: Sequence[Registered]) -> seam.ToolUpdate:
        """Tell the server at the next idle moment; ends when it has been told.

        Where that takes a new connection, one that could not take the memory along is not
        begun for it: the tools are told with the next.
        """
        self._declared.replace(tools)
        if self._dialogue is None or not self._is_stale():
            return seam.ToolUpdate.APPLIED
        if not self._profile.tools_in_place and self._handle is None:
            return seam.ToolUpdate.NEXT_SESSION
        self._updated = asyncio.get_running_loop().create_future()
        self._use_idle_moment()
        return await self._updated

    async def interrupt(self, played_ms: float | None) -> None:
        """Let nothing more of the answer through; the server truncates by itself."""
        if self._dialogue is not None:
            self._dialogue.interrupt()

    async def close(self) -> None:
        """End the session."""
        await self._line.close()

    # ---- the line -----------------------------------------------------------------------

    async def set_up(self, upstream: Upstream) -> Iterable[seam.ModelEvent]:
        """Speak first, and wait for the answer. Raises: Lost."""
        told = self._declared.told()
        recalls = self._was_ready and self._handle is None and bool(self._memory.turns())
        wanted = wire.Setup(
            model=self._options.model,
            instructions=self._instructions,
            voice=self._options.voice,
            tools=told,
            manual=self._options.vad == "none",
            handle=self._handle,
            history_follows=recalls and self._profile.told_history_first,
        )
        upstream.send(wire.setup(wanted))
        try:
            while (frame := await upstream.receive()) is not None:
                if said.SetupComplete() in wire.read(frame):
                    return list(self._begin(upstream, told))
        except Lost as lost:
            raise self._mended(lost) from None
        raise Lost(loss.DROPPED, "the connection was closed", retry=True)

    def on_frame(self, frame: str | bytes) -> Iterator[seam.ModelEvent]:
        """Follow one message of the server."""
        assert self._dialogue is not None
        for event in wire.read(frame):
            match event:
                case said.Handle(handle=handle):
                    self._handle = handle
                case said.GoingAway(time_left_ms=time_left_ms):
                    self._rotation.ask()
                    yield seam.SessionExpiring(time_left_ms=time_left_ms)
                case _:
                    yield from self._dialogue.on(event)
        if self._is_deaf() and self._upstream is not None:
            self._upstream.drop_audio()  # sound that was on its way when the call came
        self._use_idle_moment()

    def on_disconnect(self, lost: Lost | None) -> Iterator[seam.ModelEvent]:
        """Let go of everything that belongs to the connection."""
        dialogue, self._dialogue, self._upstream = self._dialogue, None, None
        self._rotation.end()
        self._calls.next_generation()
        if dialogue is not None:
            yield from dialogue.end()

    def _mended(self, lost: Lost) -> Lost:
        """Remove what a connection was refused for, if that can be told."""
        if self._handle is not None and lost.code in {loss.REFUSED, loss.FAILED}:
            self._handle = None  # used up, too old, or unknown: begin anew and tell the history
            return Lost(lost.code, lost.why, retry=True, mended=True)
        found = _TOOL_AT_FAULT.search(lost.why)
        name = None if found is None else self._declared.refuse(int(found[1]))
        if name is None:
            return lost
        why = f"Gemini refused the tool {name}: {lost.why}"
        self._notices.append(seam.ModelError(code="tool-not-told", message=why))
        return Lost(lost.code, lost.why, retry=True, mended=True)

    def _begin(self, upstream: Upstream, told: list[Declaration]) -> Iterator[seam.ModelEvent]:
        self._upstream, self._told = upstream, told
        self._dialogue = dialogue = Dialogue(
            send=upstream.send,
            profile=self._profile,
            calls=self._calls,
            memory=self._memory,
            turn_ids=self._turn_ids,
        )
        self._rotation.begin()
        if self._was_ready:
            kept = self._handle is not None
            if not kept:
                dialogue.recall()
            yield seam.Resumed(state_kept=kept)
        else:
            self._was_ready = True
            yield seam.Ready()
        yield from self._notices
        self._notices.clear()
        while self._late:
            dialogue.say(self._late.popleft())
        self._resolve_update()

    def _is_deaf(self) -> bool:
        return not self._profile.hears_during_call and self._calls.pending

    def _is_stale(self) -> bool:
        return self._declared.told() != self._told

    def _use_idle_moment(self) -> None:
        if self._dialogue is None or self._upstream is None or not self._dialogue.idle:
            return
        if self._rotation.due:
            self._upstream.hang_up()
        elif self._is_stale() and self._profile.tools_in_place:
            self._told = self._declared.told()
            self._upstream.send(wire.update_tools(self._told))
            self._resolve_update()
        elif self._is_stale() and self._handle is not None:
            self._upstream.hang_up()

    def _resolve_update(self) -> None:
        if self._updated is not None and not self._updated.done():
            self._updated.set_result(seam.ToolUpdate.APPLIED)
