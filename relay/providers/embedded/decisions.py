"""What can be decided about an utterance: act, ask back, read back, or decline. Pure data."""

from typing import Any

from msgspec import Struct

from relay.providers.embedded.lexicon import Slot


class Act(Struct, frozen=True):
    """Call the tool, then do what else was said in the same breath."""

    text: str
    name: str
    args: dict[str, Any]
    then: tuple["Act", ...] = ()
    agreed: bool = False
    """The person said yes to it."""


class Ask(Struct, frozen=True):
    """The command is clear but for one value."""

    text: str
    name: str
    args: dict[str, Any]
    slot: Slot
    doubtful: bool = False
    """A free text among the arguments may have been misheard."""


class Check(Struct, frozen=True):
    """The command is clear, but a free text in it may have been misheard: read it back."""

    act: Act
    slot: Slot

    @property
    def text(self) -> str:
        """What was heard."""
        return self.act.text


class Confirm(Struct, frozen=True):
    """The command is clear, and needs a yes: `question` asks for it."""

    act: Act
    question: str

    @property
    def text(self) -> str:
        """What was heard."""
        return self.act.text


class Decline(Struct, frozen=True):
    """Not a command, or not a clear one; `dropped` is a question that is given up."""

    text: str
    dropped: bool = False


Decision = Act | Ask | Check | Confirm | Decline
