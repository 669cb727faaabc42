"""What a model sent as a call's arguments: a JSON text, blank, or anything else; pure."""

from typing import NamedTuple

from relay.protocol.refusals import Refusal
from relay.tools.arguments import parse_arguments


class Arguments(NamedTuple):
    """`value` is what JSON said, to be checked; `error` stands where it was not JSON."""

    value: object = None
    error: str | None = None


def read_arguments(sent: object) -> Arguments:
    """Read the arguments; a blank text and a missing one stand for none at all."""
    if sent is None:
        return Arguments({})
    if not isinstance(sent, str):
        return Arguments(sent)  # some compatible servers send the object itself
    if not sent.strip():
        return Arguments({})
    try:
        return Arguments(parse_arguments(sent))
    except Refusal as refusal:
        return Arguments(error=refusal.why)
