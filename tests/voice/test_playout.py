import asyncio

import pytest

from relay.protocol.audio import AudioFormat
from relay.protocol.limits import Limits
from relay.protocol.messages import Flush
from relay.voice.playout import FRAME_MS, AudioQueue, Mark, Sound

AUDIO = AudioFormat(24_000)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def queue(clock: Clock, **bounds: int) -> AudioQueue:
    return AudioQueue(audio=AUDIO, limits=Limits(**bounds), clock=clock)


def sound(ms: float) -> bytes:
    return b"\1" * AUDIO.bytes_for(ms)


def take_all_due(played: AudioQueue) -> list[Sound | Mark]:
    taken = []
    while (item := played.take()) is not None:
        taken.append(item)
    return taken


async def test_sound_is_cut_into_frames(clock: Clock) -> None:
    played = queue(clock)
    assert played.push("t1", sound(50))
    frames = take_all_due(played)
    assert [AUDIO.ms_of(len(frame.pcm)) for frame in frames] == [20, 20, 10]


async def test_sound_never_leaves_more_than_the_lead_ahead(clock: Clock) -> None:
    played = queue(clock, playout_lead_ms=100)
    played.push("t1", sound(1_000))
    assert len(take_all_due(played)) == 100 / FRAME_MS
    clock.now += 0.06
    assert len(take_all_due(played)) == 60 / FRAME_MS


async def test_a_pause_does_not_allow_a_burst_afterwards(clock: Clock) -> None:
    played = queue(clock, playout_lead_ms=100)
    played.push("t1", sound(20))
    take_all_due(played)
    clock.now += 60
    played.push("t2", sound(1_000))
    assert len(take_all_due(played)) == 100 / FRAME_MS


async def test_a_mark_follows_the_sound_before_it(clock: Clock) -> None:
    played = queue(clock)
    played.push("t1", sound(40))
    played.mark("t1", Flush(turn_id="t1"))
    taken = take_all_due(played)
    assert [type(item) for item in taken] == [Sound, Sound, Mark]


async def test_a_mark_waits_for_its_sound_but_not_for_the_pacing(clock: Clock) -> None:
    played = queue(clock, playout_lead_ms=40)
    played.push("t1", sound(40))
    played.mark("t1", Flush(turn_id="t1"))
    assert isinstance((take_all_due(played))[-1], Mark)


async def test_clear_forgets_everything_at_once(clock: Clock) -> None:
    played = queue(clock)
    played.push("t1", sound(10_000))
    played.mark("t1", Flush(turn_id="t1"))
    played.clear()
    assert take_all_due(played) == []
    played.push("t2", sound(20))
    assert [item.turn_id for item in take_all_due(played)] == ["t2"]


async def test_an_answer_beyond_the_bound_is_cut_and_says_so(clock: Clock) -> None:
    played = queue(clock, playout_queue_max_ms=100)
    assert played.push("t1", sound(100))
    assert not played.push("t1", sound(20))


async def test_heard_is_what_was_sent_less_what_is_still_ahead(clock: Clock) -> None:
    played = queue(clock, playout_lead_ms=200)
    played.push("t1", sound(1_000))
    take_all_due(played)
    assert played.heard_ms("t1") == pytest.approx(0, abs=1e-6)
    clock.now += 0.15
    assert played.heard_ms("t1") == pytest.approx(150)
    clock.now += 60
    assert played.heard_ms("t1") == pytest.approx(200)
    assert played.heard_ms("unknown") == 0


async def test_waiting_ends_when_something_comes_and_when_its_moment_comes() -> None:
    played = AudioQueue(audio=AUDIO, limits=Limits(playout_lead_ms=20))
    waiting = asyncio.create_task(played.due())
    await asyncio.sleep(0)
    assert not waiting.done()
    played.push("t1", sound(40))
    await waiting
    assert isinstance(played.take(), Sound)
    assert played.take() is None  # a frame ahead of real time
    await played.due()
    assert isinstance(played.take(), Sound)


async def test_what_is_cleared_while_somebody_waits_is_not_taken() -> None:
    played = AudioQueue(audio=AUDIO, limits=Limits())
    played.push("t1", sound(40))
    await played.due()
    played.clear()
    assert played.take() is None
