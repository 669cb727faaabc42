"""The stream of tool frames of one room, with a bounded memory.

A frame is encoded once, however many listeners there are. Listeners must not block: each
brings its own bounded queue.
"""

from collections import deque
from collections.abc import Callable

from relay.protocol import codec
from relay.protocol.limits import Limits
from relay.protocol.messages import ToolFrame

Listener = Callable[[ToolFrame, bytes], None]


class FrameFeed:
    """Publishes frames to listeners and remembers the last ones, so many and so many bytes."""

    def __init__(self, *, limits: Limits) -> None:
        self._limits = limits
        self._history: deque[bytes] = deque()
        self._kept_bytes = 0
        self._listeners: list[Listener] = []

    def publish(self, frame: ToolFrame) -> None:
        """Hand the frame, and its one encoding, to every listener."""
        encoded = codec.encode(frame)
        self._remember(encoded)
        for listener in tuple(self._listeners):
            listener(frame, encoded)

    def last(self, count: int) -> list[bytes]:
        """The last `count` frames, encoded, oldest first."""
        return list(self._history)[-count:] if count else []

    def _remember(self, encoded: bytes) -> None:
        self._history.append(encoded)
        self._kept_bytes += len(encoded)
        while (
            len(self._history) > self._limits.frame_history_max
            or self._kept_bytes > self._limits.frame_history_max_bytes
        ):
            self._kept_bytes -= len(self._history.popleft())

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each frame from now on; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
