import pytest

from relay.metrics import Metrics
from relay.protocol.messages import ToolFrame


def frame(state: str = "done", **facts: object) -> ToolFrame:
    known = {"call_id": "c", "name": "set_score", "host": "mini-app"}
    outcome = {"ok": True, "duration_ms": 3.0} if state == "done" else {}
    return ToolFrame(**{"state": state} | known | outcome | facts)  # type: ignore[arg-type]


def lines(metrics: Metrics) -> set[str]:
    return set(metrics.text().decode().splitlines())


def test_a_finished_call_is_counted_in_seconds_by_tool_host_and_outcome() -> None:
    metrics = Metrics()
    for duration_ms in (3.0, 300.0):
        metrics.observe(frame("called"))
        metrics.observe(frame(duration_ms=duration_ms))
    labels = 'host="mini-app",outcome="ok",tool="set_score"'
    assert f"voicebox_tool_seconds_count{{{labels}}} 2.0" in lines(metrics)
    assert f'voicebox_tool_seconds_bucket{{host="mini-app",le="0.005",{labels[16:]}}} 1.0' in lines(
        metrics
    )
    assert metrics.registry.get_sample_value(
        "voicebox_tool_seconds_sum", {"host": "mini-app", "outcome": "ok", "tool": "set_score"}
    ) == pytest.approx(0.303)


def test_a_refusal_is_an_outcome_of_its_own() -> None:
    metrics = Metrics()
    metrics.observe(frame("called"))
    metrics.observe(frame(ok=False, refused="time-exceeded"))
    assert 'outcome="time-exceeded"' in metrics.text().decode()


def test_names_that_nobody_registered_share_one_label() -> None:
    metrics = Metrics()
    metrics.observe(frame(host="none", name="made_up", ok=False, refused="unknown-tool"))
    assert "made_up" not in metrics.text().decode()
    assert 'tool="(unknown)"' in metrics.text().decode()


def test_apps_that_invent_names_without_end_share_a_label() -> None:
    metrics = Metrics()
    for number in range(300):
        metrics.observe(frame("called", name=f"tool_{number}"))
        metrics.observe(frame(name=f"tool_{number}"))
    labels = {line.split('tool="')[1].split('"')[0] for line in lines(metrics) if 'tool="' in line}
    assert len(labels) == 257
    assert "(other)" in labels


def test_open_calls_rise_and_fall() -> None:
    metrics = Metrics()
    metrics.observe(frame("called"))
    metrics.observe(frame("called"))
    metrics.observe(frame())
    assert "voicebox_calls_open 1.0" in lines(metrics)


def test_relays_in_one_process_do_not_share_their_figures() -> None:
    one, other = Metrics(), Metrics()
    one.sessions_created.inc()
    assert "voicebox_sessions_created_total 1.0" in lines(one)
    assert "voicebox_sessions_created_total 0.0" in lines(other)
