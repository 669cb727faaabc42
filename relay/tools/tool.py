"""The words of a tool's life: declared (ToolSpec), asked (ToolCall), done (ToolOutcome).

Nothing here checks a schema or runs anything.
"""

from typing import Any, Literal, NewType, Protocol

from msgspec import Struct, field

from relay.protocol.refusals import Refusal, RefusalCode

CallId = NewType("CallId", str)
AppId = NewType("AppId", str)
ToolName = NewType("ToolName", str)
HostKind = Literal["mini-app", "wasm", "built-in"]


class ToolSpec(Struct, frozen=True, kw_only=True):
    """An admitted declaration in its normal form.

    `parameters` is {type: "object", properties, required?, additionalProperties?} of the
    admitted subset (`relay.tools.schema`); it is never mutated.
    """

    name: ToolName
    description: str
    parameters: dict[str, Any]
    destructive: bool = False
    """Its author says that it destroys something (`annotations.destructiveHint`)."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """A call as it was asked for.

    `args` is what JSON said (not yet checked); `args_error` stands when it was not JSON.
    `app_id` is set by dispatch, from the registry: the app that registered the tool.
    """

    call_id: CallId
    name: str
    args: object = None
    args_error: str | None = None
    app_id: AppId | None = None
    session_id: str | None = None
    provider: str | None = None
    via: str | None = None


class ToolSucceeded(Struct, frozen=True, kw_only=True):
    """`result_json` is the result as UTF-8 JSON text."""

    result_json: bytes
    duration_ms: float
    queued_ms: float = 0.0


class ToolRefused(Struct, frozen=True, kw_only=True):
    """A rule said no, or the tool failed; the call had no (visible) result."""

    code: RefusalCode
    why: str
    duration_ms: float
    queued_ms: float = 0.0


ToolOutcome = ToolSucceeded | ToolRefused


class Waiting(Struct, kw_only=True):
    """Where a host notes how long a call waited for a place, in ms."""

    queued_ms: float = 0.0


class ToolHost(Protocol):
    """A place where tools run: a mini-app's page, the shelf, the relay itself."""

    kind: HostKind

    async def call(
        self, spec: ToolSpec, call: ToolCall, args: dict[str, Any], waiting: Waiting
    ) -> bytes:
        """Run the tool with checked arguments and return its result as UTF-8 JSON text.

        Cancelling the task cancels the call where it runs. Raises: Refusal.
        """
        ...


class Registered(Struct, frozen=True, kw_only=True):
    """A tool in a room's registry: `exposed_name` is what the model calls."""

    exposed_name: ToolName
    spec: ToolSpec
    host: ToolHost
    app_id: AppId | None = None


class Admission(Struct, kw_only=True):
    """What became of a set of declarations, in the order in which they came."""

    accepted: list[Registered] = field(default_factory=list)
    rejected: list[tuple[str, Refusal]] = field(default_factory=list)
