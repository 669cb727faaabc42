"""OpenAI Realtime behind the seam: what it can do, and opening sessions."""

from relay.protocol.limits import LIMITS, Limits
from relay.providers.model import Capabilities, SessionConfig
from relay.providers.openai.options import OpenAIOptions, endpoint
from relay.providers.openai.session import OpenAISession
from relay.providers.openai.turn import RATE_HZ
from relay.providers.remote import RemoteModel

_CAPABILITIES = Capabilities(
    tool_update=True, tool_cancel=False, audio_during_tool=True, resume=False, manual_vad=True
)


class OpenAIModel(RemoteModel):
    """Opens sessions; dials nothing before their events are read."""

    name = "openai"
    input_rate_hz = RATE_HZ
    output_rate_hz = RATE_HZ
    capabilities = _CAPABILITIES

    def __init__(self, options: OpenAIOptions, *, limits: Limits = LIMITS) -> None:
        super().__init__(lambda: endpoint(options))
        self._options = options
        self._limits = limits
        self.model = options.model

    async def open(self, config: SessionConfig) -> OpenAISession:
        """Open a session. Raises: Refusal `provider-unavailable` without key or address."""
        return OpenAISession(
            config,
            options=self._options,
            endpoint=self._endpoint(),
            limits=self._limits,
        )
