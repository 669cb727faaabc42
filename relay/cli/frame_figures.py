"""Figures of tool calls, from their frames alone: percentiles, refusals by code, calls a second.

Pure: no clock, no terminal. Bounded: the oldest calls are forgotten.
"""

import math
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import UNSET

from relay.protocol.messages import ToolFrame

CALLS_MAX = 10_000
_RUNNING_MAX = 1_000
_WINDOW_S = 60.0


class Call(NamedTuple):
    """A call whose outcome stands; `code` is empty on success, `at` is Unix time in seconds."""

    call_id: str
    name: str
    host: str
    code: str
    ms: float
    queued_ms: float
    at: float


class ToolFigures(NamedTuple):
    """One tool at one host: milliseconds, and the p95 of the wait for a place."""

    name: str
    host: str
    calls: int
    refused: int
    p50: float
    p95: float
    p99: float
    slowest: float
    queued: float


class FrameFigures:
    """What the frames so far tell; a frame that comes twice counts once."""

    def __init__(self, *, calls_max: int = CALLS_MAX) -> None:
        self._calls: deque[Call] = deque(maxlen=calls_max)
        self._known: set[str] = set()
        self._running: set[str] = set()
        self.lost = 0

    def add(self, frame: ToolFrame, *, now: float) -> None:
        """Count a frame; `now` is Unix time in seconds, for one that does not say when it was."""
        if frame.call_id in self._known:
            return
        if frame.state == "called":
            if len(self._running) < _RUNNING_MAX:
                self._running.add(frame.call_id)
            return
        self._running.discard(frame.call_id)
        if len(self._calls) == self._calls.maxlen:
            self._known.discard(self._calls[0].call_id)
        self._known.add(frame.call_id)
        self._calls.append(_call(frame, now))

    def interrupt(self) -> None:
        """The relay was lost: nobody tells how the calls ended that ran."""
        self._running.clear()

    @property
    def calls(self) -> int:
        """How many calls are counted."""
        return len(self._calls)

    @property
    def running(self) -> int:
        """How many calls have no outcome so far."""
        return len(self._running)

    def per_second(self, *, now: float) -> float:
        """Calls a second in the minute before `now`."""
        recent = sum(1 for call in self._calls if call.at > now - _WINDOW_S)
        return recent / _WINDOW_S

    def tools(self) -> list[ToolFigures]:
        """One entry for each tool and host, the most called first."""
        groups: dict[tuple[str, str], list[Call]] = {}
        for call in self._calls:
            groups.setdefault((call.name, call.host), []).append(call)
        return sorted(map(_figures, groups.values()), key=lambda tool: -tool.calls)

    def refusals(self) -> list[tuple[str, int]]:
        """Each refusal code and how often, the most frequent first."""
        return Counter(call.code for call in self._calls if call.code).most_common()

    def newest(self, count: int) -> list[Call]:
        """The last calls, the newest first."""
        return [self._calls[-i] for i in range(1, min(count, len(self._calls)) + 1)]


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed; 0 without any."""
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)] if ordered else 0.0


def _call(frame: ToolFrame, now: float) -> Call:
    code = "" if frame.ok is True else str(frame.refused or "(no code)")
    return Call(
        call_id=frame.call_id,
        name=frame.name,
        host=frame.host,
        code=code,
        ms=_number(frame.duration_ms),
        queued_ms=_number(frame.queued_ms),
        at=_seconds(frame.at, now),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _seconds(at: object, now: float) -> float:
    if at is UNSET:
        return now
    try:
        told = datetime.fromisoformat(str(at))
    except ValueError:
        return now
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()


def _figures(calls: list[Call]) -> ToolFigures:
    times = sorted(call.ms for call in calls)
    waits = sorted(call.queued_ms for call in calls)
    return ToolFigures(
        name=calls[0].name,
        host=calls[0].host,
        calls=len(calls),
        refused=sum(1 for call in calls if call.code),
        p50=percentile(times, 0.50),
        p95=percentile(times, 0.95),
        p99=percentile(times, 0.99),
        slowest=times[-1],
        queued=percentile(waits, 0.95),
    )
