import io
from typing import Any

from rich.console import Console

from relay.cli.frame_figures import FrameFigures, percentile
from relay.cli.frames_table import FramesTable
from relay.cli.frames_watch import pause_s
from relay.protocol.messages import ToolFrame

NOW = 1_800_000_000.0


def frame(call_id: str, **facts: Any) -> ToolFrame:
    told = {"state": "done", "name": "a", "host": "wasm", "ok": True, "duration_ms": 1.0}
    return ToolFrame(call_id=call_id, **{**told, **facts})


def figures_of(*frames: ToolFrame, calls_max: int = 100) -> FrameFigures:
    figures = FrameFigures(calls_max=calls_max)
    for one in frames:
        figures.add(one, now=NOW)
    return figures


def drawn(figures: FrameFigures, *, height: int = 40, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(FramesTable(figures, place="http://x room main", state="connected", now=NOW))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([1, 2, 3, 4], 0.5) == 2
    assert percentile([1, 2, 3, 4], 0.95) == 4
    assert percentile([7], 0.01) == 7
    assert percentile([], 0.5) == 0


def test_figures_are_told_for_each_tool_and_host_the_most_called_first() -> None:
    calls = [frame(f"{ms}", duration_ms=float(ms), queued_ms=1.0) for ms in (4, 1, 3, 2)]
    calls.insert(0, frame("x", host="none", ok=False, refused="unknown-tool", duration_ms=9))
    first, second = figures_of(*calls).tools()
    assert first == ("a", "wasm", 4, 0, 2.0, 4.0, 4.0, 4.0, 1.0)
    assert (second.host, second.calls, second.refused) == ("none", 1, 1)


def test_refusals_are_counted_by_code() -> None:
    codes = ["busy", "enum", "busy"]
    calls = [frame(f"{i}", ok=False, refused=code) for i, code in enumerate(codes)]
    assert figures_of(*calls, frame("ok")).refusals() == [("busy", 2), ("enum", 1)]


def test_a_call_that_is_told_twice_counts_once() -> None:
    figures = figures_of(frame("1"), frame("1"), frame("1", state="called"))
    assert (figures.calls, figures.running) == (1, 0)


def test_the_oldest_calls_are_forgotten() -> None:
    figures = figures_of(*(frame(f"{i}") for i in range(5)), calls_max=3)
    assert [call.call_id for call in figures.newest(9)] == ["4", "3", "2"]
    figures.add(frame("0"), now=NOW)
    assert figures.newest(1)[0].call_id == "0"
    assert figures.calls == 3


def test_what_runs_is_counted_until_its_outcome_or_the_end_of_the_relay() -> None:
    figures = figures_of(frame("1", state="called"), frame("2", state="called"), frame("1"))
    assert figures.running == 1
    figures.interrupt()
    assert figures.running == 0


def test_what_never_ends_is_bounded() -> None:
    figures = figures_of(*(frame(f"{i}", state="called") for i in range(2_000)))
    assert figures.running == 1_000


def test_calls_a_second_are_those_of_the_last_minute() -> None:
    times = ["2027-01-15T08:00:00+00:00", "2027-01-15T07:59:01Z", "2027-01-15T07:58:59", "soon"]
    figures = figures_of(*(frame(f"{i}", at=at) for i, at in enumerate(times)))
    assert figures.per_second(now=NOW) == 3 / 60


def test_the_table_shows_figures_refusals_and_the_newest_calls() -> None:
    text = drawn(
        figures_of(
            frame("1", name="set_score", host="mini-app", duration_ms=12.34, queued_ms=0.5),
            frame("2", ok=False, refused="missing-argument"),
            frame("3", state="called"),
        )
    )
    assert "http://x room main  connected" in text
    assert "2 calls · 0.03 a second in the last minute · 1 running · durations in ms" in text
    assert "lost" not in text
    row = next(line for line in text.splitlines() if line.startswith("set_score"))
    assert row.split() == ["set_score", "mini-app", "1", "0", *["12.3"] * 4, "0.5"]
    assert "missing-argument" in text.split("Refused with")[1].split("Newest calls")[0]
    assert "missing-argument" in text.split("Newest calls")[1]


def test_the_table_is_never_higher_than_the_terminal() -> None:
    many = [
        frame(f"{i}", name=f"tool_{i % 40}", ok=i % 3 > 0, refused=f"code-{i % 9}")
        for i in range(90)
    ]
    figures = figures_of(*many)
    figures.lost = 7
    for height in (24, 40, 60):
        text = drawn(figures, height=height)
        assert len(text.splitlines()) <= height
        assert "more" in text
        assert "7 frames lost" in text


def test_a_tools_name_is_no_markup_and_moves_no_cursor() -> None:
    text = drawn(figures_of(frame("1", name="[red]x[/]\x1b[2J\u202ey", ok=False, refused="\x1b]")))
    assert "[red]x[/] [2J y" in text
    assert "\x1b" not in text


def test_each_failed_try_waits_longer_up_to_a_bound() -> None:
    assert [pause_s(attempt, 1.0) for attempt in (1, 3, 6, 10_000)] == [0.25, 1.0, 8.0, 8.0]
    assert pause_s(3, 0.0) == 0.5
