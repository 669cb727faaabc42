"""OpenAI's Realtime API, and servers that speak its protocol."""

from relay.providers.openai.model import OpenAIModel
from relay.providers.openai.options import OpenAIOptions

__all__ = ["OpenAIModel", "OpenAIOptions"]
