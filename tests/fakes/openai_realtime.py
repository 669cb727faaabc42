"""A strict OpenAI Realtime server, driven by a test or by hand.

    python -m tests.fakes.openai_realtime --port 9301

It keeps the conversation, refuses what the real server refuses, and never answers an output by
itself. A test says what the model does: `connection.response()` begins a response, as voice
detection would; a `response.create` of the client ends up in `asked()`.
"""

import asyncio
import copy
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any

from aiohttp import web

from tests.fakes import openai_rules as rules
from tests.fakes.openai_rules import Problem
from tests.fakes.provider_server import Json, ProviderConnection, ProviderServer

BYTES_PER_MS = 48
COMMIT_MIN_BYTES = 4800


class Response:
    """A response that is being written; a test says what is in it."""

    def __init__(self, connection: "OpenAIConnection", metadata: Json) -> None:
        self._connection = connection
        self._say = connection.emit
        self.id = f"resp_{secrets.token_hex(8)}"
        self.metadata = metadata
        self.output: list[Json] = []
        self.is_done = False
        self._open_calls: list[Json] = []

    async def begin(self) -> None:
        response = {"id": self.id, "status": "in_progress", "metadata": self.metadata, "output": []}
        await self._say("response.created", response=response)

    async def message(self) -> str:
        """Begin an audible item; return its id."""
        item = {"id": _id("item"), "type": "message", "role": "assistant", "content": []}
        self.output.append(item)
        self._connection.items[item["id"]] = {"role": "assistant", "bytes": 0}
        await self._say("response.output_item.added", response_id=self.id, item=item)
        await self._say("conversation.item.added", item=item)
        part = {"type": "output_audio", "transcript": ""}
        await self._item("response.content_part.added", item["id"], part=part)
        return str(item["id"])

    async def audio(self, item_id: str, pcm: bytes, chunk: int = 9600) -> None:
        """Send sound, as fast as the socket takes it; `chunk` bytes an event."""
        for start in range(0, len(pcm), chunk):
            piece = pcm[start : start + chunk]
            self._connection.items[item_id]["bytes"] += len(piece)
            self._connection.has_spoken = True
            delta = b64encode(piece).decode()
            await self._item("response.output_audio.delta", item_id, delta=delta)

    async def transcript(self, item_id: str, text: str) -> None:
        await self._item("response.output_audio_transcript.delta", item_id, delta=text)

    async def end_message(self, item_id: str, text: str = "") -> None:
        await self._item("response.output_audio.done", item_id)
        await self._item("response.output_audio_transcript.done", item_id, transcript=text)
        item = next(one for one in self.output if one["id"] == item_id)
        item["status"] = "completed"
        await self._say("response.output_item.done", response_id=self.id, item=item)
        await self._say("conversation.item.done", item=item)

    async def speak(self, pcm: bytes, text: str = "") -> str:
        """Say a whole item."""
        item_id = await self.message()
        await self.audio(item_id, pcm)
        if text:
            await self.transcript(item_id, text)
        await self.end_message(item_id, text)
        return item_id

    async def call(self, name: str, arguments: Any = "{}", *, finish: bool = True) -> str:
        """Ask for a tool; all three announcements, as the real server makes them."""
        item = {
            "id": _id("item"),
            "type": "function_call",
            "call_id": _id("call"),
            "name": name,
            "arguments": "",
            "status": "in_progress",
        }
        self.output.append(item)
        self._connection.issued.add(str(item["call_id"]))
        await self._say("response.output_item.added", response_id=self.id, item=dict(item))
        await self._say("conversation.item.added", item=dict(item))
        item["arguments"] = arguments
        if finish:
            await self._end_call(item, "completed")
        else:
            self._open_calls.append(item)
        return str(item["call_id"])

    async def done(
        self, status: str = "completed", reason: str | None = None, error: Json | None = None
    ) -> None:
        """End the response; what is unfinished in it is announced as incomplete."""
        if self.is_done:
            return
        self.is_done = True
        for item in self._open_calls:
            item["arguments"] = str(item["arguments"])[:-1]
            await self._end_call(item, "incomplete")
        for item in self.output:
            item.setdefault("status", "completed" if status == "completed" else "incomplete")
        self._connection.active.pop(self.id, None)
        await self._say(
            "response.done",
            response={
                "id": self.id,
                "status": status,
                "status_details": {"type": status, "reason": reason, "error": error},
                "output": self.output,
                "usage": {"input_tokens": 20, "output_tokens": 10, "total_tokens": 30},
                "metadata": self.metadata,
            },
        )

    async def _end_call(self, item: Json, status: str) -> None:
        item["status"] = status
        await self._item(
            "response.function_call_arguments.done",
            item["id"],
            call_id=item["call_id"],
            name=item["name"],
            arguments=item["arguments"],
        )
        await self._say("response.output_item.done", response_id=self.id, item=item)

    async def _item(self, kind: str, item_id: str, **fields: Any) -> None:
        await self._say(
            kind, response_id=self.id, item_id=item_id, output_index=0, content_index=0, **fields
        )


