"""The `embedded` live model: opens sessions on the one engine process of the relay."""

import asyncio

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as seam
from relay.providers.embedded.process import EngineProcess, engine_command
from relay.providers.embedded.session import EmbeddedSession
from relay.providers.embedded.setup import Setup

INPUT_RATE_HZ = 16_000
OUTPUT_RATE_HZ = 24_000


class EmbeddedModel:
    """Speech without a network. The engine starts with `start`, or with the first session."""

    name = "embedded"
    input_rate_hz = INPUT_RATE_HZ
    output_rate_hz = OUTPUT_RATE_HZ
    capabilities = seam.Capabilities(
        tool_update=True,
        tool_cancel=False,
        audio_during_tool=False,
        resume=False,
        manual_vad=True,
    )

    def __init__(self, engine: EngineProcess | None = None, setup: Setup | None = None) -> None:
        self._setup = setup or Setup()
        self._trouble: str | None = None
        self.engine = engine or EngineProcess(engine_command(self._setup))
        self.model = self._setup.speech_model

    @property
    def ready(self) -> bool:
        """Whether the engine has loaded its models."""
        return self.engine.loaded

    @property
    def trouble(self) -> str | None:
        """Why the engine can't be started, as far as that is known; None while it may."""
        return self._trouble or (self.engine.why if self.engine.hopeless else None)

    async def start(self) -> None:
        """Begin to load; returns at once."""
        loaded = self.engine.loaded  # then the files have done their duty
        self._trouble = None if loaded else await asyncio.to_thread(self._setup.trouble)
        if self._trouble is None:
            self.engine.start()

    async def stop(self) -> None:
        """End the engine."""
        await self.engine.stop()

    async def open(self, config: seam.SessionConfig) -> EmbeddedSession:
        """Open a session; it is ready when the engine is. Raises: Refusal."""
        await self.start()
        if self.trouble is not None:
            raise Refusal(RefusalCode.PROVIDER_UNAVAILABLE, self.trouble)
        session = EmbeddedSession(self.engine, config)
        await session.begin()
        return session
