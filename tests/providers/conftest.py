"""The fake providers, as fixtures; a test may not leave a fault of the relay's behind."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.gemini_live import FakeGemini
from tests.fakes.openai_realtime import FakeOpenAI


@pytest.fixture
async def openai() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server
    assert server.faults == []


@pytest.fixture
async def gemini() -> AsyncIterator[FakeGemini]:
    async with FakeGemini() as server:
        yield server
    assert server.faults == []