class OpenAIConnection(ProviderConnection):
    """One session."""

    def __init__(
        self, server: "FakeOpenAI", request: web.Request, ws: web.WebSocketResponse
    ) -> None:
        super().__init__(request, ws, server.faults)
        self.server = server
        self.session: Json = {
            "type": "realtime",
            "model": request.query["model"],
            "tools": [],
            "instructions": "default instructions of the server",
            "audio": {"input": {"turn_detection": {"type": "server_vad"}}, "output": {}},
        }
        self.configured = False
        self.has_spoken = False
        self.items: dict[str, Json] = {}
        self.issued: set[str] = set()
        self.outputs: dict[str, str] = {}
        self.active: dict[str, Response] = {}
        self.audio = bytearray()
        self.truncations: list[Json] = []
        self.refused: list[str] = []
        """The code of every error event, whoever is to blame."""
        self.interjection: Callable[[], Awaitable[Any]] | None = None
        """What the server does just before it reads the client's next item."""
        self._uncommitted = 0
        self._asked: asyncio.Queue[Response] = asyncio.Queue()
        self._events = count(1)

    # ---- what a test reads ---------------------------------------------------------------

    def of(self, kind: str) -> list[Json]:
        return [one for one in self.received if one["type"] == kind]

    async def received_of(self, kind: str, times: int = 1) -> list[Json]:
        """Wait for so many messages of that type; return all of them."""
        await self.until(lambda: len(self.of(kind)) >= times)
        return self.of(kind)

    async def asked(self) -> Response:
        """The response that the client's next `response.create` began."""
        return await self._asked.get()

    async def ready(self) -> "OpenAIConnection":
        await self.until(lambda: self.configured)
        return self

    # ---- what a test makes the model do ----------------------------------------------------

    async def emit(self, kind: str, **fields: Any) -> None:
        if not self.ws.closed:
            with suppress(ConnectionError):  # the client has gone; the reading half notes it
                await self.ws.send_json(
                    {"type": kind, "event_id": f"event_{next(self._events)}", **fields}
                )

    async def response(self) -> Response:
        """Begin a response, as voice detection does."""
        return await self._begin({})

    async def volunteer(self) -> None:
        """Begin a response as voice detection does, and hand it to whoever waits in `asked`."""
        self._asked.put_nowait(await self.response())

    async def speech_started(self) -> None:
        """The person speaks; the server interrupts by itself what it is saying."""
        await self.emit("input_audio_buffer.speech_started", audio_start_ms=0, item_id=_id("item"))
        for response in tuple(self.active.values()):
            await response.done("cancelled", "turn_detected")

    async def speech_stopped(self) -> None:
        item_id = _id("item")
        await self.emit("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=item_id)
        await self.emit("input_audio_buffer.committed", item_id=item_id, previous_item_id=None)

    async def heard(self, text: str, item_id: str | None = None) -> None:
        """What the person said, in writing."""
        kind = "conversation.item.input_audio_transcription"
        item_id = item_id or _id("item")
        await self.emit(f"{kind}.delta", item_id=item_id, content_index=0, delta=text)
        await self.emit(f"{kind}.completed", item_id=item_id, content_index=0, transcript=text)

    async def fail(self, code: str, message: str = "", event_id: str | None = None) -> None:
        await self._refuse(Problem(code, message or code), event_id)

    # ---- the server's own conduct ------------------------------------------------------------

    async def greet(self) -> None:
        if "realtime" in self.request.headers.get("OpenAI-Beta", ""):
            await self._refuse(
                Problem("beta_api_shape_disabled", "The Realtime Beta API is no longer supported.")
            )
            await self.close(4000, "invalid_request_error.beta_api_shape_disabled")
            return
        await asyncio.sleep(self.server.greeting_delay_s)
        await self.emit("session.created", session=self.session)

    async def on_unreadable(self, what: str) -> None:
        await self._wrong(Problem("invalid_json", f"The server got {what}."), None)

    async def on_message(self, event: Json) -> None:
        event_id = event.get("event_id")
        problem = rules.check_event(event) or await self._act(event)
        if problem is not None:
            await self._wrong(problem, event_id)

    async def _act(self, event: Json) -> Problem | None:
        act = {
            "session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "conversation.item.create": self._create_item,
            "conversation.item.truncate": self._truncate,
            "response.create": self._create_response,
            "response.cancel": self._cancel,
        }[event["type"]]
        return await act(event)

    async def _update(self, event: Json) -> Problem | None:
        if self.server.refused_updates:
            await self._refuse(self.server.refused_updates.pop(0), event.get("event_id"))
            return None
        session = event.get("session")
        problem = rules.check_update(session, self.session, has_spoken=self.has_spoken)
        if problem is not None:
            return problem
        assert isinstance(session, dict)
        for name, value in copy.deepcopy(session).items():
            self.session[name] = value if name != "audio" else self.session["audio"]
        for side, fields in session.get("audio", {}).items():
            self.session["audio"][side] |= fields
        self.configured = True
        await self.emit("session.updated", session=self.session)
        return None

    async def _append(self, event: Json) -> Problem | None:
        audio = rules.check_append(event)
        if isinstance(audio, Problem):
            return audio
        if not self.configured:
            self.faults.append("sound before session.updated")
        self.audio += audio
        self._uncommitted += len(audio)
        return None

    async def _clear(self, event: Json) -> Problem | None:
        self._uncommitted = 0
        await self.emit("input_audio_buffer.cleared")
        return None

    async def _commit(self, event: Json) -> Problem | None:
        if self._uncommitted < COMMIT_MIN_BYTES:
            await self.fail("input_audio_buffer_commit_empty", "Expected at least 100ms of audio.")
            return None
        self._uncommitted = 0
        await self.emit("input_audio_buffer.committed", item_id=_id("item"))
        return None

    async def _create_item(self, event: Json) -> Problem | None:
        if self.interjection is not None:
            interjection, self.interjection = self.interjection, None
            await interjection()
        item: Json = event["item"]
        if problem := rules.check_item(item, set(self.items)):
            return problem
        if item["type"] == "function_call_output":
            if problem := rules.check_output(item, self.issued):
                return problem
            if item["call_id"] in self.outputs:
                self.faults.append(f"a second output for {item['call_id']}")
            self.outputs[item["call_id"]] = item["output"]
        item = {"id": _id("item"), **item}
        self.items[item["id"]] = {"role": item.get("role", "tool"), "bytes": 0}
        await self.emit("conversation.item.added", item=item)
        await self.emit("conversation.item.done", item=item)
        return None

    async def _truncate(self, event: Json) -> Problem | None:
        item = self.items.get(event["item_id"])
        if item is None:
            return Problem("invalid_value", "Item not found.", "item_id")
        if item["role"] != "assistant" or not item["bytes"]:
            return Problem(
                "unsupported_content_type", "Only model output audio messages can be truncated"
            )
        length_ms = item["bytes"] // BYTES_PER_MS
        if not isinstance(event["audio_end_ms"], int) or event["audio_end_ms"] > length_ms:
            asked = event["audio_end_ms"]
            message = f"Audio content of {length_ms}ms is already shorter than {asked}ms"
            return Problem("invalid_value", message, "audio_end_ms")
        self.truncations.append(event)
        await self.emit(
            "conversation.item.truncated",
            **{key: event[key] for key in ("item_id", "content_index", "audio_end_ms")},
        )
        return None

    async def _create_response(self, event: Json) -> Problem | None:
        asked = event.get("response", {})
        if problem := rules.check_response(asked):
            return problem
        if self.active:
            running = next(iter(self.active))
            message = f"Conversation already has an active response in progress: {running}."
            await self._refuse(
                Problem("conversation_already_has_active_response", message), event.get("event_id")
            )
            return None

        async def begin() -> None:
            self._asked.put_nowait(await self._begin(asked.get("metadata") or {}))

        if self.server.create_delay_s:
            self.server.later(self.server.create_delay_s, begin)
        else:
            await begin()
        return None

    async def _cancel(self, event: Json) -> Problem | None:
        response_id = event.get("response_id") or next(iter(self.active), "")
        response = self.active.get(response_id)
        if response is None:
            await self._refuse(
                Problem(
                    "response_cancel_not_active", "Cancellation failed: no active response found"
                ),
                event.get("event_id"),
            )
            return None
        self.server.later(
            self.server.cancel_delay_s, lambda: response.done("cancelled", "client_cancelled")
        )
        return None

    async def _begin(self, metadata: Json) -> Response:
        assert not self.active, "only one response writes to a conversation"
        response = Response(self, metadata if self.server.echoes_metadata else {})
        self.active[response.id] = response
        await response.begin()
        return response

    async def _wrong(self, problem: Problem, event_id: Any) -> None:
        self.faults.append(f"{problem.code}: {problem.message} ({problem.param})")
        await self._refuse(problem, event_id)

    async def _refuse(self, problem: Problem, event_id: Any = None) -> None:
        self.refused.append(problem.code)
        error = {"type": "invalid_request_error", **problem._asdict(), "event_id": event_id}
        await self.emit("error", error=error)


class FakeOpenAI(ProviderServer[OpenAIConnection]):
    """The server; `async with FakeOpenAI() as server`."""

    def __init__(self, *, key: str = "sk-canary-000000", port: int = 0) -> None:
        super().__init__(key=key, port=port)
        self.greeting_delay_s = 0.0
        self.create_delay_s = 0.0
        self.cancel_delay_s = 0.0
        self.echoes_metadata = True
        self.refused_updates: list[Problem] = []

    @property
    def base_url(self) -> str:
        return f"ws://{self.address}/v1"

    def refusal(self, request: web.Request) -> int | None:
        if request.path != "/v1/realtime":
            return 404
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return 401
        return None if request.query.get("model") else 400

    def make(self, request: web.Request, ws: web.WebSocketResponse) -> OpenAIConnection:
        return OpenAIConnection(self, request, ws)


def _id(kind: str) -> str:
    return f"{kind}_{secrets.token_hex(8)}"


if __name__ == "__main__":
    from tests.fakes.by_hand import serve_openai

    serve_openai()
