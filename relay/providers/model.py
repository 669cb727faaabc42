"""The seam between a conversation and whatever live model holds it.

A `LiveModel` opens a `LiveSession`; the session yields `ModelEvent`s and takes commands.
Wire formats, sockets and engines stay behind it.
"""

from collections.abc import AsyncIterator, Sequence
from enum import Enum
from typing import Literal, Protocol

from msgspec import Struct

from relay.tools.tool import CallId, Registered, ToolOutcome


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a model can do, one sentence a field."""

    tool_update: bool
    """A running session takes a new set of tools."""
    tool_cancel: bool
    """The model may withdraw a call that it made."""
    audio_during_tool: bool
    """The model may speak while a call is running."""
    resume: bool
    """A lost connection can be taken up again with its memory."""
    manual_vad: bool
    """The client may say where speech starts and ends (push-to-talk)."""


class SessionConfig(Struct, frozen=True, kw_only=True):
    """What a session starts with; `tools` is what the model may call."""

    session_id: str
    instructions: str
    tools: Sequence[Registered]
    captions: bool = True
    """Whether the client wants them; a model may save itself the work."""
    echo_cancellation: bool = False
    """The client takes the answer's sound out of what it hears; traces of it may be left."""


# ---- events ---------------------------------------------------------------------------------


class Ready(Struct, frozen=True):
    """The session takes audio from now on."""


class SpeechStarted(Struct, frozen=True):
    """The person began to speak."""


class SpeechStopped(Struct, frozen=True):
    """The person stopped speaking; an answer is being worked out."""


class TranscriptDelta(Struct, frozen=True, kw_only=True):
    """A caption; `text` is the whole text so far of this turn and role."""

    role: Literal["user", "assistant"]
    text: str
    final: bool
    turn_id: str


class TurnStarted(Struct, frozen=True, kw_only=True):
    """The model began an answer (perhaps a silent one)."""

    turn_id: str


class AudioOut(Struct, frozen=True, kw_only=True):
    """Answer audio: PCM16 little-endian mono at the model's output rate."""

    turn_id: str
    pcm: bytes


class ToolCallRequested(Struct, frozen=True, kw_only=True):
    """The model wants a tool run; `args_error` stands where its arguments were not JSON."""

    call_id: CallId
    name: str
    args: object = None
    args_error: str | None = None
    turn_id: str | None = None


class ToolCallsCancelled(Struct, frozen=True, kw_only=True):
    """The model no longer wants these calls."""

    call_ids: Sequence[CallId]


class Interrupted(Struct, frozen=True, kw_only=True):
    """The answer was cut off; no audio of this turn follows."""

    turn_id: str


class TurnEnded(Struct, frozen=True, kw_only=True):
    """The answer is whole: every frame of it has been yielded."""

    turn_id: str
    reason: str = "completed"


class SessionExpiring(Struct, frozen=True, kw_only=True):
    """The provider will end the connection in `time_left_ms`."""

    time_left_ms: float


class Reconnecting(Struct, frozen=True, kw_only=True):
    """The connection was lost and is being taken up again."""

    attempt: int


class Resumed(Struct, frozen=True, kw_only=True):
    """The connection is back; `state_kept` says whether its memory is too."""

    state_kept: bool


class ModelError(Struct, frozen=True, kw_only=True):
    """The model reported something wrong; the session goes on."""

    code: str
    message: str


class Usage(Struct, frozen=True, kw_only=True):
    """What an answer cost, in the provider's tokens."""

    input_tokens: int
    output_tokens: int


ModelEvent = (
    Ready
    | SpeechStarted
    | SpeechStopped
    | TranscriptDelta
    | TurnStarted
    | AudioOut
    | ToolCallRequested
    | ToolCallsCancelled
    | Interrupted
    | TurnEnded
    | SessionExpiring
    | Reconnecting
    | Resumed
    | ModelError
    | Usage
)


class SessionLost(Exception):  # noqa: N818 - the outside failed; the name says what happened
    """The model's connection or process is gone for good.

    `why` is a scrubbed sentence, `code` a kebab-case name for programs.
    """

    def __init__(self, why: str, *, code: str = "session-lost") -> None:
        super().__init__(why)
        self.why = why
        self.code = code


class ToolUpdate(Enum):
    """What became of `update_tools`."""

    APPLIED = "now"
    NEXT_SESSION = "next-session"


class LiveSession(Protocol):
    """One open conversation with a model. All methods are for one owner task group."""

    def events(self) -> AsyncIterator[ModelEvent]:
        """Yield events until the session ends. Raises: SessionLost when it fails."""
        ...

    async def send_audio(self, pcm: bytes) -> None:
        """Hear whole PCM16 samples at the model's input rate; never blocks for long."""
        ...

    async def activity(self, kind: Literal["start", "end"]) -> None:
        """Take a push-to-talk edge."""
        ...

    async def send_text(self, text: str) -> None:
        """Take a typed user turn."""
        ...

    async def send_outcome(self, call_id: CallId, outcome: ToolOutcome) -> bool:
        """Answer a call; False when the asking connection is gone (not delivered)."""
        ...

    async def update_tools(self, tools: Sequence[Registered]) -> ToolUpdate:
        """Tell the model what it can call from now on."""
        ...

    async def interrupt(self, played_ms: float | None) -> None:
        """Cut the current answer off; `played_ms` of it were heard."""
        ...

    async def close(self) -> None:
        """End the session; idempotent, and `events()` ends."""
        ...


class LiveModel(Protocol):
    """A kind of model, under a name; opens sessions."""

    name: str
    model: str
    input_rate_hz: int
    output_rate_hz: int
    capabilities: Capabilities

    @property
    def ready(self) -> bool:
        """Whether a session would start at once (a local engine may still be loading)."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why no session can be opened, as far as that is known; None if nothing is wrong."""
        ...

    async def start(self) -> None:
        """Begin what the model needs for the process's life (an engine); returns at once."""
        ...

    async def stop(self) -> None:
        """End what `start` began."""
        ...

    async def open(self, config: SessionConfig) -> LiveSession:
        """Open a session. Raises: Refusal `provider-unavailable`, SessionLost."""
        ...
