"""What models behind a network share: nothing runs between sessions, and a key may be missing."""

from collections.abc import Callable

from relay.protocol.refusals import Refusal
from relay.providers.websocket import Endpoint


class RemoteModel:
    """The part of a `LiveModel` that does not depend on the provider; dials nothing.

    `endpoint` says where to dial; it raises: Refusal `provider-unavailable` without a key or a
    usable address.
    """

    def __init__(self, endpoint: Callable[[], Endpoint]) -> None:
        self._endpoint = endpoint

    @property
    def ready(self) -> bool:
        """Whether it may be dialled."""
        return self.trouble is None

    @property
    def trouble(self) -> str | None:
        """What is missing to dial: a key, or a usable address."""
        try:
            self._endpoint()
        except Refusal as refusal:
            return refusal.why
        return None

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""
