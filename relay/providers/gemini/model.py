"""Gemini Live behind the seam: what the chosen model can do, and opening sessions."""

from relay.protocol.limits import LIMITS, Limits
from relay.protocol.refusals import Refusal
from relay.providers.gemini.options import GeminiOptions, endpoint
from relay.providers.gemini.profile import profile_of
from relay.providers.gemini.session import GeminiSession
from relay.providers.gemini.wire import INPUT_RATE_HZ, OUTPUT_RATE_HZ
from relay.providers.model import SessionConfig


class GeminiModel:
    """Opens sessions; dials nothing before their events are read."""

    name = "gemini"
    input_rate_hz = INPUT_RATE_HZ
    output_rate_hz = OUTPUT_RATE_HZ

    def __init__(self, options: GeminiOptions, *, limits: Limits = LIMITS) -> None:
        self._options = options
        self._limits = limits
        self._profile = profile_of(options.model)
        self.model = options.model.removeprefix("models/")
        self.capabilities = self._profile.capabilities

    @property
    def ready(self) -> bool:
        """Whether it may be dialled."""
        return self.trouble is None

    @property
    def trouble(self) -> str | None:
        """What is missing to dial: a key, or a usable address."""
        try:
            endpoint(self._options)
        except Refusal as refusal:
            return refusal.why
        return None

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""

    async def open(self, config: SessionConfig) -> GeminiSession:
        """Open a session. Raises: Refusal `provider-unavailable` without key or address."""
        return GeminiSession(
            config,
            options=self._options,
            profile=self._profile,
            endpoint=endpoint(self._options),
            limits=self._limits,
        )
