"""Google's Gemini Live API."""

from relay.providers.gemini.model import GeminiModel
from relay.providers.gemini.options import GeminiOptions

__all__ = ["GeminiModel", "GeminiOptions"]
