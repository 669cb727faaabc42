"""A place where tools run at once, in the test's own process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from relay.tools.tool import HostKind, ToolCall, ToolSpec, Waiting

Behaviour = Callable[[dict[str, Any]], Awaitable[object]]


async def echo(args: dict[str, Any]) -> object:
    return args


async def hang(_: dict[str, Any]) -> object:
    """End only when the call is cancelled."""
    await asyncio.Event().wait()
    return None


class FakeHost:
    """Remembers its calls and answers what `behaviour` returns."""

    def __init__(self, behaviour: Behaviour = echo, kind: HostKind = "mini-app") -> None:
        self.kind = kind
        self.calls: list[tuple[ToolCall, dict[str, Any]]] = []
        self._behaviour = behaviour

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        self.calls.append((call, args))
        return orjson.dumps(await self._behaviour(args))
