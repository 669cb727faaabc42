"""One workspace page as a place where tools run: call_tool out, tool_result back, by CallId.

The page may drop and come back; what it owes is refused at once, what it registered is the
room's to keep or to withdraw. It knows no socket: messages leave through `send`.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from relay.protocol.limits import Limits
from relay.protocol.messages import CallTool, CancelTool, Message, ToolResult
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.tool import CallId, HostKind, ToolCall, ToolSpec, Waiting

_GONE = "the page that runs the app is gone"
# What a page may say of a call; anything else is the app's failure
_FROM_THE_PAGE = frozenset(RefusalCode)


class MiniAppHost:
    """A ToolHost for the apps of one page."""

    kind: HostKind = "mini-app"

    def __init__(self, *, limits: Limits) -> None:
        self._limits = limits
        self._send: Callable[[Message], None] | None = None
        self._pending: dict[CallId, asyncio.Future[bytes]] = {}
        self.dropped_answers = 0

    @property
    def attached(self) -> bool:
        """Whether a page can take a call now."""
        return self._send is not None

    def attach(self, send: Callable[[Message], None]) -> None:
        """A page is there; `send` must not block."""
        self._send = send

    def detach(self) -> None:
        """The page is gone: every pending call is refused at once."""
        self._send = None
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(Refusal(RefusalCode.MINI_APP_UNREACHABLE, _GONE))

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        """Ask the page; see ToolHost. `call.app_id` says which app."""
        if self._send is None:
            raise Refusal(RefusalCode.MINI_APP_UNREACHABLE, _GONE)
        if call.app_id is None or call.call_id in self._pending:
            raise Refusal(RefusalCode.BAD_REQUEST, "a call needs an app and an id of its own")
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._pending[call.call_id] = answer
        try:
            self._send(self._question(spec, call, args))
            async with asyncio.timeout(self._limits.tool_call_timeout_ms / 1000):
                return await answer
        except TimeoutError:
            self._cancel(call.call_id, "timeout")
            ms = self._limits.tool_call_timeout_ms
            raise Refusal(
                RefusalCode.TIME_EXCEEDED, f"tool execution timed out after {ms}ms"
            ) from None
        except asyncio.CancelledError:
            self._cancel(call.call_id, "cancelled")
            raise
        finally:
            del self._pending[call.call_id]

    def answer(self, result: ToolResult) -> None:
        """Take a page's answer: the first valid one wins; late and foreign ones are counted."""
        pending = self._pending.get(CallId(result.call_id))
        if pending is None or pending.done():
            self.dropped_answers += 1
            return
        try:
            pending.set_result(self._checked(result))
        except Refusal as refusal:
            pending.set_exception(refusal)

    def _question(self, spec: ToolSpec, call: ToolCall, args: dict[str, Any]) -> CallTool:
        return CallTool(
            call_id=call.call_id,
            app_id=str(call.app_id),
            name=spec.name,
            args=msgspec.Raw(orjson.dumps(args)),
            deadline_ms=self._limits.tool_call_timeout_ms,
        )

    def _checked(self, result: ToolResult) -> bytes:
        if not result.ok:
            code = result.refused if isinstance(result.refused, str) else ""
            known = code in _FROM_THE_PAGE
            why = result.why if isinstance(result.why, str) else "the tool failed"
            raise Refusal(RefusalCode(code) if known else RefusalCode.MINI_APP_TOOL_FAILED, why)
        if not isinstance(result.result, msgspec.Raw):
            return b"null"
        text = bytes(result.result)
        if len(text) > self._limits.tool_output_max_bytes:
            raise Refusal(RefusalCode.OUTPUT_OVER_BUDGET, "output over budget (max 64KB)")
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            raise Refusal(
                RefusalCode.RESULT_NOT_SERIALISABLE, "the page's result is not JSON"
            ) from None
        return text

    def _cancel(self, call_id: CallId, reason: str) -> None:
        if self._send is not None:
            self._send(CancelTool(call_id=call_id, reason=reason))
