"""The answer that is being given: one turn, perhaps of several responses. Pure.

Knows how much sound of which item was received, and so what a truncation may say: OpenAI
refuses one beyond the received sound and one of an item without sound.
"""

from msgspec import Struct

from relay.protocol.audio import AudioFormat, SampleAligner

RATE_HZ = 24_000
_FORMAT = AudioFormat(RATE_HZ)


class Truncation(Struct, frozen=True, kw_only=True):
    """An item that was not heard to its end."""

    item_id: str
    content_index: int
    audio_end_ms: int


class Turn:
    """One open turn; `turn_id` is the relay's."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self._bytes: dict[tuple[str, int], int] = {}
        self._aligner = SampleAligner()
        self._texts: dict[str, str] = {}

    def hear(self, item_id: str, content_index: int, piece: bytes) -> bytes:
        """Return the whole samples that are there now; an odd byte waits for the next piece."""
        key = (item_id, content_index)
        if key not in self._bytes:
            self._aligner = SampleAligner()  # half a sample never joins two items
            self._bytes[key] = 0
        pcm = self._aligner.push(piece).pcm
        self._bytes[key] += len(pcm)
        return pcm

    def say(self, item_id: str, delta: str, *, final: bool) -> str:
        """Return all text of the turn so far, with more (or all) of one item's."""
        self._texts[item_id] = delta if final else self._texts.get(item_id, "") + delta
        return self.text

    @property
    def text(self) -> str:
        """What the turn says so far."""
        return " ".join(text for text in self._texts.values() if text)

    def truncations(self, played_ms: float) -> list[Truncation]:
        """What to tell the server when `played_ms` of the turn's sound were heard."""
        cut, before_ms = [], 0.0
        for (item_id, content_index), size in self._bytes.items():
            length_ms = _FORMAT.ms_of(size)
            heard_ms = int(max(played_ms - before_ms, 1.0))
            if heard_ms < int(length_ms):
                cut.append(
                    Truncation(item_id=item_id, content_index=content_index, audio_end_ms=heard_ms)
                )
            before_ms += length_ms
        return cut
