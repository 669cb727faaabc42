"""A strict Gemini Live server, driven by a test or by hand.

    python -m tests.fakes.gemini_live --port 9302

Whatever it dislikes closes the connection, with a reason and nothing else. It speaks binary
frames and says several things at once. A test says what the model does.
"""

import re
import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any

import orjson
from aiohttp import web

from tests.fakes import gemini_rules as rules
from tests.fakes.gemini_rules import Invalid, Model
from tests.fakes.provider_server import Json, ProviderConnection, ProviderServer

PATH = re.compile(
    r"/ws/google\.ai\.generativelanguage\.(v1|v1beta|v1alpha)"
    r"\.GenerativeService\.BidiGenerateContent"
)
_RATE = re.compile(r"audio/pcm;rate=(\d+)")


class GeminiConnection(ProviderConnection):
    """One connection."""

    def __init__(
        self, server: "FakeGemini", request: web.Request, ws: web.WebSocketResponse
    ) -> None:
        super().__init__(request, ws, server.faults)
        self.server = server
        self.model: Model
        self.setup: Json | None = None
        self.tools: list[str] = []
        self.audio = bytearray()
        self.rates: set[int] = set()
        self.texts: list[str] = []
        self.history: list[Json] = []
        self.pending: dict[str, str] = {}
        self.answers: dict[str, Json] = {}
        self.updates: list[list[str]] = []
        self.edges: list[str] = []
        self._cancelled: set[str] = set()
        self._had_turn = False
        self._history_open = False
        self._called_at = 0.0
        self._ids = count(1)

    # ---- what a test reads ---------------------------------------------------------------

    def of(self, field: str) -> list[Json]:
        return [one[field] for one in self.received if field in one]

    async def received_of(self, field: str, times: int = 1) -> list[Json]:
        """Wait for so many messages with that field; return all of them."""
        await self.until(lambda: len(self.of(field)) >= times)
        return self.of(field)

    async def ready(self) -> "GeminiConnection":
        await self.until(lambda: self.setup is not None)
        return self

    # ---- what a test makes the model do ----------------------------------------------------

    async def say(self, **fields: Any) -> None:
        """Send one message, as the real server does: JSON in a binary frame."""
        if not self.ws.closed:
            with suppress(ConnectionError):  # the client has gone; the reading half notes it
                await self.ws.send_bytes(orjson.dumps(fields))

    async def content(self, **fields: Any) -> None:
        await self.say(serverContent=fields)

    async def speak(self, pcm: bytes, text: str = "", chunk: int = 9600) -> None:
        """Sound and its transcript, with a thought in between and usage at the end."""
        assert not (self.model.blocking and self.pending), "a model that waits is mute"
        self._had_turn = True
        for start in range(0, len(pcm), chunk):
            data = b64encode(pcm[start : start + chunk]).decode()
            parts = [
                {"thought": True, "text": "not for people"},
                {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}},
            ]
            fields: Json = {"modelTurn": {"parts": parts}}
            if text and start == 0:
                fields["outputTranscription"] = {"text": text}
            await self.say(
                serverContent=fields,
                usageMetadata={"promptTokenCount": 20, "responseTokenCount": 10},
            )

    async def heard(self, text: str) -> None:
        await self.content(inputTranscription={"text": text})

    async def turn_complete(self, status: str = "IDLE") -> None:
        self._had_turn = True
        await self.content(generationComplete=True)
        more = {"interactionStatus": status} if self.model.tells_status else {}
        await self.content(turnComplete=True, **more)
        if not self.pending:
            await self.hand_out_handle()

    async def interrupted(self) -> None:
        await self.content(interrupted=True)
        await self.content(turnComplete=True)

    async def call(self, *calls: tuple[str, Any], known: bool = True) -> list[str]:
        """Ask for tools, all in one message; `args` None is left out."""
        self._had_turn = True
        asked = []
        for name, args in calls:
            assert not known or name in self.tools, f"{name} is not declared"
            call_id = f"function-call-{secrets.token_hex(4)}-{next(self._ids)}"
            self.pending[call_id] = name
            asked.append({"id": call_id, "name": name} | ({} if args is None else {"args": args}))
        self._called_at = monotonic()
        await self.say(sessionResumptionUpdate={"resumable": False})
        await self.say(toolCall={"functionCalls": asked})
        return [str(one["id"]) for one in asked]

    async def cancel(self, *call_ids: str) -> None:
        for call_id in call_ids:
            self.pending.pop(call_id, None)
            self._cancelled.add(call_id)
        await self.say(toolCallCancellation={"ids": list(call_ids)})

    async def hand_out_handle(self) -> None:
        if self.setup is not None and "sessionResumption" in self.setup:
            handle = secrets.token_hex(8)
            self.server.handles[handle] = self
            await self.say(sessionResumptionUpdate={"newHandle": handle, "resumable": True})

    async def go_away(self, seconds: float) -> None:
        """Announce the end, and end at that time whether anything is sent or not."""
        await self.say(goAway={"timeLeft": f"{seconds:g}s"})
        self.server.later(seconds, self._expire)

    # ---- the server's own conduct ------------------------------------------------------------

    async def greet(self) -> None:
        """Nothing: the client speaks first. A bad key ends the connection with a reason."""
        key = self.request.headers.get("x-goog-api-key") or self.request.query.get("key")
        if key != self.server.key:
            reason = f"API key not valid. Please pass a valid API key. ({key})"
            await self.close(1007, reason[:123])

    async def on_unreadable(self, what: str) -> None:
        await self._wrong(1007, f"Invalid JSON payload received: {what}")

    async def on_message(self, message: Json) -> None:
        message = self.received[-1] = rules.camel(message)
        try:
            await self._act(rules.field_of(message), message)
        except Invalid as invalid:
            await self._wrong(1007, str(invalid))

    async def _act(self, field: str, message: Json) -> None:
        value = message[field]
        if field == "setup":
            await self._set_up(value)
        elif self.setup is None:
            raise Invalid("Request contains an invalid argument.")
        elif field == "realtimeInput":
            await self._hear(value)
        elif field == "clientContent":
            self._take_content(value)
        elif field == "toolResponse":
            await self._take_answers(value)
        else:
            self._update_context(value)

    async def _set_up(self, setup: Json) -> None:
        if self.setup is not None:
            raise Invalid("setup must be only sent in the first message")
        if self.server.refused_setups:
            code, reason = self.server.refused_setups.pop(0)
            await self.close(code, reason)
            return
        if self.server.mute_setup:
            return
        self.model = rules.check_setup(setup)
        self.tools = rules.check_tools(setup.get("tools", []))
        handle = setup.get("sessionResumption", {}).get("handle")
        if handle is not None and not await self._resume(handle):
            return
        if self.model.audio_kills_call and setup.get("generationConfig", {}).get(
            "enableAffectiveDialog"
        ):
            return  # this generation never answers such a setup
        self.setup = setup
        self._history_open = bool(setup.get("historyConfig"))
        await self.say(setupComplete={"sessionId": secrets.token_hex(4)})
        await self.say(serverContent={}, usageMetadata={"promptTokenCount": 5})

    async def _resume(self, handle: str) -> bool:
        holder = self.server.handles.pop(handle, None)
        if holder is None:
            await self.close(1008, "Requested entity was not found.")
        elif not holder.closed.is_set():
            await self._wrong(1011, "The session is still connected elsewhere.")
        else:
            self._had_turn = True
            return True
        return False

    async def _hear(self, given: Json) -> None:
        rules.only(given, rules.REALTIME, "realtime_input")
        if len(given) != 1:
            raise Invalid("Request contains an invalid argument.")
        manual = (
            self.setup["realtimeInputConfig"]["automaticActivityDetection"].get("disabled")
            if self.setup and "realtimeInputConfig" in self.setup
            else False
        )
        match given:
            case {"audio": {"data": data, "mimeType": kind}}:
                await self._hear_audio(data, kind)
            case {"text": str(text)} if self.model.text_input:
                self.texts.append(text)
            case {"audioStreamEnd": True} if not manual:
                self.edges.append("audioStreamEnd")
            case {"activityStart": {}} if manual:
                self.edges.append("activityStart")
            case {"activityEnd": {}} if manual:
                self.edges.append("activityEnd")
            case _:
                raise Invalid("Request contains an invalid argument.")

    async def _hear_audio(self, data: str, kind: str) -> None:
        try:
            self.audio += b64decode(data, validate=True)
        except (Base64Error, ValueError):
            raise Invalid("Invalid value at 'realtime_input.audio.data'") from None
        rate = _RATE.fullmatch(kind)
        self.rates.add(int(rate[1]) if rate else 16_000)
        in_flight = monotonic() < self._called_at + self.server.in_flight_s
        if self.pending and self.model.audio_kills_call and not in_flight:
            await self._wrong(1008, "Operation is not implemented, or supported, or enabled.")

    def _take_content(self, given: Json) -> None:
        rules.only(given, {"turns", "turnComplete"}, "client_content")
        if not self.model.late_content and not self._history_open:
            raise Invalid("Request contains an invalid argument.")
        for turn in given.get("turns", []):
            rules.only(turn, {"role", "parts"}, "client_content.turns[0]")
            if turn.get("role") not in {"user", "model"}:
                raise Invalid("Please use a valid role: user, model.")
        if self._history_open or not given.get("turnComplete"):
            self.history += given.get("turns", [])
        else:
            self.texts += [turn["parts"][0]["text"] for turn in given["turns"]]
        if given.get("turnComplete"):
            self._history_open = False

    async def _take_answers(self, given: Json) -> None:
        rules.only(given, {"functionResponses"}, "tool_response")
        for one in given["functionResponses"]:
            rules.only(
                one, {"id", "name", "response", "scheduling", "willContinue"}, "tool_response"
            )
            if (
                not one.get("id")
                or not one.get("name")
                or not isinstance(one.get("response"), dict)
            ):
                raise Invalid("Request contains an invalid argument.")
            if one["id"] in self._cancelled:
                self.faults.append("an answer to a cancelled call")
            if self.pending.pop(one["id"], None) != one["name"]:
                await self._wrong(1008, "Requested entity was not found.")
                return
            if "scheduling" in one and (
                self.model.blocking or one["scheduling"] not in {"SILENT", "WHEN_IDLE", "INTERRUPT"}
            ):
                raise Invalid("Request contains an invalid argument.")
            self.answers[one["id"]] = one["response"]

    def _update_context(self, given: Json) -> None:
        rules.only(given, {"tools", "systemInstruction"}, "context_update")
        if not self.model.context_update:
            raise Invalid('Unknown name "contextUpdate": Cannot find field.')
        self.tools = rules.check_tools(given["tools"]["tools"])
        self.updates.append(self.tools)

    async def _expire(self) -> None:
        await self.close(1011, "Deadline expired before operation could complete.")

    async def _wrong(self, code: int, reason: str) -> None:
        self.faults.append(f"{code}: {reason}")
        await self.close(code, reason[:123])


class FakeGemini(ProviderServer[GeminiConnection]):
    """The server; `async with FakeGemini() as server`."""

    def __init__(self, *, key: str = "AIzaCanary000000", port: int = 0) -> None:
        super().__init__(key=key, port=port)
        self.handles: dict[str, GeminiConnection] = {}
        self.refused_setups: list[tuple[int, str]] = []
        self.mute_setup = False
        self.in_flight_s = 0.2
        """Sound that was sent before the client can know of a call is forgiven so long."""

    @property
    def base_url(self) -> str:
        return f"ws://{self.address}"

    def refusal(self, request: web.Request) -> int | None:
        return None if PATH.fullmatch(request.path) else 404

    def make(self, request: web.Request, ws: web.WebSocketResponse) -> GeminiConnection:
        return GeminiConnection(self, request, ws)


if __name__ == "__main__":
    from tests.fakes.by_hand import serve_gemini

    serve_gemini()
