"""One conversation with the engine, as a `LiveSession`.

It outlives an engine: when one dies, open turns are ended, and the next engine is told what
this session is. What was being said then is lost, and said so.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal, assert_never

from relay.providers import model as seam
from relay.providers.embedded import wire
from relay.providers.embedded.process import EngineProcess
from relay.tools.tool import CallId, Registered, ToolOutcome, ToolSucceeded

_EVENTS_MAX = 4_096
# Sound is taken in pieces of about this length, so that one message can't hold up the others
_PIECE_BYTES = 64 * 1024
_RESULT_MAX_BYTES = 64 * 1024
# Waking the engine costs as much as listening: while nobody speaks it is done half as often
_EARS_IN_SILENCE = 2
_LOST_CODE = "engine-lost"


class EmbeddedSession:
    """Made by `EmbeddedModel.open`."""

    def __init__(self, engine: EngineProcess, config: seam.SessionConfig) -> None:
        self._engine = engine
        self._id = config.session_id
        self._tools = cards(config.tools)
        self._config = config
        self._events: asyncio.Queue[seam.ModelEvent | seam.SessionLost | None] = asyncio.Queue()
        self._greeted = False
        self._ready_told = False
        self._opened = False
        self._closed = False
        self._speaking = False
        self._unheard = b""
        self._turns: dict[str, None] = {}
        self._cut: set[str] = set()
        self._calls: set[CallId] = set()

    async def begin(self) -> None:
        """Join the engine, now or as soon as it has loaded."""
        self._engine.listen(self._id, self)
        if self._engine.loaded:
            self.on_loaded()

    async def events(self) -> AsyncIterator[seam.ModelEvent]:
        """Yield events until close. Raises: SessionLost."""
        while (event := await self._events.get()) is not None:
            if isinstance(event, seam.SessionLost):
                raise event
            if isinstance(event, seam.Ready | seam.Resumed):
                self._opened = await self._engine.send(
                    wire.Open(
                        self._id,
                        self._tools,
                        self._config.captions,
                        self._config.echo_cancellation,
                    )
                )
                if not self._opened:
                    continue  # it died again; the next engine is waited for
                event = event if self._ready_told else seam.Ready()
                self._ready_told = True
            yield event

    async def send_audio(self, pcm: bytes) -> None:
        """Hear samples at the input rate; while no engine is there they are dropped."""
        if not self._opened:
            self._unheard = b""
            return
        sound = self._unheard + pcm
        least = 1 if self._speaking else _EARS_IN_SILENCE
        ears = len(sound) // wire.EAR_BYTES
        whole = ears * wire.EAR_BYTES if ears >= least else 0
        self._unheard = sound[whole:]
        for start in range(0, whole, _PIECE_BYTES):
            await self._engine.send(
                wire.Hear(self._id, sound[start : min(start + _PIECE_BYTES, whole)])
            )

    async def activity(self, kind: Literal["start", "end"]) -> None:
        """Take a push-to-talk edge."""
        if self._unheard:
            await self._say(wire.Hear(self._id, self._unheard))
            self._unheard = b""
        await self._say(wire.Activity(self._id, kind))

    async def send_text(self, text: str) -> None:
        """Take a typed turn."""
        if not await self._say(wire.Typed(self._id, text)):
            self._put(seam.ModelError(code=_LOST_CODE, message="the speech engine is restarting"))

    async def send_outcome(self, call_id: CallId, outcome: ToolOutcome) -> bool:
        """Answer a call of this engine; False when the engine that asked is gone."""
        if call_id not in self._calls:
            return False
        self._calls.discard(call_id)
        return await self._say(_outcome(self._id, call_id, outcome))

    async def update_tools(self, tools: Sequence[Registered]) -> seam.ToolUpdate:
        """The engine knows them before it hears anything that is sent later."""
        self._tools = cards(tools)
        await self._say(wire.Tools(self._id, self._tools))
        return seam.ToolUpdate.APPLIED

    async def interrupt(self, played_ms: float | None) -> None:
        """Say nothing more in the turns that are open."""
        self._cut.update(self._turns)
        await self._say(wire.Interrupt(self._id))

    async def close(self) -> None:
        """End the session."""
        if not self._closed:
            self._closed = True
            self._engine.forget(self._id)
            await self._say(wire.Close(self._id))
            self._opened = False
            self._events.put_nowait(None)

    # ---- the engine's news (a Listener) -----------------------------------------------------

    def on_loaded(self) -> None:
        """See Listener."""
        again, self._greeted = self._greeted, True
        self._put(seam.Resumed(state_kept=False) if again else seam.Ready())

    def on_lost(self, attempt: int, why: str, *, hopeless: bool) -> None:
        """See Listener."""
        self._opened = False
        self._calls.clear()
        if self._greeted:
            self._fail_open_turns(why)
        if hopeless:
            self._put(seam.SessionLost(why))
        elif self._greeted:
            self._put(seam.Reconnecting(attempt=attempt))

    def on_message(self, message: wire.OfSession) -> None:
        """See Listener."""
        match message:
            case wire.Started():
                self._speaking = True
                self._put(seam.SpeechStarted())
            case wire.Stopped():
                self._speaking = False
                self._put(seam.SpeechStopped())
            case wire.Turn(turn_id=turn_id):
                self._turns[turn_id] = None
                self._put(seam.TurnStarted(turn_id=turn_id))
            case wire.Caption(turn_id=turn_id, role=role, text=text, final=final):
                self._put(seam.TranscriptDelta(role=role, text=text, final=final, turn_id=turn_id))
            case wire.Call():
                self._ask(message)
            case wire.Sound(turn_id=turn_id, pcm=pcm):
                if turn_id not in self._cut:
                    self._put(seam.AudioOut(turn_id=turn_id, pcm=pcm))
            case wire.Done(turn_id=turn_id, reason=reason):
                self._end_turn(turn_id, reason)
            case wire.Trouble(code=code, message=sentence):
                self._put(seam.ModelError(code=code, message=sentence))
            case _:
                assert_never(message)

    def _ask(self, call: wire.Call) -> None:
        call_id = CallId(call.call_id)
        self._calls.add(call_id)
        self._put(
            seam.ToolCallRequested(
                call_id=call_id, name=call.name, args=call.args, turn_id=call.turn_id
            )
        )

    def _end_turn(self, turn_id: str, reason: str) -> None:
        self._turns.pop(turn_id, None)
        self._cut.discard(turn_id)
        self._put(seam.TurnEnded(turn_id=turn_id, reason=reason))

    def _fail_open_turns(self, why: str) -> None:
        """Every utterance and every turn that was open ends, though with an error."""
        self._put(seam.ModelError(code=_LOST_CODE, message=why))
        if self._speaking and not self._turns:
            turn_id = f"turn_lost_{self._id[-8:]}"
            self._put(seam.SpeechStopped())
            self._put(seam.TurnStarted(turn_id=turn_id))
            self._turns[turn_id] = None
        self._speaking = False
        for turn_id in list(self._turns):
            self._end_turn(turn_id, "failed")

    def _put(self, event: seam.ModelEvent | seam.SessionLost) -> None:
        if self._closed:
            return
        if self._events.qsize() < _EVENTS_MAX:
            self._events.put_nowait(event)
        elif not isinstance(event, seam.AudioOut):
            self._closed = True
            self._events.put_nowait(seam.SessionLost("the session does not follow its events"))

    async def _say(self, message: wire.ToEngine) -> bool:
        return self._opened and await self._engine.send(message)


def cards(tools: Sequence[Registered]) -> list[wire.ToolCard]:
    """The tools under the names that the model calls."""
    return [
        wire.ToolCard(
            tool.exposed_name, tool.spec.description, tool.spec.parameters, tool.spec.destructive
        )
        for tool in tools
    ]


def _outcome(session: str, call_id: CallId, outcome: ToolOutcome) -> wire.Outcome:
    if isinstance(outcome, ToolSucceeded):
        small = len(outcome.result_json) <= _RESULT_MAX_BYTES
        return wire.Outcome(session, call_id, outcome.result_json if small else b"null")
    return wire.Outcome(session, call_id, None, str(outcome.code), outcome.why)
