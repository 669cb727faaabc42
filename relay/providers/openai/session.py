"""One session with OpenAI, over as many connections as it takes.

Only the agreement at a connection's start and `update_tools` wait for the server; the reader
waits for nobody. What happens on a connection is the `Dialogue`'s affair.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import count
from typing import Literal

import structlog

from relay.protocol.limits import Limits
from relay.providers import loss
from relay.providers import model as seam
from relay.providers.calls import OpenCalls
from relay.providers.declared import Declared
from relay.providers.line import Line
from relay.providers.loss import Lost
from relay.providers.memory import Memory, late_outcome
from relay.providers.openai import events as said
from relay.providers.openai import wire
from relay.providers.openai.dialogue import Dialogue
from relay.providers.openai.final import raise_if_final
from relay.providers.openai.options import OpenAIOptions, session_fields
from relay.providers.openai.setup import Setup
from relay.providers.rotation import Rotation
from relay.providers.secret import scrub
from relay.providers.websocket import SOUND_PIECE_BYTES, Endpoint, Upstream
from relay.tools.declarations import openai_declaration
from relay.tools.outcome import model_answer
from relay.tools.tool import CallId, Registered, ToolOutcome

_LATE_MAX = 32
_EXPIRED = "session_expired"
_log = structlog.get_logger(__name__)


class OpenAISession:
    """A LiveSession; `set_up`, `on_frame` and `on_disconnect` are for its line."""

    def __init__(
        self,
        config: seam.SessionConfig,
        *,
        options: OpenAIOptions,
        endpoint: Endpoint,
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._endpoint = endpoint
        self._line = Line(endpoint, limits)
        self._declared = Declared(
            config.tools, dialect=openai_declaration, at_most=limits.provider_tools_max
        )
        fields = session_fields(options, config.instructions)
        self._setup = Setup(self._declared, fields, manual=options.vad == "none")
        self._turn_ids = (f"turn_{config.session_id[-8:]}_{n}" for n in count(1))
        self._calls = OpenCalls()
        self._memory = Memory(limits)
        self._late: deque[str] = deque(maxlen=_LATE_MAX)  # typed turns for the next connection
        self._upstream: Upstream | None = None
        self._dialogue: Dialogue | None = None
        self._was_ready = False
        self._ignored = 0
        self._updated: asyncio.Future[seam.ToolUpdate] | None = None
        self._rotation = Rotation(after_s=options.rotate_after_s, on_due=self._use_idle_moment)

    def events(self) -> AsyncIterator[seam.ModelEvent]:
        """Dial, and yield events until the session ends. Raises: SessionLost."""
        return self._line.events(self)

    async def send_audio(self, pcm: bytes) -> None:
        """Pass sound on; without a connection it is dropped."""
        for start in range(0, len(pcm), SOUND_PIECE_BYTES):
            if start:
                await asyncio.sleep(0)  # let the first pieces leave
            if self._upstream is not None:
                self._upstream.send_audio(wire.append(pcm[start : start + SOUND_PIECE_BYTES]))

    async def activity(self, kind: Literal["start", "end"]) -> None:
        """Push-to-talk; the first edge takes the end-pointing from the server for good."""
        self._setup.manual = True
        if self._dialogue is None:
            return
        self._dialogue.manual = True
        self._tell()
        if kind == "start":
            self._dialogue.press()
        else:
            self._dialogue.release()

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
        output = model_answer(outcome, limits=self._limits).decode()
        if self._dialogue is None or not self._calls.is_current(asked):
            await self.send_text(late_outcome(asked.name, output))
            return False
        self._dialogue.answer(asked, output)
        return True

    async def update_tools(self, tools: Sequence[Registered]) -> seam.ToolUpdate:
        """Tell the server at the next idle moment; ends when it has answered."""
        self._declared.replace(tools)
        if self._dialogue is None or self._setup.applied:
            return seam.ToolUpdate.APPLIED  # a new connection begins with the tools as they are
        self._updated = asyncio.get_running_loop().create_future()
        self._use_idle_moment()
        return await self._updated

    async def interrupt(self, played_ms: float | None) -> None:
        """Stop the answer, and say how much of it was heard."""
        if self._dialogue is not None:
            self._dialogue.interrupt(played_ms or 0.0)

    async def close(self) -> None:
        """End the session."""
        await self._line.close()

    # ---- the line -----------------------------------------------------------------------

    async def set_up(self, upstream: Upstream) -> Iterable[seam.ModelEvent]:
        """Wait for the server's first word, then agree on the session. Raises: Lost."""
        notices: list[seam.ModelEvent] = []
        await self._next(upstream, said.SessionCreated)
        while (update := self._setup.next_update()) is not None:
            upstream.send(update)
            event = await self._next(upstream, said.SessionUpdated)
            if isinstance(event, said.Failed):
                name = self._setup.refused(event)
                if name is None:
                    raise Lost(loss.REFUSED, self._sentence(event), retry=False)
                notices.append(self._left_out(name, event))
            else:
                self._setup.accepted()
        return [*self._begin(upstream), *notices]

    def on_frame(self, frame: str | bytes) -> Iterator[seam.ModelEvent]:
        """Follow one event of the server. Raises: Lost."""
        assert self._dialogue is not None
        event = wire.read(frame)
        match event:
            case said.SessionUpdated():
                self._setup.accepted()
                self._resolve_update()
            case said.Failed() if self._setup.is_answer(event):
                name = self._setup.refused(event)
                yield self._left_out(name, event)
                self._resolve_update()
            case said.Failed(code=code) if code == _EXPIRED:
                yield seam.SessionExpiring(time_left_ms=0.0)
            case said.Ignored():
                self._ignored += 1
            case _:
                yield from self._dialogue.on(event)
        self._use_idle_moment()

    def on_disconnect(self, lost: Lost | None) -> Iterator[seam.ModelEvent]:
        """Let go of everything that belongs to the connection."""
        dialogue, self._dialogue, self._upstream = self._dialogue, None, None
        self._rotation.end()
        self._setup.forget()
        self._calls.next_generation()
        if dialogue is not None:
            _log.info("connection_ended", ignored_events=self._ignored)
            yield from dialogue.end()

    async def _next(
        self, upstream: Upstream, wanted: type[said.SessionCreated | said.SessionUpdated]
    ) -> said.ServerEvent:
        """Read up to the wanted event or an error. Raises: Lost."""
        while (frame := await upstream.receive()) is not None:
            event = wire.read(frame)
            if isinstance(event, said.Failed):
                raise_if_final(event, self._endpoint.key)
                if wanted is said.SessionCreated:
                    raise Lost(loss.REFUSED, self._sentence(event), retry=False)
                return event
            if isinstance(event, wanted):
                return event
        raise Lost(loss.DROPPED, "the connection was closed", retry=True)

    def _begin(self, upstream: Upstream) -> Iterator[seam.ModelEvent]:
        self._upstream = upstream
        self._dialogue = Dialogue(
            send=upstream.send,
            calls=self._calls,
            memory=self._memory,
            turn_ids=self._turn_ids,
            key=self._endpoint.key,
        )
        self._dialogue.manual = self._setup.manual
        self._rotation.begin()
        self._dialogue.recall()
        yield seam.Resumed(state_kept=False) if self._was_ready else seam.Ready()
        self._was_ready = True
        while self._late:
            self._dialogue.say(self._late.popleft())
        self._resolve_update()

    def _use_idle_moment(self) -> None:
        if self._dialogue is None or self._upstream is None or not self._dialogue.idle:
            return
        if self._rotation.due:
            self._upstream.hang_up()
        else:
            self._tell()

    def _tell(self) -> None:
        update = self._setup.next_update()
        if update is not None and self._upstream is not None:
            self._upstream.send(update)

    def _resolve_update(self) -> None:
        if self._updated is None or self._updated.done() or not self._setup.settled:
            return
        applied = self._setup.applied
        self._updated.set_result(
            seam.ToolUpdate.APPLIED if applied else seam.ToolUpdate.NEXT_SESSION
        )

    def _left_out(self, name: str | None, failed: said.Failed) -> seam.ModelError:
        what = "a change of the session" if name is None else f"the tool {name}"
        reason = scrub(failed.message, self._endpoint.key)
        return seam.ModelError(code="tool-not-told", message=f"OpenAI refused {what}: {reason}")

    def _sentence(self, failed: said.Failed) -> str:
        return f"OpenAI refused the session: {scrub(failed.message, self._endpoint.key)}"
