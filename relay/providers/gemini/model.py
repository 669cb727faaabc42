"""Gemini Live behind the seam: what the chosen model can do, and opening sessions."""

from relay.protocol.limits import LIMITS, Limits
from relay.providers.gemini.options import GeminiOptions, endpoint
from relay.providers.gemini.profile import profile_of
from relay.providers.gemini.session import GeminiSession
from relay.providers.gemini.wire import INPUT_RATE_HZ, OUTPUT_RATE_HZ
from relay.providers.model import SessionConfig
from relay.providers.remote import RemoteModel


class GeminiModel(RemoteModel):
    """Opens sessions; dials nothing before their events are read."""

    name = "gemini"
    input_rate_hz = INPUT_RATE_HZ
    output_rate_hz = OUTPUT_RATE_HZ

    def __init__(self, options: GeminiOptions, *, limits: Limits = LIMITS) -> None:
        super().__init__(lambda: endpoint(options))
        self._options = options
        self._limits = limits
        self._profile = profile_of(options.model)
        self.model = options.model.removeprefix("models/")
        self.capabilities = self._profile.capabilities

    async def open(self, config: SessionConfig) -> GeminiSession:
        """Open a session. Raises: Refusal `provider-unavailable` without key or address."""
        return GeminiSession(
            config,
            options=self._options,
            profile=self._profile,
            endpoint=self._endpoint(),
            limits=self._limits,
        )
