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
    """Publishes frames to listeners and remembers the last `frame_history_max` of them."""

    def __init__(self, *, limits: Limits) -> None:
        self._history: deque[tuple[ToolFrame, bytes]] = deque(maxlen=limits.frame_history_max)
        self._listeners: list[Listener] = []

    def publish(self, frame: ToolFrame) -> None:
        """Hand the frame, and its one encoding, to every listener."""
        encoded = codec.encode(frame)
        self._history.append((frame, encoded))
        for listener in tuple(self._listeners):
            listener(frame, encoded)

    def last(self, count: int) -> list[bytes]:
        """The last `count` frames, encoded, oldest first."""
        return [encoded for _, encoded in self._history][-count:] if count else []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each frame from now on; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
