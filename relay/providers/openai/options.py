"""How OpenAI (or a server that speaks its protocol) is reached and set up."""

from typing import Any, Literal
from urllib.parse import quote, urlsplit

from msgspec import Struct

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers.address import is_loopback, websocket_base
from relay.providers.openai.turn import RATE_HZ
from relay.providers.secret import Secret
from relay.providers.websocket import Endpoint

BASE_URL = "wss://api.openai.com/v1"
MODEL = "gpt-realtime-2.1"
TRANSCRIPTION = "gpt-transcribe"
Vad = Literal["server_vad", "semantic_vad", "none"]


class OpenAIOptions(Struct, frozen=True, kw_only=True):
    """What a person may set; `instructions` are added to the relay's own."""

    key: Secret | None = None
    base_url: str = BASE_URL
    model: str = MODEL
    voice: str = "marin"
    vad: Vad = "server_vad"
    transcription: str = TRANSCRIPTION
    instructions: str = ""
    rotate_after_s: float = 58 * 60.0
    """A session ends after 60 minutes; in an idle moment after this time a new one is begun."""


def endpoint(options: OpenAIOptions) -> Endpoint:
    """Where to dial. Raises: Refusal `provider-unavailable` without a usable key or address."""
    base = websocket_base(options.base_url, "VOICEBOX_OPENAI_BASE_URL")
    if options.key is None and not is_loopback(base):
        raise Refusal(RefusalCode.PROVIDER_UNAVAILABLE, "OPENAI_API_KEY is not set")
    azure = (urlsplit(base).hostname or "").endswith(".openai.azure.com")
    return Endpoint(
        provider="OpenAI",
        url=f"{base}/realtime?model={quote(options.model, safe='')}",
        key=options.key,
        key_header="api-key" if azure else "Authorization",
        key_prefix="" if azure else "Bearer ",
    )


def session_fields(options: OpenAIOptions, instructions: str) -> dict[str, Any]:
    """The session as it starts, without its tools."""
    audio_format = {"type": "audio/pcm", "rate": RATE_HZ}
    return {
        "output_modalities": ["audio"],
        "instructions": f"{instructions}\n{options.instructions}".strip(),
        "audio": {
            "input": {
                "format": audio_format,
                "turn_detection": None if options.vad == "none" else {"type": options.vad},
                "transcription": {"model": options.transcription},
            },
            "output": {"format": audio_format, "voice": options.voice},
        },
        "tool_choice": "auto",
    }
