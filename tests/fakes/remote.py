"""The remote models of the product, pointed at the fake servers."""

from typing import Any

from relay.protocol.limits import Limits
from relay.providers.gemini import GeminiModel, GeminiOptions
from relay.providers.openai import OpenAIModel, OpenAIOptions
from relay.providers.secret import Secret
from tests.fakes.gemini_live import FakeGemini
from tests.fakes.openai_realtime import FakeOpenAI
from tests.fakes.talks import BRISK


def openai_model(server: FakeOpenAI, *, limits: Limits = BRISK, **options: Any) -> OpenAIModel:
    options = {"key": Secret(server.key), "base_url": server.base_url} | options
    return OpenAIModel(OpenAIOptions(**options), limits=limits)


def gemini_model(server: FakeGemini, *, limits: Limits = BRISK, **options: Any) -> GeminiModel:
    options = {"key": Secret(server.key), "base_url": server.base_url} | options
    return GeminiModel(GeminiOptions(**options), limits=limits)
