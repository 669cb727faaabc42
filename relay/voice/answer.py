"""What the model is answering: its turns, their sound on the way out, and cutting them off.

Says `speaking`, `flush`, `interrupted` and `turn-complete`; every turn that began is completed
exactly once, and no sound of a turn follows its flush.
"""

from relay.protocol import messages as wire
from relay.protocol.audio import AudioFormat
from relay.protocol.limits import Limits
from relay.providers import model as upstream
from relay.voice.client import Client
from relay.voice.playout import FRAME_MS, AudioQueue, Mark, Sound

TurnEvent = upstream.TurnStarted | upstream.AudioOut | upstream.Interrupted | upstream.TurnEnded


class Answer:
    """The open turns of one conversation, oldest first."""

    def __init__(self, client: Client, audio: AudioFormat, limits: Limits) -> None:
        self._client = client
        self._queue = AudioQueue(audio=audio, limits=limits)
        self._open: dict[str, bool] = {}  # turn id → whether it has been heard to speak
        self._reported_ms: dict[str, float] = {}

    def on(self, event: TurnEvent) -> None:
        """Follow the model. What belongs to a turn that was cut is dropped."""
        match event:
            case upstream.TurnStarted(turn_id=turn_id):
                self._open.setdefault(turn_id, False)
            case _ if event.turn_id not in self._open:
                return
            case upstream.AudioOut(turn_id=turn_id, pcm=pcm):
                self._speak(turn_id, pcm)
            case upstream.Interrupted():
                self.cut(None)
            case upstream.TurnEnded(turn_id=turn_id, reason=reason):
                done = wire.State(state="turn-complete", turn_id=turn_id, reason=reason)
                self._queue.mark(turn_id, done)

    def note_played(self, turn_id: str, played_ms: float) -> None:
        """The client says how much of a turn it has played."""
        if turn_id in self._open:
            self._reported_ms[turn_id] = played_ms

    def cut(self, played_ms: float | None) -> float | None:
        """Stop every open turn now; how much of the last one was heard in ms, None if none was.

        `played_ms` is the client's own word, which beats what was reported before and what
        pacing makes likely.
        """
        if not self._open:
            return None
        turns = tuple(self._open)
        heard_ms = self._reported_ms.get(turns[-1], self._queue.heard_ms(turns[-1]))
        self._queue.clear()
        self._open.clear()
        self._reported_ms.clear()
        for turn_id in turns:
            self._client.send(wire.Flush(turn_id=turn_id))
            self._client.send(wire.State(state="interrupted", turn_id=turn_id))
            self._client.send(
                wire.State(state="turn-complete", turn_id=turn_id, reason="interrupted")
            )
        return heard_ms if played_ms is None else played_ms

    async def pump(self) -> None:
        """Hand sound and marks to the client, each in its moment; runs until cancelled."""
        while True:
            await self._queue.due()
            await self._client.has_room_for_audio(FRAME_MS)
            # taken last: a frame in the hand would outlive a flush that comes meanwhile
            match self._queue.take():
                case Sound(pcm=pcm):
                    await self._client.send_audio(pcm)
                case Mark(turn_id=turn_id, message=message):
                    self._open.pop(turn_id, None)
                    self._reported_ms.pop(turn_id, None)
                    self._client.send(message)
                case None:
                    pass  # it was cleared while the client had no room

    def _speak(self, turn_id: str, pcm: bytes) -> None:
        if not self._open[turn_id]:
            self._open[turn_id] = True
            self._client.send(wire.State(state="speaking", turn_id=turn_id))
        if not self._queue.push(turn_id, pcm):
            self._client.send(
                wire.Error(code="answer-cut", message="the answer is too long to play", fatal=False)
            )
