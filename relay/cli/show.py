"""Messages in words, for a terminal. Text from apps and models loses its control characters."""

from relay.protocol.messages import ToolFrame


def printable(text: object) -> str:
    """The text without control and bidirectional characters."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def frame_line(frame: ToolFrame) -> str:
    """A tool frame in one line."""
    name = printable(frame.name)
    if frame.state == "called":
        return f"tool {name} called"
    if frame.ok is True:
        return f"tool {name} done in {frame.duration_ms} ms: {printable(frame.output)}"
    return f"tool {name} refused in {frame.duration_ms} ms ({frame.refused}): " + printable(
        frame.why
    )
