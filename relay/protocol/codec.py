"""Text frame ⇄ message. Knows the wire's shape and nothing of sockets."""

from typing import TypeVar

import msgspec

from relay.protocol import messages
from relay.protocol.refusals import Refusal, RefusalCode

Read = TypeVar("Read")

_encoder = msgspec.json.Encoder()
_hello = msgspec.json.Decoder(messages.Hello)
_from_live_client = msgspec.json.Decoder(messages.LiveClientMessage)
_from_workspace_client = msgspec.json.Decoder(messages.WorkspaceClientMessage)
_to_live_client = msgspec.json.Decoder(messages.LiveServerMessage)
_to_workspace_client = msgspec.json.Decoder(messages.WorkspaceServerMessage)
_to_frames_client = msgspec.json.Decoder(messages.FramesServerMessage)


def encode(message: messages.Message) -> bytes:
    """Return the message as UTF-8 JSON."""
    return _encoder.encode(message)


def decode_hello(text: str | bytes) -> messages.Hello:
    """Read a socket's first message.

    Raises: Refusal `bad-json`, `bad-request`; `unauthenticated-call` when it is another message.
    """
    return _decode(_hello, text, other=RefusalCode.UNAUTHENTICATED_CALL)


def decode_live_client(text: str | bytes) -> messages.LiveClientMessage:
    """Read a voice client's message.

    Raises: Refusal `bad-json`, `unknown-message`, `bad-request`.
    """
    return _decode(_from_live_client, text)


def decode_workspace_client(text: str | bytes) -> messages.WorkspaceClientMessage:
    """Read a workspace page's message. Raises: as `decode_live_client`."""
    return _decode(_from_workspace_client, text)


def decode_live_server(text: str | bytes) -> messages.LiveServerMessage:
    """Read what the relay says to a voice client. Raises: as `decode_live_client`."""
    return _decode(_to_live_client, text)


def decode_workspace_server(text: str | bytes) -> messages.WorkspaceServerMessage:
    """Read what the relay says to a workspace page. Raises: as `decode_live_client`."""
    return _decode(_to_workspace_client, text)


def decode_frames_server(text: str | bytes) -> messages.FramesServerMessage:
    """Read what the relay says to a dashboard. Raises: as `decode_live_client`."""
    return _decode(_to_frames_client, text)


def _decode(
    decoder: msgspec.json.Decoder[Read],
    text: str | bytes,
    other: RefusalCode = RefusalCode.UNKNOWN_MESSAGE,
) -> Read:
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        sentence = str(error)
        about_type = sentence.endswith("`$.type`") or "field `type`" in sentence
        raise Refusal(other if about_type else RefusalCode.BAD_REQUEST, sentence) from None
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Refusal(RefusalCode.BAD_JSON, f"not a JSON message: {error}") from None
