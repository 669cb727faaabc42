"""What an OpenAI Realtime server says, reduced to what the relay needs; plain data."""

from collections.abc import Sequence

from msgspec import Struct


class SessionCreated(Struct, frozen=True):
    """The server speaks first."""


class SessionUpdated(Struct, frozen=True):
    """The last session.update stands."""


class SpeechStarted(Struct, frozen=True):
    """The person began to speak."""


class SpeechStopped(Struct, frozen=True):
    """The person stopped speaking."""


class Cleared(Struct, frozen=True):
    """The sound that was not committed is forgotten."""


class Committed(Struct, frozen=True):
    """The sound so far is a turn of the person."""


class UserText(Struct, frozen=True, kw_only=True):
    """What the person said; `delta` is more of it, or all of it when `final`."""

    item_id: str
    delta: str
    final: bool


class ItemAdded(Struct, frozen=True):
    """An item is part of the conversation; `key` is its call id if it is an output."""

    key: str


class ResponseCreated(Struct, frozen=True, kw_only=True):
    """A response is being written; `request` is the mark of the one who asked, if any."""

    response_id: str
    request: str | None


class Sound(Struct, frozen=True, kw_only=True):
    """A piece of answer audio, 24 kHz; may end inside a sample."""

    response_id: str
    item_id: str
    content_index: int
    pcm: bytes


class AnswerText(Struct, frozen=True, kw_only=True):
    """More of what the answer says, or all of it when `final`."""

    response_id: str
    item_id: str
    delta: str
    final: bool


class FunctionCall(Struct, frozen=True, kw_only=True):
    """A finished request for a tool; `arguments` is what should be a JSON text."""

    call_id: str
    name: str
    arguments: object


class CallItem(Struct, frozen=True, kw_only=True):
    """An output item that is a finished call."""

    response_id: str
    call: FunctionCall


class ResponseDone(Struct, frozen=True, kw_only=True):
    """The end of a response, whatever became of it; `calls` are the finished ones in it."""

    response_id: str
    status: str
    reason: str
    error_code: str | None
    error_message: str
    calls: Sequence[FunctionCall]
    input_tokens: int
    output_tokens: int


class Failed(Struct, frozen=True, kw_only=True):
    """An error event; `event_id` is ours that it answers."""

    code: str
    message: str
    param: str
    event_id: str | None


class Ignored(Struct, frozen=True):
    """Nothing that the relay needs."""

    kind: str


ServerEvent = (
    SessionCreated
    | SessionUpdated
    | SpeechStarted
    | SpeechStopped
    | Cleared
    | Committed
    | UserText
    | ItemAdded
    | ResponseCreated
    | Sound
    | AnswerText
    | CallItem
    | ResponseDone
    | Failed
    | Ignored
)
