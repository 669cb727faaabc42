"""What goes on over one Gemini connection: turns, calls, muting. Never waits.

Gemini names neither responses nor turns: a turn is what lies between two `turnComplete`s.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count

from relay.protocol.audio import SampleAligner
from relay.providers import model as seam
from relay.providers.calls import Asked, OpenCalls
from relay.providers.gemini import events as said
from relay.providers.gemini import wire
from relay.providers.gemini.profile import Profile
from relay.providers.memory import Memory, Said
from relay.providers.resampler import Resampler


class Turn:
    """One open answer."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self.text = ""
        self.text_is_final = False
        self._aligner = SampleAligner()
        self._resampler: Resampler | None = None

    def hear(self, sound: said.Sound) -> bytes:
        """Whole samples at the output rate, as far as they are there."""
        pcm = self._aligner.push(sound.pcm).pcm
        if self._resampler is None:
            if sound.rate_hz == wire.OUTPUT_RATE_HZ:
                return pcm
            self._resampler = Resampler(sound.rate_hz, wire.OUTPUT_RATE_HZ)
        return self._resampler.push(pcm)

    def rest(self) -> bytes:
        """What the last piece left to say."""
        resampler, self._resampler = self._resampler, None
        return b"" if resampler is None else resampler.end()

    def caption(self, *, final: bool) -> seam.TranscriptDelta:
        """What the answer says so far."""
        self.text_is_final = final
        return seam.TranscriptDelta(
            role="assistant", text=self.text, final=final, turn_id=self.turn_id
        )


