"""Prometheus metrics of one relay, in a registry of their own (nothing global)."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from relay.protocol.messages import ToolFrame

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# A model may ask for any name: only registered tools become label values
_UNKNOWN = "(unknown)"
_OTHER = "(other)"
_TOOLS_MAX = 256


class Metrics:
    """Counters that the server feeds and `GET /metrics` prints."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.tool_seconds = Histogram(
            "voicebox_tool_seconds",
            "Wall clock of tool calls",
            ["tool", "host", "outcome"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.calls_open = Gauge(
            "voicebox_calls_open", "Tool calls that wait or run now", registry=self.registry
        )
        self.sessions_open = Gauge(
            "voicebox_sessions_open", "Voice sessions now", registry=self.registry
        )
        self.sessions_created = Counter(
            "voicebox_sessions_created", "Voice sessions so far", registry=self.registry
        )
        self.frames_dropped = Counter(
            "voicebox_frames_dropped", "Tool frames lost by slow observers", registry=self.registry
        )

        self.tasks = Gauge("voicebox_tasks", "Tasks of the event loop now", registry=self.registry)
        self._tools: set[str] = set()

    def observe(self, frame: ToolFrame) -> None:
        """Count a call that began, or one whose outcome stands."""
        if frame.state == "called":
            self.calls_open.inc()
            return
        self.calls_open.dec()
        if not isinstance(frame.duration_ms, float):
            return
        outcome = "ok" if frame.ok is True else str(frame.refused)
        self.tool_seconds.labels(self._label(frame), frame.host, outcome).observe(
            frame.duration_ms / 1000
        )

    def _label(self, frame: ToolFrame) -> str:
        """The tool's name, while there are not too many of them: apps choose names."""
        if frame.host == "none":
            return _UNKNOWN
        if frame.name not in self._tools:
            if len(self._tools) >= _TOOLS_MAX:
                return _OTHER
            self._tools.add(frame.name)
        return frame.name

    def text(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return generate_latest(self.registry)
