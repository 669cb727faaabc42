"""A voice client that keeps everything it is told, in order."""

import asyncio

from relay.protocol.messages import Message, State


class FakeClient:
    """Sound is kept as its length, beside the messages, so that order can be asserted."""

    def __init__(self) -> None:
        self.told: list[Message | bytes] = []
        self._news = asyncio.Event()
        self.reads = asyncio.Event()
        """Cleared while the client reads no sound."""
        self.reads.set()

    def send(self, message: Message) -> None:
        self.told.append(message)
        self._news.set()

    async def has_room_for_audio(self, ms: float) -> None:
        await self.reads.wait()

    async def send_audio(self, pcm: bytes) -> None:
        await self.reads.wait()
        self.told.append(pcm)
        self._news.set()

    @property
    def messages(self) -> list[Message]:
        return [item for item in self.told if isinstance(item, Message)]

    @property
    def audio(self) -> bytes:
        return b"".join(item for item in self.told if isinstance(item, bytes))

    @property
    def states(self) -> list[str]:
        return [message.state for message in self.messages if isinstance(message, State)]

    async def until(self, state: str, times: int = 1) -> None:
        while self.states.count(state) < times:
            self._news.clear()
            await self._news.wait()
