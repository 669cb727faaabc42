"""What goes on over one OpenAI connection: responses, turns, calls. Never waits.

A turn is everything between a person's turn and silence: the response that calls tools and the
one that answers with their results are one turn.
"""

import secrets
from collections.abc import Callable, Iterator

import structlog

from relay.providers import model as seam
from relay.providers.calls import Asked, OpenCalls
from relay.providers.memory import Memory
from relay.providers.openai import events as said
from relay.providers.openai import wire
from relay.providers.openai.arguments import read_arguments
from relay.providers.openai.final import raise_if_final
from relay.providers.openai.responses import Responses
from relay.providers.openai.turn import Turn
from relay.providers.secret import Secret, scrub

_USER_TEXTS_MAX = 16
_NOTHING_HEARD = "input_audio_buffer_commit_empty"
_BUSY = "conversation_already_has_active_response"
_HARMLESS = frozenset({"response_cancel_not_active", _BUSY})
_log = structlog.get_logger(__name__)


class Dialogue:
    """The state of one connection. `send` queues a message and never waits."""

    def __init__(
        self,
        *,
        send: Callable[[str], None],
        calls: OpenCalls,
        memory: Memory,
        turn_ids: Iterator[str],
        key: Secret | None,
    ) -> None:
        self._key = key
        self._send = send
        self._calls = calls
        self._memory = memory
        self._turn_ids = turn_ids
        self._responses = Responses()
        self._turn: Turn | None = None
        self._heard: Turn | None = None  # the last one with sound; it may still be playing
        self._muted: set[str] = set()
        self._cancel_next = False
        self._marks_echo = False  # whether this server says whose response it is
        self._speaking = False
        self._typed = False  # an answer to a typed turn does not wait for somebody to stop speaking
        self._user_texts: dict[str, tuple[str, str]] = {}  # item → turn id, text so far
        self.manual = False
        """Whether the client says where speech starts and ends."""

    @property
    def idle(self) -> bool:
        """Whether neither side is saying or doing anything."""
        return self._responses.idle and not self._speaking

    # ---- from the conversation ----------------------------------------------------------

    def say(self, text: str) -> None:
        """Add a typed turn that wants an answer."""
        item_id = _item_id()
        self._send(wire.text_item(item_id, "user", text))
        self._responses.add(item_id)
        self._memory.note("user", text)
        self._typed = True
        self.advance()

    def recall(self) -> None:
        """Tell a fresh session what was said before."""
        for turn in self._memory.turns():
            self._send(wire.text_item(_item_id(), turn.role, turn.text))

    def answer(self, asked: Asked, output: str) -> None:
        """Answer a call of this connection."""
        self._send(wire.output_item(asked.native_id, output))
        self._responses.add(asked.native_id, batch=asked.group)
        self._responses.answered(asked.group, asked.native_id)
        self.advance()

    def press(self) -> None:
        """Hear the person from here."""
        self._speaking = True
        self._send(wire.clear())

    def release(self) -> None:
        """Take what was heard since `press` as a turn; the server says whether there was one."""
        self._speaking = False
        self._send(wire.commit())

    def interrupt(self, played_ms: float) -> None:
        """Stop the answer, and say how much of it was heard."""
        if not self._speaking or self.manual:  # else the server has stopped it by itself
            for response_id in self._responses.active:
                if response_id not in self._muted:
                    self._send(wire.cancel_response(response_id))
        self._cancel_next = self._responses.creating
        self._muted.update(self._responses.active)
        heard = self._turn or self._heard
        for cut in () if heard is None else heard.truncations(played_ms):
            self._send(wire.truncate(cut.item_id, cut.content_index, cut.audio_end_ms))
        self._close_turn()
        self._heard = None

    def advance(self) -> None:
        """Ask for a response if one is due."""
        if self._speaking and not self._typed:
            return
        request = self._responses.request()
        if request is not None:
            self._typed = False
            self._send(wire.create_response(request))

    def end(self) -> Iterator[seam.ModelEvent]:
        """The connection is gone."""
        yield from self._end_turn("connection-lost")

    # ---- from the server ----------------------------------------------------------------

    def on(self, event: said.ServerEvent) -> Iterator[seam.ModelEvent]:
        """Follow one event. Raises: Lost when it is final."""
        match event:
            case said.Sound():
                yield from self._on_sound(event)
            case said.AnswerText():
                yield from self._on_text(event)
            case said.ResponseCreated():
                yield from self._on_created(event)
            case said.CallItem(response_id=response_id, call=call):
                yield from self._on_call(response_id, call)
            case said.ResponseDone():
                yield from self._on_done(event)
            case said.UserText():
                yield from self._on_user_text(event)
            case said.ItemAdded(key=key):
                self._responses.settle(key)
            case said.Failed():
                yield from self._on_failed(event)
            case _:
                yield from self._on_hearing(event)
        self.advance()

    def _on_hearing(self, event: said.ServerEvent) -> Iterator[seam.ModelEvent]:
        match event:
            case said.SpeechStarted():
                self._speaking = True
                self._cancel_next = self._responses.creating
                yield seam.SpeechStarted()
            case said.SpeechStopped():
                self._speaking = False
                yield seam.SpeechStopped()
            case said.Cleared() if self.manual:
                yield seam.SpeechStarted()
            case said.Committed() if self.manual:
                key = _item_id()
                self._responses.add(key)
                self._responses.settle(key)
                yield seam.SpeechStopped()
            case _:
                return

    def _on_created(self, event: said.ResponseCreated) -> Iterator[seam.ModelEvent]:
        ours = self._responses.created(event.response_id, event.request)
        self._marks_echo = self._marks_echo or ours
        if self._cancel_next and (ours or not self._marks_echo):
            self._cancel_next = False
            self._muted.add(event.response_id)
            self._send(wire.cancel_response(event.response_id))
        elif self._turn is None:
            self._turn = Turn(next(self._turn_ids))
            yield seam.TurnStarted(turn_id=self._turn.turn_id)

    def _on_sound(self, event: said.Sound) -> Iterator[seam.ModelEvent]:
        turn = self._turn
        if turn is None or event.response_id in self._muted:
            return  # in flight when it was interrupted
        pcm = turn.hear(event.item_id, event.content_index, event.pcm)
        self._heard = turn
        if pcm:
            yield seam.AudioOut(turn_id=turn.turn_id, pcm=pcm)

    def _on_text(self, event: said.AnswerText) -> Iterator[seam.ModelEvent]:
        turn = self._turn
        if turn is None or event.response_id in self._muted:
            return
        text = turn.say(event.item_id, event.delta, final=event.final)
        yield _caption("assistant", text, turn.turn_id, final=event.final)

    def _on_user_text(self, event: said.UserText) -> Iterator[seam.ModelEvent]:
        turn_id, before = self._user_text_so_far(event.item_id)
        text = event.delta if event.final else before + event.delta
        if event.final:
            self._memory.note("user", text)
        else:
            self._user_texts[event.item_id] = (turn_id, text)
            if len(self._user_texts) > _USER_TEXTS_MAX:
                del self._user_texts[next(iter(self._user_texts))]
        yield _caption("user", text, turn_id, final=event.final)

    def _user_text_so_far(self, item_id: str) -> tuple[str, str]:
        if item_id in self._user_texts:
            return self._user_texts.pop(item_id)
        return next(self._turn_ids), ""

    def _on_call(self, response_id: str, call: said.FunctionCall) -> Iterator[seam.ModelEvent]:
        call_id = self._calls.ask(call.call_id, call.name, response_id)
        if call_id is None:
            return  # announced by its item, and again by its response
        self._responses.called(response_id, call.call_id)
        arguments = read_arguments(call.arguments)
        yield seam.ToolCallRequested(
            call_id=call_id,
            name=call.name,
            args=arguments.value,
            args_error=arguments.error,
            turn_id=None if self._turn is None else self._turn.turn_id,
        )

    def _on_done(self, event: said.ResponseDone) -> Iterator[seam.ModelEvent]:
        for call in event.calls:
            yield from self._on_call(event.response_id, call)
        self._responses.done(event.response_id)
        if event.input_tokens or event.output_tokens:
            yield seam.Usage(input_tokens=event.input_tokens, output_tokens=event.output_tokens)
        if event.error_code is not None:
            yield self._error(event.error_code, event.error_message)
        if event.response_id in self._muted:
            self._muted.discard(event.response_id)
        elif event.status == "cancelled" and self._turn is not None:
            yield seam.Interrupted(turn_id=self._turn.turn_id)
            yield from self._end_turn("interrupted")
        elif event.status == "failed" or self._responses.idle:
            yield from self._end_turn(event.reason or event.status)

    def _on_failed(self, event: said.Failed) -> Iterator[seam.ModelEvent]:
        raise_if_final(event, self._key)
        if event.code == _NOTHING_HEARD and self.manual:
            yield from self._nothing_heard()
            return
        if self._responses.refused(event.event_id, busy=event.code == _BUSY):
            self._cancel_next = False
            if event.code == _BUSY:
                return
            if self._responses.idle:
                yield from self._end_turn("failed")
        elif event.code in _HARMLESS or (event.event_id or "").startswith(wire.CUT):
            self._responses.done((event.event_id or "").removeprefix(wire.CUT))
            _log.info("command_refused", code=scrub(event.code, self._key))
            return
        yield self._error(event.code, event.message)

    def _nothing_heard(self) -> Iterator[seam.ModelEvent]:
        """A button was pressed and nothing said: a turn all the same, so that it has an end."""
        turn_id = next(self._turn_ids)
        yield seam.SpeechStopped()
        yield seam.TurnStarted(turn_id=turn_id)
        yield seam.TurnEnded(turn_id=turn_id, reason="nothing-heard")

    def _error(self, code: str, message: str) -> seam.ModelError:
        return seam.ModelError(code=scrub(code, self._key), message=scrub(message, self._key))

    def _end_turn(self, reason: str) -> Iterator[seam.ModelEvent]:
        turn = self._close_turn()
        if turn is not None:
            yield seam.TurnEnded(turn_id=turn.turn_id, reason=reason)

    def _close_turn(self) -> Turn | None:
        turn, self._turn = self._turn, None
        if turn is not None:
            self._memory.note("assistant", turn.text)
        return turn


def _item_id() -> str:
    return f"item_{secrets.token_hex(12)}"


def _caption(role: str, text: str, turn_id: str, *, final: bool) -> seam.TranscriptDelta:
    return seam.TranscriptDelta(
        role="user" if role == "user" else "assistant", text=text, final=final, turn_id=turn_id
    )
