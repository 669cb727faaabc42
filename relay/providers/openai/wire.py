"""OpenAI's Realtime protocol: JSON to what it says, and commands to JSON. Pure.

Knows no state and never raises on what a server sends: what is unknown or malformed is
`Ignored`. The delta names of the older beta are read too, because compatible servers send them.
Source: OpenAI API reference, Realtime server events and client events.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable

import orjson

from relay.providers import fields
from relay.providers.fields import Json
from relay.providers.memory import Role
from relay.providers.openai.events import (
    AnswerText,
    CallItem,
    Cleared,
    Committed,
    Failed,
    FunctionCall,
    Ignored,
    ItemAdded,
    ResponseCreated,
    ResponseDone,
    ServerEvent,
    SessionCreated,
    SessionUpdated,
    Sound,
    SpeechStarted,
    SpeechStopped,
    UserText,
)


def read(frame: str | bytes) -> ServerEvent:
    """Read one server event."""
    try:
        event = orjson.loads(frame)
    except orjson.JSONDecodeError:
        return Ignored("not-json")
    if not isinstance(event, dict):
        return Ignored("not-an-object")
    kind = fields.text(event, "type")
    reader = _READERS.get(kind)
    return Ignored(kind) if reader is None else reader(event)


def _user_delta(event: Json) -> ServerEvent:
    return UserText(
        item_id=fields.text(event, "item_id"), delta=fields.text(event, "delta"), final=False
    )


def _user_final(event: Json) -> ServerEvent:
    return UserText(
        item_id=fields.text(event, "item_id"), delta=fields.text(event, "transcript"), final=True
    )


def _item_added(event: Json) -> ServerEvent:
    item = fields.mapping(event, "item")
    return ItemAdded(fields.text(item, "call_id") or fields.text(item, "id"))


def _response_created(event: Json) -> ServerEvent:
    response = fields.mapping(event, "response")
    request = fields.mapping(response, "metadata").get(REQUEST_KEY)
    return ResponseCreated(
        response_id=fields.text(response, "id"),
        request=request if isinstance(request, str) else None,
    )


def _sound(event: Json) -> ServerEvent:
    try:
        pcm = b64decode(fields.text(event, "delta"), validate=True)
    except (Base64Error, ValueError):
        return Ignored("bad-base64")
    index = event.get("content_index")
    return Sound(
        response_id=fields.text(event, "response_id"),
        item_id=fields.text(event, "item_id"),
        content_index=index if isinstance(index, int) else 0,
        pcm=pcm,
    )


def _answer_delta(event: Json) -> ServerEvent:
    return _answer_text(event, fields.text(event, "delta"), final=False)


def _answer_final(event: Json) -> ServerEvent:
    whole = fields.text(event, "transcript") or fields.text(event, "text")
    return _answer_text(event, whole, final=True)


def _answer_text(event: Json, text: str, *, final: bool) -> ServerEvent:
    return AnswerText(
        response_id=fields.text(event, "response_id"),
        item_id=fields.text(event, "item_id"),
        delta=text,
        final=final,
    )


def _item_done(event: Json) -> ServerEvent:
    call = _finished_call(fields.mapping(event, "item"), "")
    if call is None:
        return Ignored("response.output_item.done")
    return CallItem(response_id=fields.text(event, "response_id"), call=call)


def _finished_call(item: Json, otherwise: str) -> FunctionCall | None:
    """Return the call of an item, None if it is none or was cut off.

    An interrupted call is announced as well, with arguments that may end anywhere: only a
    completed one may run. `otherwise` is the status of an item that has none.
    """
    if fields.text(item, "type") != "function_call":
        return None
    if (fields.text(item, "status") or otherwise) != "completed" or not fields.text(
        item, "call_id"
    ):
        return None
    return FunctionCall(
        call_id=fields.text(item, "call_id"),
        name=fields.text(item, "name"),
        arguments=item.get("arguments"),
    )


def _response_done(event: Json) -> ServerEvent:
    response = fields.mapping(event, "response")
    details = fields.mapping(response, "status_details")
    error = fields.mapping(details, "error")
    usage = fields.mapping(response, "usage")
    status = fields.text(response, "status") or "completed"
    items = response.get("output")
    calls = (_finished_call(item, status) for item in items or () if isinstance(item, dict))
    return ResponseDone(
        response_id=fields.text(response, "id"),
        status=status,
        reason=fields.text(details, "reason"),
        error_code=(fields.text(error, "code") or fields.text(error, "type")) if error else None,
        error_message=fields.text(error, "message"),
        calls=[call for call in calls if call is not None],
        input_tokens=fields.count(usage, "input_tokens"),
        output_tokens=fields.count(usage, "output_tokens"),
    )


def _failed(event: Json) -> ServerEvent:
    error = fields.mapping(event, "error")
    return Failed(
        code=fields.text(error, "code") or fields.text(error, "type") or "unknown",
        message=fields.text(error, "message"),
        param=fields.text(error, "param"),
        event_id=fields.text(error, "event_id") or None,
    )


_TRANSCRIPTION = "conversation.item.input_audio_transcription."
_READERS: dict[str, Callable[[Json], ServerEvent]] = {
    "session.created": lambda _: SessionCreated(),
    "session.updated": lambda _: SessionUpdated(),
    "input_audio_buffer.speech_started": lambda _: SpeechStarted(),
    "input_audio_buffer.speech_stopped": lambda _: SpeechStopped(),
    "input_audio_buffer.cleared": lambda _: Cleared(),
    "input_audio_buffer.committed": lambda _: Committed(),
    _TRANSCRIPTION + "delta": _user_delta,
    _TRANSCRIPTION + "completed": _user_final,
    "conversation.item.added": _item_added,
    "conversation.item.created": _item_added,
    "conversation.item.done": _item_added,
    "response.created": _response_created,
    "response.output_audio.delta": _sound,
    "response.audio.delta": _sound,
    "response.output_audio_transcript.delta": _answer_delta,
    "response.audio_transcript.delta": _answer_delta,
    "response.output_text.delta": _answer_delta,
    "response.text.delta": _answer_delta,
    "response.output_audio_transcript.done": _answer_final,
    "response.audio_transcript.done": _answer_final,
    "response.output_text.done": _answer_final,
    "response.text.done": _answer_final,
    "response.output_item.done": _item_done,
    "response.done": _response_done,
    "error": _failed,
}

# ---- commands -------------------------------------------------------------------------------

REQUEST_KEY = "relay_request"
CUT = "cut-"  # event ids of commands whose failure changes nothing


def _line(kind: str, **fields: object) -> str:
    return orjson.dumps({"type": kind, **fields}).decode()


def update(event_id: str, session: Json) -> str:
    """Change the fields of the session that are given; the answer echoes `event_id` on errors."""
    return _line("session.update", event_id=event_id, session={"type": "realtime", **session})


def append(pcm: bytes) -> str:
    """Say sound: PCM16 little-endian mono, 24 kHz."""
    return _line("input_audio_buffer.append", audio=b64encode(pcm).decode())


def clear() -> str:
    """Forget the sound that was not committed."""
    return _line("input_audio_buffer.clear")


def commit() -> str:
    """Make the sound so far a turn of the person; creates no response."""
    return _line("input_audio_buffer.commit")


def text_item(item_id: str, role: Role, text: str) -> str:
    """Add a written turn to the conversation; creates no response."""
    kind = "input_text" if role == "user" else "output_text"
    content = [{"type": kind, "text": text}]
    item = {"id": item_id, "type": "message", "role": role, "content": content}
    return _line("conversation.item.create", item=item)


def output_item(call_id: str, output: str) -> str:
    """Answer a call; creates no response."""
    item = {"type": "function_call_output", "call_id": call_id, "output": output}
    return _line("conversation.item.create", item=item)


def create_response(request: str) -> str:
    """Ask for a response; `request` comes back in its metadata, and on an error."""
    return _line("response.create", event_id=request, response={"metadata": {REQUEST_KEY: request}})


def cancel_response(response_id: str) -> str:
    """Stop a response; response.done follows all the same."""
    return _line("response.cancel", event_id=f"{CUT}{response_id}", response_id=response_id)


def truncate(item_id: str, content_index: int, audio_end_ms: int) -> str:
    """Say how much of an answer was heard."""
    return _line(
        "conversation.item.truncate",
        event_id=f"{CUT}{item_id}",
        item_id=item_id,
        content_index=content_index,
        audio_end_ms=audio_end_ms,
    )
