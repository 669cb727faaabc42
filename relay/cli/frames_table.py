"""The live table of `voicebox frames`: figures, refusals and the newest calls, drawn by rich.

It only draws; what it shows is counted in `relay.cli.frame_figures`.
"""

from datetime import datetime

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from relay.cli.frame_figures import Call, FrameFigures, ToolFigures
from relay.cli.show import printable

_NAME_MAX_COLUMNS = 32
_REFUSALS_SHOWN = 6
_LEAST_ROWS = 3
# The heading, the three tables' own lines, and the gaps between them
_LINES_AROUND = 12


class FramesTable:
    """Everything that is known at one moment; as tall as the terminal."""

    def __init__(self, figures: FrameFigures, *, place: str, state: str, now: float) -> None:
        self._figures = figures
        self._place = place
        self._state = state
        self._now = now

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Share the lines of the terminal between the tables."""
        refusals = self._figures.refusals()[:_REFUSALS_SHOWN]
        free = (options.height or options.max_height) - _LINES_AROUND - len(refusals)
        tools = self._figures.tools()
        shown = max(_LEAST_ROWS, min(len(tools), free * 2 // 3))
        parts: list[RenderableType] = [self._heading(), _tools(tools[:shown])]
        if len(tools) > shown:
            parts.append(Text(f"and {len(tools) - shown} more", style="dim"))
        if refusals:
            parts += [Text(), _refusals(refusals)]
        newest = self._figures.newest(max(_LEAST_ROWS, free - min(shown, len(tools))))
        parts += [Text(), _newest(newest)]
        yield Group(*parts)

    def _heading(self) -> Text:
        figures = self._figures
        words = [
            f"{figures.calls} calls",
            f"{figures.per_second(now=self._now):.2f} a second in the last minute",
            f"{figures.running} running",
            "durations in ms",
        ]
        if figures.lost:
            words.append(f"{figures.lost} frames lost")
        heading = Text(printable(self._place), style="bold")
        heading.append(f"  {printable(self._state)}\n", style="not bold dim")
        return heading.append(" · ".join(words) + "\n", style="not bold")


def _tools(tools: list[ToolFigures]) -> Table:
    table = _table("Tool", "Where")
    for name in ("Calls", "Refused", "p50", "p95", "p99", "Slowest", "Waited p95"):
        table.add_column(name, justify="right", no_wrap=True)
    for tool in tools:
        times = (tool.p50, tool.p95, tool.p99, tool.slowest, tool.queued)
        refused = Text(str(tool.refused), style="red" if tool.refused else "dim")
        table.add_row(
            _name(tool.name), tool.host, str(tool.calls), refused, *[f"{ms:.1f}" for ms in times]
        )
    return table


def _refusals(refusals: list[tuple[str, int]]) -> Table:
    table = _table("Refused with")
    table.add_column("Calls", justify="right")
    for code, calls in refusals:
        table.add_row(Text(printable(code), style="red"), str(calls))
    return table


def _newest(calls: list[Call]) -> Table:
    table = _table("At", "Newest calls", "Where", "Outcome")
    table.add_column("ms", justify="right")
    for call in calls:
        at = datetime.fromtimestamp(call.at).astimezone().strftime("%H:%M:%S")
        outcome = Text(printable(call.code) or "ok", style="red" if call.code else "green")
        table.add_row(at, _name(call.name), call.host, outcome, f"{call.ms:.1f}")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for name in columns:
        table.add_column(name, no_wrap=True, overflow="ellipsis", max_width=_NAME_MAX_COLUMNS)
    return table


def _name(text: str) -> Text:
    """As it is: what an app calls its tool is no markup and moves no cursor."""
    return Text(printable(text))
