"""When to ask OpenAI for a response: at most one is being created, and none in vain. Pure.

A server with voice detection creates responses by itself, in a race with ours. A response sees
what was in the conversation when it began, so each thing that wants an answer is `News` until
some response that began later has seen it.
"""

from itertools import count

from msgspec import Struct


class News(Struct):
    """Something in the conversation that no response has seen."""

    batch: str | None  # the response whose calls it answers
    settled: bool = False  # the server has said that it is in the conversation


class Responses:
    """The responses of one connection."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._active: set[str] = set()
        self._creating: str | None = None
        self._asked_with: frozenset[str] = frozenset()
        self._unclaimed: str | None = None
        self._blocked = False
        self._news: dict[str, News] = {}
        self._running: dict[str, set[str]] = {}  # response → its calls that have no answer yet

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered, called or about to be."""
        return not (self._active or self._creating or self._running or self._news)

    @property
    def active(self) -> tuple[str, ...]:
        """The responses that are being written."""
        return tuple(self._active)

    @property
    def creating(self) -> bool:
        """Whether a request for a response is under way."""
        return self._creating is not None

    def add(self, key: str, *, batch: str | None = None) -> None:
        """Something that wants an answer was sent."""
        self._news[key] = News(batch)

    def settle(self, key: str) -> None:
        """The server has taken it into the conversation."""
        if key in self._news:
            self._news[key].settled = True

    def called(self, response_id: str, call_id: str) -> None:
        """A response asked for a tool; its calls are answered together."""
        self._running.setdefault(response_id, set()).add(call_id)

    def answered(self, response_id: str, call_id: str) -> None:
        """A call of that response is over."""
        running = self._running.get(response_id, set())
        running.discard(call_id)
        if not running:
            self._running.pop(response_id, None)

    def request(self) -> str | None:
        """A mark to ask for a response with, if one is due now and may be asked for."""
        due = any(news.batch not in self._running for news in self._news.values())
        if not due or self._active or self._creating or self._blocked:
            return None
        self._creating = f"req-{next(self._ids)}"
        self._asked_with = frozenset(self._news)
        return self._creating

    def created(self, response_id: str, request: str | None) -> bool:
        """A response began; whether it is certainly the one that was asked for."""
        self._active.add(response_id)
        self._blocked = False
        if request is not None and request == self._creating:
            self._fulfilled()
            return True
        if self._creating is not None:
            self._unclaimed = response_id  # a server that echoes no metadata, or its own response
        for key in [key for key, news in self._news.items() if news.settled]:
            del self._news[key]
        return False

    def done(self, response_id: str) -> None:
        """A response ended, whatever became of it."""
        self._active.discard(response_id)
        self._blocked = False
        if self._creating is not None and self._unclaimed == response_id:
            self._fulfilled()  # neither refused nor marked until now: it was ours

    def refused(self, request: str | None, *, busy: bool) -> bool:
        """A request was refused; if the server was `busy` it is asked again after a response.

        False when it was no request of ours.
        """
        if request is None or request != self._creating:
            return False
        if busy:
            self._creating = self._unclaimed = None
            self._blocked = not self._active
        else:
            self._fulfilled()
        return True

    def _fulfilled(self) -> None:
        for key in self._asked_with:
            self._news.pop(key, None)
        self._creating = self._unclaimed = None
        self._asked_with = frozenset()
