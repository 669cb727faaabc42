"""How Gemini Live is reached and set up."""

from typing import Literal

from msgspec import Struct

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers.address import is_loopback, websocket_base
from relay.providers.secret import Secret
from relay.providers.websocket import Endpoint

BASE_URL = "wss://generativelanguage.googleapis.com"
MODEL = "models/gemini-3.8-live"
_METHOD = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
Vad = Literal["auto", "none"]


class GeminiOptions(Struct, frozen=True, kw_only=True):
    """What a person may set; `instructions` are added to the relay's own."""

    key: Secret | None = None
    base_url: str = BASE_URL
    model: str = MODEL
    voice: str = "Puck"
    vad: Vad = "auto"
    instructions: str = ""
    rotate_after_s: float | None = None
    """Instead of the model's own time after which a new connection is begun."""


def endpoint(options: GeminiOptions) -> Endpoint:
    """Where to dial. Raises: Refusal `provider-unavailable` without a usable key or address.

    The key travels in a header: an address is shown in too many places.
    """
    base = websocket_base(options.base_url, "VOICEBOX_GEMINI_BASE_URL")
    if options.key is None and not is_loopback(base):
        raise Refusal(RefusalCode.PROVIDER_UNAVAILABLE, "GEMINI_API_KEY is not set")
    return Endpoint(
        provider="Gemini",
        url=base + _METHOD,
        key=options.key,
        key_header="x-goog-api-key",
        key_prefix="",
    )
