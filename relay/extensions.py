"""Built-in tools (a ToolHost): what extensions there are, and calling one by name.

A tool called through `call_extension` goes through the same dispatcher as every other call:
its frames carry its own name and `via: call_extension`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import orjson

from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.dispatch import ToolDispatcher
from relay.tools.tool import (
    CallId,
    HostKind,
    ToolCall,
    ToolName,
    ToolSpec,
    ToolSucceeded,
    Waiting,
)

LIST, CALL = ToolName("list_extensions"), ToolName("call_extension")
_TEXT = {"type": "string"}
_SPECS = (
    ToolSpec(
        name=LIST,
        description="List the WebAssembly extensions: what each does and whether it can be called",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
    ),
    ToolSpec(
        name=CALL,
        description="Call an extension by its name; hash takes input, diff takes a and b",
        parameters={
            "type": "object",
            "properties": {"name": _TEXT, "input": _TEXT, "a": _TEXT, "b": _TEXT},
            "required": ["name"],
            "additionalProperties": False,
        },
    ),
)


class Extensions:
    """The built-in tools of one room."""

    kind: HostKind = "built-in"

    def __init__(
        self,
        *,
        shelf_status: Callable[[], Awaitable[dict[str, Any]]],
        is_extension: Callable[[str], bool],
        dispatcher: ToolDispatcher,
    ) -> None:
        self._shelf_status = shelf_status
        self._is_extension = is_extension
        self._dispatcher = dispatcher

    def specs(self) -> tuple[ToolSpec, ...]:
        """Their declarations."""
        return _SPECS

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        """Run one; see ToolHost."""
        if spec.name == LIST:
            return await self.list()
        return await self._forward(call, args, waiting)

    async def list(self) -> bytes:
        """Every extension as JSON: {ok, extensions: [{id, abi, digest, ok, refused?, why?}]}."""
        status = await self._shelf_status()
        return orjson.dumps({"ok": status["ok"], "extensions": status["tools"]})

    async def _forward(self, call: ToolCall, args: dict[str, Any], waiting: Waiting) -> bytes:
        name = args["name"]
        if not self._is_extension(name):
            raise Refusal(
                RefusalCode.UNKNOWN_TOOL, "no extension of that name; list_extensions tells them"
            )
        inner = msgspec.structs.replace(
            call,
            call_id=CallId(f"{call.call_id}.1"),
            name=name,
            args={key: value for key, value in args.items() if key != "name"},
            app_id=None,
            via=CALL,
        )
        outcome = await self._dispatcher.call(inner)
        waiting.queued_ms = outcome.queued_ms
        if isinstance(outcome, ToolSucceeded):
            return outcome.result_json
        raise Refusal(outcome.code, outcome.why)
