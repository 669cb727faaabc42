"""Gemini's Live protocol: JSON to what it says, and commands to JSON. Pure.

Knows no state and never raises on what a server sends. One message may say several things at
once; they are returned in the order in which they count: what interrupts before what is said,
calls before the end of the turn.
Source: Gemini API reference, Live API (BidiGenerateContent messages).
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from msgspec import Struct

from relay.providers import fields
from relay.providers.declared import Declaration
from relay.providers.fields import Json
from relay.providers.gemini import events as said
from relay.providers.memory import Said

INPUT_RATE_HZ = 16_000
OUTPUT_RATE_HZ = 24_000
_MIME = f"audio/pcm;rate={INPUT_RATE_HZ}"
_RATE = re.compile(r"rate=(\d+)")
_RATES_HZ = range(8_000, 96_001)
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


def read(frame: str | bytes) -> list[said.ServerEvent]:
    """Read one server message, which comes as text or as binary."""
    try:
        message = orjson.loads(frame)
    except orjson.JSONDecodeError:
        return []
    return list(_read(message)) if isinstance(message, dict) else []


def _read(message: Json) -> Iterator[said.ServerEvent]:
    if "setupComplete" in message:
        yield said.SetupComplete()
    content = fields.mapping(message, "serverContent")
    yield from _heard(content)
    yield from _spoken(content)
    yield from _calls(message)
    if content.get("turnComplete") is True:
        yield said.TurnComplete(
            reason=fields.text(content, "turnCompleteReason") or "completed", idle=_idle(content)
        )
    usage = fields.mapping(message, "usageMetadata")
    if usage:
        yield said.Used(
            input_tokens=fields.count(usage, "promptTokenCount"),
            output_tokens=fields.count(usage, "responseTokenCount"),
        )
    yield from _connection(message)


def _heard(content: Json) -> Iterator[said.ServerEvent]:
    heard = fields.mapping(content, "inputTranscription")
    if heard:
        yield said.UserText(
            delta=fields.text(heard, "text"), finished=heard.get("finished") is True
        )
    if content.get("interrupted") is True:
        yield said.Interrupted()


def _spoken(content: Json) -> Iterator[said.ServerEvent]:
    parts = fields.mapping(content, "modelTurn").get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("thought") is not True:
            yield from _part(part)
    spoken = fields.mapping(content, "outputTranscription")
    if spoken:
        yield said.AnswerText(
            delta=fields.text(spoken, "text"), finished=spoken.get("finished") is True
        )
    if content.get("generationComplete") is True:
        yield said.GenerationComplete()


def _part(part: Json) -> Iterator[said.ServerEvent]:
    data = fields.mapping(part, "inlineData")
    kind = fields.text(data, "mimeType")
    rate = _RATE.search(kind)
    rate_hz = int(rate[1][:9]) if rate else OUTPUT_RATE_HZ
    if not kind.startswith("audio/pcm") or rate_hz not in _RATES_HZ:
        return
    try:
        yield said.Sound(b64decode(fields.text(data, "data"), validate=True), rate_hz)
    except (Base64Error, ValueError):
        return


def _calls(message: Json) -> Iterator[said.ServerEvent]:
    asked = fields.mapping(message, "toolCall").get("functionCalls")
    calls = [
        said.Call(
            call_id=fields.text(call, "id"), name=fields.text(call, "name"), args=call.get("args")
        )
        for call in (asked if isinstance(asked, list) else ())
        if isinstance(call, dict) and fields.text(call, "id")
    ]
    if calls:
        yield said.Calls(calls)
    cancelled = fields.mapping(message, "toolCallCancellation").get("ids")
    if isinstance(cancelled, list):
        yield said.CallsCancelled([one for one in cancelled if isinstance(one, str)])


def _connection(message: Json) -> Iterator[said.ServerEvent]:
    going = message.get("goAway")
    if isinstance(going, dict):
        left = _SECONDS.fullmatch(fields.text(going, "timeLeft"))
        yield said.GoingAway(float(left[1]) * 1000 if left else 0.0)
    update = fields.mapping(message, "sessionResumptionUpdate")
    if update.get("resumable") is True and fields.text(update, "newHandle"):
        yield said.Handle(fields.text(update, "newHandle"))


def _idle(content: Json) -> bool | None:
    status = fields.text(content, "interactionStatus")
    return status == "IDLE" if status else None


# ---- commands: each message has exactly one field --------------------------------------------


class Setup(Struct, frozen=True, kw_only=True):
    """The first message of a connection."""

    model: str
    instructions: str
    voice: str
    tools: Sequence[Declaration]
    manual: bool
    handle: str | None
    history_follows: bool


def setup(wanted: Setup) -> str:
    """Begin, or take a session up; fields without a value are left out, not null."""
    model = wanted.model if wanted.model.startswith("models/") else f"models/{wanted.model}"
    voice = {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": wanted.voice}}}
    fields: dict[str, Any] = {
        "model": model,
        "generationConfig": {"responseModalities": ["AUDIO"], "speechConfig": voice},
        "systemInstruction": {"parts": [{"text": wanted.instructions}]},
        "realtimeInputConfig": {"automaticActivityDetection": {"disabled": wanted.manual}},
        "sessionResumption": {} if wanted.handle is None else {"handle": wanted.handle},
        "contextWindowCompression": {"slidingWindow": {}},
        "inputAudioTranscription": {},
        "outputAudioTranscription": {},
    }
    if wanted.tools:
        fields["tools"] = _tools(wanted.tools)
    if wanted.history_follows:
        fields["historyConfig"] = {"initialHistoryInClientContent": True}
    return _line("setup", fields)


def audio(pcm: bytes) -> str:
    """Say sound: PCM16 little-endian mono, 16 kHz."""
    return _line("realtimeInput", {"audio": {"data": b64encode(pcm).decode(), "mimeType": _MIME}})


def text(words: str) -> str:
    """Say a typed turn; it is always answered."""
    return _line("realtimeInput", {"text": words})


def edge(name: str) -> str:
    """Say `activityStart` or `activityEnd`, for sessions that do not find the edges themselves."""
    return _line("realtimeInput", {name: {}})


def stream_end() -> str:
    """Say that no sound follows for now, for sessions that find the edges themselves."""
    return _line("realtimeInput", {"audioStreamEnd": True})


def content(turns: Sequence[Said], *, answer: bool) -> str:
    """Add written turns; `answer` ends them (as history: it is then whole)."""
    roles = {"user": "user", "assistant": "model"}
    written = [{"role": roles[turn.role], "parts": [{"text": turn.text}]} for turn in turns]
    return _line("clientContent", {"turns": written, "turnComplete": answer})


class Answer(Struct, frozen=True, kw_only=True):
    """The outcome of a call; `outcome` is the UTF-8 JSON text of an object."""

    call_id: str
    name: str
    outcome: bytes


def tool_response(answers: Sequence[Answer], *, scheduled: bool) -> str:
    """Answer calls; `scheduled` for models that go on talking meanwhile."""
    when = {"scheduling": "WHEN_IDLE"} if scheduled else {}
    responses = [
        {"id": one.call_id, "name": one.name, "response": orjson.Fragment(one.outcome), **when}
        for one in answers
    ]
    return _line("toolResponse", {"functionResponses": responses})


def update_tools(tools: Sequence[Declaration]) -> str:
    """Replace the tools of a running session; nothing acknowledges it."""
    return _line("contextUpdate", {"tools": {"tools": _tools(tools) if tools else []}})


def _tools(tools: Sequence[Declaration]) -> list[dict[str, Any]]:
    return [{"functionDeclarations": list(tools)}]


def _line(field: str, value: object) -> str:
    return orjson.dumps({field: value}).decode()
