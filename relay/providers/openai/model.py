"""OpenAI Realtime behind the seam: what it can do, and opening sessions."""

from relay.protocol.limits import LIMITS, Limits
from relay.protocol.refusals import Refusal
from relay.providers.model import Capabilities, SessionConfig
from relay.providers.openai.options import OpenAIOptions, endpoint
from relay.providers.openai.session import OpenAISession
from relay.providers.openai.turn import RATE_HZ

_CAPABILITIES = Capabilities(
    tool_update=True, tool_cancel=False, audio_during_tool=True, resume=False, manual_vad=True
)


class OpenAIModel:
    """Opens sessions; dials nothing before their events are read."""

    name = "openai"
    input_rate_hz = RATE_HZ
    output_rate_hz = RATE_HZ
    capabilities = _CAPABILITIES

    def __init__(self, options: OpenAIOptions, *, limits: Limits = LIMITS) -> None:
        self._options = options
        self._limits = limits
        self.model = options.model

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

    async def open(self, config: SessionConfig) -> OpenAISession:
        """Open a session. Raises: Refusal `provider-unavailable` without key or address."""
        return OpenAISession(
            config,
            options=self._options,
            endpoint=endpoint(self._options),
            limits=self._limits,
        )
