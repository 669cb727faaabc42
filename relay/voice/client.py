"""Who is being talked with, as a conversation sees it."""

from typing import Protocol

from relay.protocol.messages import Message


class Client(Protocol):
    """A voice client: messages are queued, sound is handed over in its moment."""

    def send(self, message: Message) -> None:
        """Queue a message; never blocks."""
        ...

    async def has_room_for_audio(self, ms: float) -> None:
        """Wait until the client has read so much that `ms` of sound may follow."""
        ...

    async def send_audio(self, pcm: bytes) -> None:
        """Hand over one frame of answer audio; waits while the client's queue is full."""
        ...
