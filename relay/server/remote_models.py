"""The live models behind a network, built from the settings; dials nothing."""

from typing import Any

from relay.protocol.limits import Limits
from relay.providers.gemini import GeminiModel, GeminiOptions
from relay.providers.model import LiveModel
from relay.providers.openai import OpenAIModel, OpenAIOptions
from relay.settings import Settings


def remote_models(settings: Settings, limits: Limits) -> dict[str, LiveModel]:
    """Every remote model by name; one without a key refuses when a session is asked for."""
    openai = _given(
        key=settings.openai_api_key,
        base_url=settings.openai_base_url,
        model=settings.openai_model,
        voice=settings.openai_voice,
        vad=settings.openai_vad,
        transcription=settings.openai_transcription,
        instructions=settings.instructions,
    )
    gemini = _given(
        key=settings.gemini_api_key,
        base_url=settings.gemini_base_url,
        model=settings.gemini_model,
        voice=settings.gemini_voice,
        vad=settings.gemini_vad,
        instructions=settings.instructions,
    )
    return {
        "openai": OpenAIModel(OpenAIOptions(**openai), limits=limits),
        "gemini": GeminiModel(GeminiOptions(**gemini), limits=limits),
    }


def _given(**options: Any) -> dict[str, Any]:
    """What was set; the rest has the provider's defaults."""
    return {name: value for name, value in options.items() if value is not None}
