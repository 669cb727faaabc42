"""Agreeing on an OpenAI session: its fields, its tools, and one change of them at a time.

A server refuses an update as a whole, so the one tool at fault is left out and the rest sent
again. Answers to `session.updated` carry no id: hence never two updates at once.
"""

import re
from itertools import count
from typing import Any

from msgspec import Struct

from relay.providers.declared import Declaration, Declared
from relay.providers.openai import wire
from relay.providers.openai.events import Failed

_TOOL_AT_FAULT = re.compile(r"(?:session\.)?tools\[(\d+)\]")


class Told(Struct, frozen=True):
    """What the server was told of what may change."""

    tools: list[Declaration]
    manual: bool


class Setup:
    """What one connection has been told, and is to be told."""

    def __init__(self, declared: Declared, fields: dict[str, Any], *, manual: bool) -> None:
        self._declared = declared
        self._fields = fields
        self._ids = count(1)
        self._told: Told | None = None
        self._refused: Told | None = None
        self._asking: tuple[str, Told] | None = None
        self.manual = manual
        """Whether the client says where speech starts and ends."""

    @property
    def settled(self) -> bool:
        """Whether the server knows all that it can be told."""
        return self._wanted() in (self._told, self._refused)

    @property
    def applied(self) -> bool:
        """Whether the server knows the tools as they are."""
        return self._told is not None and self._told.tools == self._declared.told()

    def forget(self) -> None:
        """The connection is gone; a new one knows nothing."""
        self._told = self._refused = self._asking = None

    def next_update(self) -> str | None:
        """Return the update to send now, None when there is none or one is under way."""
        if self._asking is not None or self.settled:
            return None
        wanted = self._wanted()
        event_id = f"cfg-{next(self._ids)}"
        self._asking = (event_id, wanted)
        fields: dict[str, Any] = {"tools": wanted.tools}
        if self._told is None:
            fields = self._fields | fields
            if wanted.manual:
                fields["audio"]["input"]["turn_detection"] = None
        elif wanted.manual and not self._told.manual:
            fields["audio"] = {"input": {"turn_detection": None}}
        return wire.update(event_id, fields)

    def accepted(self) -> None:
        """The server took the update."""
        if self._asking is not None:
            self._told, self._asking = self._asking[1], None

    def refused(self, failed: Failed) -> str | None:
        """The server refused the update; return the name of the tool that is left out for it.

        None when the refusal names no tool: what was told before then stays.
        """
        if self._asking is not None:
            self._refused, self._asking = self._asking[1], None
        found = _TOOL_AT_FAULT.match(failed.param)
        return None if found is None else self._declared.refuse(int(found[1]))

    def is_answer(self, failed: Failed) -> bool:
        """Whether an error is about the update under way; not every server echoes the id."""
        if self._asking is None:
            return False
        about_session = failed.event_id is None and failed.param.startswith("session")
        return failed.event_id == self._asking[0] or about_session

    def _wanted(self) -> Told:
        return Told(self._declared.told(), self.manual)
