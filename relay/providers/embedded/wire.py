"""What the relay and its engine process say to each other, and how it is framed.

A frame is a little-endian u32 (length of what follows, at most `FRAME_MAX_BYTES`) and one
MessagePack array. Audio is PCM16 little-endian mono.
"""

import struct
from typing import Any, Literal

import msgspec
from msgspec import Struct

FRAME_MAX_BYTES = 8 * 1024 * 1024
# Speech is looked for in pieces of this length (32 ms); less of it tells the engine nothing
EAR_BYTES = 1_024
SPEECH_HZ = 24_000
LENGTH = struct.Struct("<I")


class ToolCard(Struct, frozen=True, array_like=True):
    """A tool as the engine knows it."""

    name: str
    description: str
    parameters: dict[str, Any]
    destructive: bool = False
    """It is called only after a yes."""


class Open(Struct, frozen=True, array_like=True, tag="open"):
    """A session begins."""

    session: str
    tools: list[ToolCard]
    captions: bool = True
    """Whether somebody reads what is said while it is being said."""
    echo_cancellation: bool = False
    """What is heard holds at most traces of the engine's own voice."""


class Tools(Struct, frozen=True, array_like=True, tag="tools"):
    """What may be called from now on."""

    session: str
    tools: list[ToolCard]


class Hear(Struct, frozen=True, array_like=True, tag="hear"):
    """Sound at `vad.RATE_HZ`."""

    session: str
    pcm: bytes


class Activity(Struct, frozen=True, array_like=True, tag="activity"):
    """A push-to-talk edge."""

    session: str
    kind: Literal["start", "end"]


class Typed(Struct, frozen=True, array_like=True, tag="typed"):
    """A typed turn."""

    session: str
    text: str


class Outcome(Struct, frozen=True, array_like=True, tag="outcome"):
    """How a call ended: JSON text of its result, or the refusal's code and sentence."""

    session: str
    call_id: str
    result_json: bytes | None
    refused: str | None = None
    why: str | None = None


class Interrupt(Struct, frozen=True, array_like=True, tag="interrupt"):
    """The person cut the answer off."""

    session: str


class Close(Struct, frozen=True, array_like=True, tag="close"):
    """A session ends."""

    session: str


class Ping(Struct, frozen=True, array_like=True, tag="ping"):
    """Answered by a Pong, however busy the recogniser is."""


ToEngine = Open | Tools | Hear | Activity | Typed | Outcome | Interrupt | Close | Ping


class Loaded(Struct, frozen=True, array_like=True, tag="loaded"):
    """The models are in memory."""


class Failed(Struct, frozen=True, array_like=True, tag="failed"):
    """The engine can't work at all; it ends."""

    why: str


class Pong(Struct, frozen=True, array_like=True, tag="pong"):
    """The engine lives."""


class Started(Struct, frozen=True, array_like=True, tag="started"):
    """Speech began."""

    session: str


class Stopped(Struct, frozen=True, array_like=True, tag="stopped"):
    """Speech ended; a turn follows."""

    session: str


class Turn(Struct, frozen=True, array_like=True, tag="turn"):
    """An answer begins."""

    session: str
    turn_id: str


class Caption(Struct, frozen=True, array_like=True, tag="caption"):
    """The words of a turn."""

    session: str
    turn_id: str
    role: Literal["user", "assistant"]
    text: str
    final: bool = True


class Call(Struct, frozen=True, array_like=True, tag="call"):
    """A tool is wanted."""

    session: str
    turn_id: str
    call_id: str
    name: str
    args: dict[str, Any]


class Sound(Struct, frozen=True, array_like=True, tag="sound"):
    """Speech at `SPEECH_HZ`."""

    session: str
    turn_id: str
    pcm: bytes


class Done(Struct, frozen=True, array_like=True, tag="done"):
    """The turn is whole."""

    session: str
    turn_id: str
    reason: str


class Trouble(Struct, frozen=True, array_like=True, tag="trouble"):
    """Something went wrong in one session, which goes on."""

    session: str
    code: str
    message: str


OfSession = Started | Stopped | Turn | Caption | Call | Sound | Done | Trouble
FromEngine = Loaded | Failed | Pong | OfSession

_encoder = msgspec.msgpack.Encoder()
_to_engine: msgspec.msgpack.Decoder[ToEngine] = msgspec.msgpack.Decoder(ToEngine)
_from_engine: msgspec.msgpack.Decoder[FromEngine] = msgspec.msgpack.Decoder(FromEngine)


def frame(message: ToEngine | FromEngine) -> bytes:
    """The message with its length in front. Raises: ValueError when it is over the bound."""
    body = _encoder.encode(message)
    if len(body) > FRAME_MAX_BYTES:
        raise ValueError("a message to or from the engine is too large")
    return LENGTH.pack(len(body)) + body


def read_to_engine(body: bytes) -> ToEngine:
    """A frame's body as the engine reads it. Raises: msgspec.DecodeError."""
    return _to_engine.decode(body)


def read_from_engine(body: bytes) -> FromEngine:
    """A frame's body as the relay reads it. Raises: msgspec.DecodeError."""
    return _from_engine.decode(body)
