"""The calls that a remote model asked for, under ids of the relay's own.

A provider's call id counts on the connection that issued it only; ours has 128 random bits.
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterable

from msgspec import Struct

from relay.tools.tool import CallId

_SEEN_MAX = 1_024


class Asked(Struct, frozen=True, kw_only=True):
    """A call without an answer; `group` is what it is answered together with."""

    native_id: str
    name: str
    group: str
    generation: int


class OpenCalls:
    """The unanswered calls of one session."""

    def __init__(self) -> None:
        self._generation = 0
        self._open: dict[CallId, Asked] = {}
        self._seen: OrderedDict[str, None] = OrderedDict()

    @property
    def pending(self) -> bool:
        """Whether the present connection waits for an answer."""
        return any(self.is_current(asked) for asked in self._open.values())

    def ask(self, native_id: str, name: str, group: str) -> CallId | None:
        """Take a call in; None when the connection announced it before."""
        if native_id in self._seen:
            return None
        self._seen[native_id] = None
        if len(self._seen) > _SEEN_MAX:
            self._seen.popitem(last=False)
        call_id = CallId(f"call_{secrets.token_hex(16)}")
        self._open[call_id] = Asked(
            native_id=native_id, name=name, group=group, generation=self._generation
        )
        return call_id

    def take(self, call_id: CallId) -> Asked | None:
        """Remove a call that is to be answered; None when it is over already."""
        return self._open.pop(call_id, None)

    def cancel(self, native_ids: Iterable[str]) -> list[CallId]:
        """Remove calls that the model withdrew; return our ids of those that were open."""
        gone = set(native_ids)
        cancelled = [
            call_id
            for call_id, asked in self._open.items()
            if asked.native_id in gone and self.is_current(asked)
        ]
        for call_id in cancelled:
            del self._open[call_id]
        return cancelled

    def is_current(self, asked: Asked) -> bool:
        """Whether the connection that asked is the present one."""
        return asked.generation == self._generation

    def next_generation(self) -> None:
        """The connection is gone; what it asked for can't be answered on another."""
        self._generation += 1
        self._seen.clear()
