"""One road for every call, whoever asks: look up, check, run, time, tell.

Only this module measures a call and only here a tool's refusal is caught. Deadlines belong
to the hosts, which alone know when a call really starts to run.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from time import perf_counter

import msgspec
import orjson
import structlog
from msgspec import UNSET, Raw, UnsetType

from relay.protocol.limits import Limits
from relay.protocol.messages import ToolFrame
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.arguments import check_arguments
from relay.tools.registry import ToolRegistry
from relay.tools.tool import (
    Registered,
    ToolCall,
    ToolOutcome,
    ToolRefused,
    ToolSucceeded,
    Waiting,
)

Deliver = Callable[[ToolOutcome], Awaitable[bool]]
_log = structlog.get_logger(__name__)


class ToolDispatcher:
    """Runs the calls of one room."""

    def __init__(
        self,
        *,
        registry: ToolRegistry,
        publish: Callable[[ToolFrame], None],
        limits: Limits,
        show_args: bool = False,
    ) -> None:
        self._registry = registry
        self._publish = publish
        self._limits = limits
        self._show_args = show_args
        self._calls_running = 0
        self._draining = False
        self._idle = asyncio.Event()

    @property
    def running(self) -> int:
        """How many calls run now."""
        return self._calls_running

    async def drain(self) -> None:
        """Refuse calls from now on, and return when the running ones are done."""
        self._draining = True
        if self._calls_running:
            await self._idle.wait()

    async def call(
        self,
        call: ToolCall,
        deliver: Deliver | None = None,
        *,
        barred: Refusal | None = None,
    ) -> ToolOutcome:
        """Run the call, hand the outcome to `deliver`, and publish its two frames.

        A `barred` call is refused without being run.
        Never raises a Refusal: it is an outcome. Cancelling the task cancels the tool; the
        frame then says `cancelled`.
        """
        if self._draining:
            barred = Refusal(RefusalCode.BUSY, "the relay is stopping")
        self._calls_running += 1
        try:
            return await self._call(_Running(call, self._limits), deliver, barred)
        finally:
            self._calls_running -= 1
            if not self._calls_running:
                self._idle.set()

    async def _call(
        self, running: "_Running", deliver: Deliver | None, barred: Refusal | None
    ) -> ToolOutcome:
        try:
            outcome = await self._outcome(running, barred)
        except asyncio.CancelledError:
            refusal = Refusal(RefusalCode.CANCELLED, "the call was cancelled")
            self._publish(running.done(running.refused(refusal), delivered=None))
            raise
        delivered = None if deliver is None else False
        try:
            if deliver is not None:
                delivered = await deliver(outcome)
        finally:  # whatever becomes of the answer, the call has ended
            self._publish(running.done(outcome, delivered=delivered))
        return outcome

    async def _outcome(self, running: "_Running", barred: Refusal | None) -> ToolOutcome:
        try:
            return await self._run(running, barred)
        except Refusal as refusal:
            return running.refused(refusal)
        except Exception:  # no memory, or a bug in a host: the model is answered, exactly once
            with contextlib.suppress(MemoryError):
                _log.exception("tool_call_broke", call_id=running.call.call_id)
            return running.refused(
                Refusal(RefusalCode.INTERNAL_ERROR, "the relay failed while it ran the tool")
            )

    async def _run(self, running: "_Running", barred: Refusal | None) -> ToolSucceeded:
        registered = self._look_up(running)
        if barred is not None:
            raise barred
        call = msgspec.structs.replace(running.call, app_id=registered.app_id)
        if call.args_error is not None:
            raise Refusal(RefusalCode.INVALID_TOOL_ARGUMENTS, call.args_error)
        args = check_arguments(registered.spec, call.args, limits=self._limits)
        result = await registered.host.call(registered.spec, call, args, running.waiting)
        return ToolSucceeded(
            result_json=result,
            duration_ms=running.elapsed_ms(),
            queued_ms=running.waiting.queued_ms,
        )

    def _look_up(self, running: "_Running") -> Registered:
        try:
            running.registered = self._registry.find(running.call.name)
        finally:  # a call of an unknown tool is announced as well
            self._publish(running.called(show_args=self._show_args))
        return running.registered


class _Running:
    """A call between its two frames."""

    def __init__(self, call: ToolCall, limits: Limits) -> None:
        self.call = call
        self.registered: Registered | None = None
        self.waiting = Waiting()
        self._limits = limits
        self._started = perf_counter()

    def elapsed_ms(self) -> float:
        return round((perf_counter() - self._started) * 1000, 1)

    def refused(self, refusal: Refusal) -> ToolRefused:
        return ToolRefused(
            code=refusal.code,
            why=refusal.why[: self._limits.why_max_chars],
            duration_ms=self.elapsed_ms(),
            queued_ms=self.waiting.queued_ms,
        )

    def called(self, *, show_args: bool) -> ToolFrame:
        return self._frame("called", args=_shown(self.call.args) if show_args else UNSET)

    def done(self, outcome: ToolOutcome, *, delivered: bool | None) -> ToolFrame:
        facts: dict[str, object] = {
            "duration_ms": outcome.duration_ms,
            "queued_ms": round(outcome.queued_ms, 1),
            "delivered": UNSET if delivered is None else delivered,
        }
        if isinstance(outcome, ToolSucceeded):
            text = outcome.result_json[: 4 * self._limits.frame_output_max_chars]
            shown = text.decode("utf-8", "ignore")[: self._limits.frame_output_max_chars]
            facts |= {"ok": True, "output": shown, "output_bytes": len(outcome.result_json)}
        else:
            facts |= {"ok": False, "refused": str(outcome.code), "why": outcome.why}
        return self._frame("done", **facts)

    def _frame(self, state: str, **facts: object) -> ToolFrame:
        call, registered = self.call, self.registered
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return ToolFrame(
            state=state,  # type: ignore[arg-type]  # the callers pass the two literals
            call_id=call.call_id,
            name=call.name[:64] if registered is None else registered.exposed_name,
            host="none" if registered is None else registered.host.kind,
            app_id=_or_unset(registered.app_id if registered else None),
            provider=_or_unset(call.provider),
            session_id=_or_unset(call.session_id),
            via=_or_unset(call.via),
            at=now,
            **facts,  # type: ignore[arg-type]  # the frame's own field types
        )


def _or_unset(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value


def _shown(args: object) -> Raw | UnsetType:
    try:
        return Raw(orjson.dumps(args))
    except TypeError:
        return UNSET