class Dialogue:
    """The state of one connection. `send` queues a message and never waits."""

    def __init__(
        self,
        *,
        send: Callable[[str], None],
        profile: Profile,
        calls: OpenCalls,
        memory: Memory,
        turn_ids: Iterator[str],
    ) -> None:
        self._send = send
        self._profile = profile
        self._calls = calls
        self._memory = memory
        self._turn_ids = turn_ids
        self._groups = count(1)
        self._waiting: dict[str, set[str]] = {}  # group → its calls without an answer
        self._answers: dict[str, list[wire.Answer]] = {}  # group → answers that wait for the rest
        self._turn: Turn | None = None
        self._last_turn_id: str | None = None
        self._generating = False
        self._muted = False
        self._at_work = False
        self._user_text = ""
        self._user_turn_id: str | None = None

    @property
    def idle(self) -> bool:
        """Whether the model is saying and doing nothing."""
        return not (self._turn or self._muted or self._at_work or self._calls.pending)

    # ---- from the conversation ----------------------------------------------------------

    def say(self, text: str) -> None:
        """Add a typed turn that wants an answer."""
        if self._profile.typed_as_content:
            self._send(wire.content([Said("user", text)], answer=True))
        else:
            self._send(wire.text(text))
        self._memory.note("user", text)

    def recall(self) -> None:
        """Tell a fresh session what was said before; it is not answered."""
        turns = self._memory.turns()
        if turns:
            self._send(wire.content(turns, answer=self._profile.told_history_first))

    def answer(self, asked: Asked, outcome: bytes) -> None:
        """Answer a call of this connection, or keep the answer until its group is whole."""
        one = wire.Answer(call_id=asked.native_id, name=asked.name, outcome=outcome)
        if not self._profile.blocking:
            self._send(wire.tool_response([one], scheduled=True))
            return
        self._answers.setdefault(asked.group, []).append(one)
        self._settle(asked.group, asked.native_id)

    def interrupt(self) -> None:
        """Let nothing more of this answer through; the server can't be told to stop."""
        self._muted = self._muted or self._generating
        self._close_turn()

    def end(self) -> Iterator[seam.ModelEvent]:
        """The connection is gone."""
        yield from self._end_turn("connection-lost")

    # ---- from the server ----------------------------------------------------------------

    def on(self, event: said.ServerEvent) -> Iterator[seam.ModelEvent]:
        """Follow one event."""
        match event:
            case said.Sound():
                yield from self._on_sound(event)
            case said.AnswerText():
                yield from self._on_text(event)
            case said.UserText():
                yield from self._on_user_text(event.delta, final=event.finished)
            case said.Interrupted():
                yield from self._on_interrupted()
            case said.GenerationComplete():
                self._generating = False
                yield from self._rest()
            case said.TurnComplete():
                yield from self._on_turn_complete(event)
            case said.Calls(calls=calls):
                yield from self._on_calls(calls)
            case said.CallsCancelled(call_ids=call_ids):
                yield from self._on_cancelled(call_ids)
            case said.Used():
                yield seam.Usage(input_tokens=event.input_tokens, output_tokens=event.output_tokens)
            case _:
                return

    def _on_sound(self, sound: said.Sound) -> Iterator[seam.ModelEvent]:
        self._generating = True
        if self._muted:
            return
        yield from self._begin_turn()
        assert self._turn is not None
        pcm = self._turn.hear(sound)
        if pcm:
            yield seam.AudioOut(turn_id=self._turn.turn_id, pcm=pcm)

    def _rest(self) -> Iterator[seam.ModelEvent]:
        pcm = b"" if self._turn is None else self._turn.rest()
        if pcm and self._turn is not None:
            yield seam.AudioOut(turn_id=self._turn.turn_id, pcm=pcm)

    def _on_text(self, event: said.AnswerText) -> Iterator[seam.ModelEvent]:
        if self._muted:
            return
        yield from self._begin_turn()
        assert self._turn is not None
        self._turn.text += event.delta
        yield self._turn.caption(final=event.finished)

    def _on_user_text(self, delta: str, *, final: bool) -> Iterator[seam.ModelEvent]:
        if self._user_turn_id is None:
            self._user_turn_id = next(self._turn_ids)
        self._user_text += delta
        text, turn_id = self._user_text, self._user_turn_id
        if final:
            self._memory.note("user", text)
            self._user_text, self._user_turn_id = "", None
        yield seam.TranscriptDelta(role="user", text=text, final=final, turn_id=turn_id)

    def _on_interrupted(self) -> Iterator[seam.ModelEvent]:
        self._generating = False
        self._muted = True  # up to turnComplete, which follows
        turn_id = self._last_turn_id  # a finished turn may still be playing
        if turn_id is not None:
            yield seam.Interrupted(turn_id=turn_id)
        yield from self._end_turn("interrupted")

    def _on_turn_complete(self, event: said.TurnComplete) -> Iterator[seam.ModelEvent]:
        self._muted = self._generating = False
        if self._profile.status_tells_idle:
            self._at_work = event.idle is False
        if self._user_turn_id is not None:
            yield from self._on_user_text("", final=True)
        yield from self._end_turn(event.reason.lower().replace("_", "-"))

    def _on_calls(self, calls: Sequence[said.Call]) -> Iterator[seam.ModelEvent]:
        group = str(next(self._groups))
        if not self._muted:
            yield from self._begin_turn()
        for call in calls:
            call_id = self._calls.ask(call.call_id, call.name, group)
            if call_id is None:
                continue
            self._waiting.setdefault(group, set()).add(call.call_id)
            yield seam.ToolCallRequested(
                call_id=call_id,
                name=call.name,
                args=call.args,
                turn_id=None if self._turn is None else self._turn.turn_id,
            )

    def _on_cancelled(self, native_ids: Sequence[str]) -> Iterator[seam.ModelEvent]:
        cancelled = self._calls.cancel(native_ids)
        for group in tuple(self._waiting):
            kept = self._answers.get(group, [])
            self._answers[group] = [one for one in kept if one.call_id not in native_ids]
            for native_id in native_ids:
                self._settle(group, native_id)
        if cancelled:
            yield seam.ToolCallsCancelled(call_ids=cancelled)

    def _settle(self, group: str, native_id: str) -> None:
        """A call needs no more; the last one of its group lets the answers go."""
        waiting = self._waiting.get(group, set())
        waiting.discard(native_id)
        if waiting:
            return
        self._waiting.pop(group, None)
        answers = self._answers.pop(group, [])
        if answers:
            self._send(wire.tool_response(answers, scheduled=False))

    def _begin_turn(self) -> Iterator[seam.ModelEvent]:
        if self._turn is None:
            self._turn = Turn(next(self._turn_ids))
            self._last_turn_id = self._turn.turn_id
            self._at_work = self._profile.status_tells_idle
            yield seam.TurnStarted(turn_id=self._turn.turn_id)

    def _end_turn(self, reason: str) -> Iterator[seam.ModelEvent]:
        turn = self._close_turn()
        if turn is not None:
            if turn.text and not turn.text_is_final:
                yield turn.caption(final=True)
            yield seam.TurnEnded(turn_id=turn.turn_id, reason=reason)

    def _close_turn(self) -> Turn | None:
        turn, self._turn = self._turn, None
        if turn is not None:
            self._memory.note("assistant", turn.text)
        return turn
