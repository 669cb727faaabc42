"""What a scripted conversation is: steps, played in order. Reads a JSON file; plays nothing.

A step has exactly one of: `hear` (wait for the person), `user` and `assistant` (captions),
`call` (a tool call, whose outcome is awaited unless `wait` is false), `tone` (sound),
`end` (the turn is complete), `repeat` (start over).
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from relay.protocol.refusals import Refusal, RefusalCode

_FILE_MAX_BYTES = 1024 * 1024


class Hear(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Wait for a typed turn that contains `text`, or for `audioMs` of sound."""

    text: str | None = None
    audio_ms: Annotated[float, Meta(gt=0, le=600_000)] | None = None


class Call(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A tool call; `argsText` stands for raw JSON text, right or wrong."""

    name: str
    args: dict[str, Any] | None = None
    args_text: str | None = None
    wait: bool = True


class Tone(Struct, frozen=True, forbid_unknown_fields=True):
    """A sine of `hz` for `ms`."""

    ms: Annotated[float, Meta(gt=0, le=60_000)]
    hz: Annotated[float, Meta(gt=0, le=8_000)] = 440.0


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that happens; exactly one field is set."""

    hear: Hear | None = None
    user: str | None = None
    assistant: str | None = None
    call: Call | None = None
    tone: Tone | None = None
    end: bool = False
    repeat: bool = False


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A conversation."""

    steps: Annotated[list[Step], Meta(min_length=1, max_length=10_000)]


DEMO = Script(
    steps=[
        Step(hear=Hear(text="", audio_ms=600)),
        Step(user="add three points to the home team"),
        Step(call=Call(name="set_score", args={"team": "home", "points": 3})),
        Step(assistant="Three points for the home team."),
        Step(tone=Tone(ms=400)),
        Step(end=True),
        Step(repeat=True),
    ]
)


def read_script(path: Path) -> Script:
    """The script in a file. Raises: Refusal `provider-unavailable`."""
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_MAX_BYTES + 1)
        if len(data) > _FILE_MAX_BYTES:
            raise Refusal(RefusalCode.PROVIDER_UNAVAILABLE, "the script is over 1 MiB")
        script = msgspec.json.decode(data, type=Script)
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError) as error:
        # the client is told the file's name, not its folder
        reason = error.strerror if isinstance(error, OSError) else error
        raise Refusal(
            RefusalCode.PROVIDER_UNAVAILABLE, f"the script {path.name} can't be read: {reason}"
        ) from None
    if (fault := _fault(script)) is not None:
        raise Refusal(RefusalCode.PROVIDER_UNAVAILABLE, fault)
    return script


def _fault(script: Script) -> str | None:
    """What is wrong with a script, in a sentence."""
    for number, step in enumerate(script.steps, start=1):
        if sum(getattr(step, name) not in (None, False) for name in step.__struct_fields__) != 1:
            return f"step {number} of the script must be one thing"
        if step.hear == Hear():
            return f"step {number} of the script must say what it waits for"
        if step.repeat and all(earlier.hear is None for earlier in script.steps[:number]):
            return f"step {number} of the script repeats what never waits for the person"
    return None
