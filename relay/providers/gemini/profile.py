"""What the generations of Gemini's live models can and can't do: one table.

Source: the Live API's guides to tool use, sessions and capabilities, model by model.
"""

from msgspec import Struct

from relay.providers.model import Capabilities


class Profile(Struct, frozen=True, kw_only=True):
    """How a generation of models wants to be spoken to."""

    family: str
    blocking: bool
    """A call holds the model until it is answered; the answers of one request go together."""
    hears_during_call: bool
    """Sound may be sent while a call is open; else the model ends the connection."""
    typed_as_content: bool
    """A typed turn is clientContent; else realtimeInput."""
    tools_in_place: bool
    """A running session takes new tools; else they need a new connection."""
    status_tells_idle: bool
    """`turnComplete` is not the end: `interactionStatus` says when the model is idle."""
    told_history_first: bool
    """A fresh session takes its history as announced first content; else as plain content."""
    rotate_after_s: float | None
    """When a new connection is begun although the server announced no end."""

    @property
    def capabilities(self) -> Capabilities:
        """The same, in the words of the seam."""
        return Capabilities(
            tool_update=True,
            tool_cancel=True,
            audio_during_tool=not self.blocking,
            resume=True,
            manual_vad=True,
        )


PROFILES = (
    Profile(
        family="gemini-3.8-live-extended-thinking",
        blocking=False,
        hears_during_call=True,
        typed_as_content=False,
        tools_in_place=True,
        status_tells_idle=True,
        told_history_first=True,
        rotate_after_s=55 * 60.0,
    ),
    Profile(
        family="gemini-3.8",
        blocking=False,
        hears_during_call=True,
        typed_as_content=False,
        tools_in_place=True,
        status_tells_idle=False,
        told_history_first=True,
        rotate_after_s=55 * 60.0,
    ),
    Profile(
        family="gemini-3.1",
        blocking=True,
        hears_during_call=False,
        typed_as_content=False,
        tools_in_place=False,
        status_tells_idle=False,
        told_history_first=True,
        rotate_after_s=None,
    ),
    Profile(
        family="gemini-2.5",
        blocking=True,
        hears_during_call=True,
        typed_as_content=True,
        tools_in_place=False,
        status_tells_idle=False,
        told_history_first=False,
        rotate_after_s=None,
    ),
)
_NEWEST = PROFILES[1]


def profile_of(model: str) -> Profile:
    """The profile of a model, with or without `models/` before its name; unknown: the newest."""
    name = model.rsplit("/", 1)[-1]
    for profile in PROFILES:
        if name.startswith(profile.family):
            return profile
    return _NEWEST
