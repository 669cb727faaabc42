"""What a Gemini Live server says, reduced to what the relay needs; plain data."""

from collections.abc import Sequence

from msgspec import Struct


class SetupComplete(Struct, frozen=True):
    """The session takes everything from now on."""


class UserText(Struct, frozen=True, kw_only=True):
    """More of what the person said."""

    delta: str
    finished: bool


class AnswerText(Struct, frozen=True, kw_only=True):
    """More of what the answer says."""

    delta: str
    finished: bool


class Sound(Struct, frozen=True):
    """A piece of answer audio; may end inside a sample."""

    pcm: bytes
    rate_hz: int


class Interrupted(Struct, frozen=True):
    """The answer was cut off by the person; nothing more of it follows."""


class GenerationComplete(Struct, frozen=True):
    """All of the answer has been sent; the server waits while it is played."""


class TurnComplete(Struct, frozen=True, kw_only=True):
    """The answer is over; `idle` None where the server does not say."""

    reason: str
    idle: bool | None


class Call(Struct, frozen=True, kw_only=True):
    """A request for a tool; `args` is whatever JSON said, None for none."""

    call_id: str
    name: str
    args: object


class Calls(Struct, frozen=True):
    """Requests that came together."""

    calls: Sequence[Call]


class CallsCancelled(Struct, frozen=True):
    """The model no longer wants these calls."""

    call_ids: Sequence[str]


class GoingAway(Struct, frozen=True):
    """The server will close the connection."""

    time_left_ms: float


class Handle(Struct, frozen=True):
    """With this handle another connection can take the session up as it is now."""

    handle: str


class Used(Struct, frozen=True, kw_only=True):
    """Tokens of an answer."""

    input_tokens: int
    output_tokens: int


ServerEvent = (
    SetupComplete
    | UserText
    | AnswerText
    | Sound
    | Interrupted
    | GenerationComplete
    | TurnComplete
    | Calls
    | CallsCancelled
    | GoingAway
    | Handle
    | Used
)
