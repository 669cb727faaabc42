"""What all messages share: the struct, its fields' shapes, and the two that every socket knows."""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

Name = Annotated[
    str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,64}$", description="1 to 64 of a-z A-Z 0-9 _ -")
]
Ident = Annotated[
    str, Meta(min_length=1, max_length=128, description="an id of at most 128 characters")
]
Sentence = Annotated[str, Meta(max_length=2_048, description="a sentence for people")]
Milliseconds = Annotated[float, Meta(ge=0, description="milliseconds")]
Json = Annotated[Raw, Meta(description="any JSON value")]


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


class Message(
    Struct,
    frozen=True,
    kw_only=True,
    tag=_snake,
    tag_field="type",
    rename="camel",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """What all messages share."""


class Hello(Message, frozen=True, kw_only=True):
    """The first message on every socket; `bearer` is accepted in the place of `token`."""

    token: str | UnsetType = UNSET
    bearer: str | UnsetType = UNSET
    room: Name = "main"
    provider: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    captions: bool = True
    echo_cancellation: Annotated[
        bool, Meta(description="the relay's own voice is taken out of what is sent")
    ] = False
    workspace_id: Ident | UnsetType = UNSET
    last: Annotated[int, Meta(ge=0, le=1000)] = 0


class Refused(Message, frozen=True, kw_only=True):
    """A message, or the connection, was refused by a rule."""

    refused: str
    why: Sentence
