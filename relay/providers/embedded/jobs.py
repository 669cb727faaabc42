"""What waits for the engine's one recogniser: in order, bounded, outcomes of calls first."""

import threading
from collections import deque
from typing import Generic, TypeVar

Job = TypeVar("Job")


class Jobs(Generic[Job]):
    """A queue between the thread that hears and the thread that understands."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._first: deque[Job] = deque()
        self._rest: deque[Job] = deque()
        self._change = threading.Condition()
        self._closed = False
        self._doing = False

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is being done."""
        return not (self._doing or self._first or self._rest)

    def put(self, job: Job, *, first: bool = False) -> None:
        """Add a job that is never refused: there are few of them, or they are small."""
        with self._change:
            (self._first if first else self._rest).append(job)
            self._change.notify()

    def offer(self, job: Job) -> bool:
        """Add a job if there is room."""
        with self._change:
            if len(self._rest) >= self._most:
                return False
            self._rest.append(job)
            self._change.notify()
            return True

    def take(self) -> Job | None:
        """The next job; waits for it. None once the queue is closed."""
        with self._change:
            self._doing = False
            while not (self._first or self._rest or self._closed):
                self._change.wait()
            if self._closed:
                return None
            self._doing = True
            return self._first.popleft() if self._first else self._rest.popleft()

    def close(self) -> None:
        """Let `take` end; what waits is forgotten."""
        with self._change:
            self._closed = True
            self._change.notify_all()
