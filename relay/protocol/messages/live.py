"""What a voice client and the relay say to each other on /live."""

from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from relay.protocol.messages.frames import ToolFrame
from relay.protocol.messages.message import Ident, Message, Milliseconds, Refused, Sentence

# ---- client to relay -----------------------------------------------------------------


class Text(Message, frozen=True, kw_only=True):
    """A typed user turn (client to relay), or a caption (relay to client)."""

    text: str
    role: Literal["user", "assistant"] | UnsetType = UNSET
    final: bool | UnsetType = UNSET
    turn_id: Ident | UnsetType = UNSET


class Activity(Message, frozen=True, kw_only=True):
    """Push-to-talk: the client says where speech starts and ends."""

    kind: Literal["start", "end"]


class Interrupt(Message, frozen=True, kw_only=True):
    """Barge-in by the client; `playedMs` is what was heard of the current answer."""

    played_ms: Milliseconds | UnsetType = UNSET


class Playback(Message, frozen=True, kw_only=True):
    """Progress of playing an answer, so that a truncation upstream is exact."""

    turn_id: Ident
    played_ms: Milliseconds


class Stop(Message, frozen=True, kw_only=True):
    """End the session, then the socket."""


LiveClientMessage = Text | Activity | Interrupt | Playback | Stop


# ---- relay to client -----------------------------------------------------------------


class Rate(Message, frozen=True, kw_only=True):
    """Always the first answer: the sample rates to send and to expect, and who answers."""

    input_rate: int
    output_rate: int
    provider: str
    model: str
    room: str
    session_id: Ident


SessionState = Literal[
    "connecting",
    "ready",
    "listening",
    "thinking",
    "speaking",
    "interrupted",
    "turn-complete",
    "go-away",
    "reconnecting",
    "resumed",
    "closed",
]
SESSION_STATES: tuple[str, ...] = get_args(SessionState)


class State(Message, frozen=True, kw_only=True):
    """Where the session stands; `closed` is terminal and comes exactly once."""

    state: SessionState
    gated_frames: (
        Annotated[int, Meta(description="with ready: binary messages dropped before it")]
        | UnsetType
    ) = UNSET
    turn_id: Ident | UnsetType = UNSET
    reason: Sentence | UnsetType = UNSET
    time_left_ms: Milliseconds | UnsetType = UNSET
    attempt: int | UnsetType = UNSET
    state_kept: bool | UnsetType = UNSET
    code: int | UnsetType = UNSET


class Flush(Message, frozen=True, kw_only=True):
    """Drop every queued sample now; no sample of that turn follows."""

    turn_id: Ident


class DeclaredTool(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A tool as people and dashboards see it."""

    name: str
    description: str
    host: Literal["mini-app", "wasm", "built-in"]
    parameters: dict[str, Any]
    app_id: str | UnsetType = UNSET
    destructive: Annotated[bool, Meta(description="its author says that it destroys something")] = (
        False
    )


class Tools(Message, frozen=True, kw_only=True):
    """What the model can call, whenever that changes."""

    revision: int
    tools: list[DeclaredTool]
    applies: Literal["now", "next-session"]


class Error(Message, frozen=True, kw_only=True):
    """Something went wrong that is not a refusal; `fatal` ends the session."""

    code: str
    message: Sentence
    fatal: bool


LiveServerMessage = Rate | State | Flush | Text | ToolFrame | Tools | Error | Refused
