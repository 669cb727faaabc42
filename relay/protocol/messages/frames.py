"""Tool frames, and what a dashboard hears on /frames."""

from typing import Literal

from msgspec import UNSET, UnsetType

from relay.protocol.messages.message import (
    Hello,
    Ident,
    Json,
    Message,
    Milliseconds,
    Refused,
    Sentence,
)


class ToolFrame(Message, frozen=True, kw_only=True, tag="tool"):
    """A call began (`called`) or its outcome stands (`done`).

    `durationMs` is wall clock from the moment the call was read to the moment its outcome
    stood, `queuedMs` the part of it that was spent waiting for a place; both on refusals too.
    """

    state: Literal["called", "done"]
    call_id: Ident
    name: str
    host: Literal["mini-app", "wasm", "built-in", "none"]
    app_id: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    via: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    args: Json | UnsetType = UNSET
    ok: bool | UnsetType = UNSET
    refused: str | UnsetType = UNSET
    why: Sentence | UnsetType = UNSET
    duration_ms: Milliseconds | UnsetType = UNSET
    queued_ms: Milliseconds | UnsetType = UNSET
    output: str | UnsetType = UNSET
    output_bytes: int | UnsetType = UNSET
    delivered: bool | UnsetType = UNSET


class Dropped(Message, frozen=True, kw_only=True):
    """A slow dashboard lost `count` frames, the oldest ones."""

    count: int


FramesServerMessage = ToolFrame | Dropped | Refused
FramesClientMessage = Hello
