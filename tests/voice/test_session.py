import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog

from relay.protocol import messages as wire
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as upstream
from relay.providers.model import LiveSession, SessionLost
from relay.tools.dispatch import ToolDispatcher
from relay.tools.feed import FrameFeed
from relay.tools.registry import ToolRegistry
from relay.tools.tool import AppId, CallId, ToolRefused, ToolSucceeded
from relay.voice.session import SessionEnded, VoiceSession
from tests.fakes.clients import FakeClient
from tests.fakes.declared import SET_SCORE
from tests.fakes.hosts import Behaviour, FakeHost, echo, hang
from tests.fakes.models import FakeModel, FakeSession

FRAME = b"\0\1" * 480


class Talk:
    """A conversation under way: the client's and the model's side in the test's hands."""

    def __init__(self, behaviour: Behaviour, hello: wire.Hello, **bounds: int) -> None:
        self.limits = Limits(**bounds)
        self.registry = ToolRegistry(limits=self.limits)
        self.feed = FrameFeed(limits=self.limits)
        self.host = FakeHost(behaviour)
        self.client = FakeClient()
        self.model = FakeModel()
        self.session = VoiceSession(
            session_id="s1",
            client=self.client,
            model=self.model,
            registry=self.registry,
            dispatcher=ToolDispatcher(
                registry=self.registry, publish=self.feed.publish, limits=self.limits
            ),
            limits=self.limits,
            hello=hello,
        )
        self.live: FakeSession
        self.end: SessionEnded | None = None
        self.stopping = asyncio.Event()
        self._from_client: asyncio.Queue[wire.LiveClientMessage | bytes | None] = asyncio.Queue()

    def client_says(self, *said: wire.LiveClientMessage | bytes | None) -> None:
        for item in said:
            self._from_client.put_nowait(item)

    async def pump(self, live: LiveSession) -> None:
        while (item := await self._from_client.get()) is not None:
            if isinstance(item, bytes):
                await self.session.hear(live, item)
            else:
                await self.session.take(live, item)

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


@asynccontextmanager
async def talk(
    behaviour: Behaviour = echo, *, hello: wire.Hello | None = None, **bounds: int
) -> AsyncIterator[Talk]:
    talking = Talk(behaviour, hello or wire.Hello(), **bounds)
    await talking.registry.replace(talking.host, AppId("app_x"), [SET_SCORE])
    task = asyncio.create_task(talking.session.run(talking.pump, stopping=talking.stopping))
    talking.live = await talking.model.opened.get()
    try:
        yield talking
    finally:
        talking.client_says(None)
        talking.end = await task
        assert talking.live.closed
        assert talking.client.states.count("closed") == 1
        assert talking.client.states[-1] == "closed"


@asynccontextmanager
async def ready_talk(behaviour: Behaviour = echo, **bounds: int) -> AsyncIterator[Talk]:
    async with talk(behaviour, **bounds) as talking:
        talking.live.play(upstream.Ready())
        await talking.client.until("ready")
        yield talking


def asked(call_id: str = "c1", args: object = None, **more: Any) -> upstream.ToolCallRequested:
    args = {"team": "home", "points": 3} if args is None else args
    return upstream.ToolCallRequested(call_id=CallId(call_id), name="set_score", args=args, **more)


async def test_a_model_is_told_what_the_client_is_like() -> None:
    async with talk(hello=wire.Hello(captions=False, echo_cancellation=True)) as talking:
        config = talking.live.config
        assert (config.captions, config.echo_cancellation) == (False, True)


async def test_audio_before_ready_is_counted_and_dropped() -> None:
    async with talk() as talking:
        talking.client_says(FRAME, FRAME)
        await talking.settle()
        talking.live.play(upstream.Ready())
        await talking.client.until("ready")
        talking.client_says(FRAME)
        await talking.settle()
        ready = [m for m in talking.client.messages if isinstance(m, wire.State)][1]
        assert ready.gated_frames == 2
        assert talking.live.heard == [FRAME]


async def test_the_model_starts_with_the_rooms_tools_and_clients_are_told() -> None:
    async with ready_talk() as talking:
        await talking.settle()
        assert [tool.exposed_name for tool in talking.live.config.tools] == ["set_score"]
        (told,) = [m for m in talking.client.messages if isinstance(m, wire.Tools)]
        assert [tool.name for tool in told.tools] == ["set_score"]
        assert told.applies == "now"


async def test_a_changed_registry_reaches_the_running_model() -> None:
    async with ready_talk() as talking:
        await talking.settle()
        talking.registry.withdraw(talking.host, AppId("app_x"))
        await talking.settle()
        assert [len(tools) for tools in talking.live.tools] == [1, 0]


async def test_a_call_is_run_and_answered_on_the_session_that_asked() -> None:
    async with ready_talk() as talking:
        talking.live.play(asked())
        await talking.settle()
        outcome = talking.live.outcomes[CallId("c1")]
        assert isinstance(outcome, ToolSucceeded)
        assert outcome.result_json == b'{"team":"home","points":3}'


async def test_a_call_announced_twice_is_run_once() -> None:
    async with ready_talk() as talking:
        talking.live.play(asked(), asked())
        await talking.settle()
        assert len(talking.host.calls) == 1


async def test_a_call_before_ready_is_not_run() -> None:
    async with talk() as talking:
        talking.live.play(asked())
        await talking.settle()
        outcome = talking.live.outcomes[CallId("c1")]
        assert isinstance(outcome, ToolRefused)
        assert outcome.code is RefusalCode.BUSY
        assert talking.host.calls == []


async def test_calls_over_the_cap_are_refused_busy() -> None:
    async with ready_talk(hang, calls_per_session_max=2) as talking:
        talking.live.play(asked("c1"), asked("c2"), asked("c3"))
        await talking.settle()
        assert set(talking.live.outcomes) == {"c3"}
        refused = talking.live.outcomes[CallId("c3")]
        assert isinstance(refused, ToolRefused)
        assert refused.code is RefusalCode.BUSY


async def test_a_call_that_the_model_cancels_is_not_answered() -> None:
    async with ready_talk(hang) as talking:
        talking.live.play(asked())
        await talking.settle()
        talking.live.play(upstream.ToolCallsCancelled(call_ids=[CallId("c1")]))
        await talking.settle()
        assert talking.live.outcomes == {}
        assert b'"refused":"cancelled"' in talking.feed.last(1)[0]


async def test_a_hanging_tool_stops_neither_sound_nor_the_end() -> None:
    async with ready_talk(hang) as talking:
        talking.live.play(asked(), upstream.TurnStarted(turn_id="t1"))
        talking.live.play(upstream.AudioOut(turn_id="t1", pcm=FRAME))
        await talking.client.until("speaking")
        await talking.settle()
        assert talking.client.audio == FRAME
    assert b'"refused":"cancelled"' in talking.feed.last(1)[0]


async def test_a_turn_is_spoken_and_completed_after_its_last_sound() -> None:
    async with ready_talk() as talking:
        talking.live.play(
            upstream.TurnStarted(turn_id="t1"),
            upstream.AudioOut(turn_id="t1", pcm=FRAME),
            upstream.TurnEnded(turn_id="t1"),
        )
        await talking.client.until("turn-complete")
        told = talking.client.told
        done = wire.State(state="turn-complete", turn_id="t1", reason="completed")
        assert told.index(done) > told.index(FRAME)
        assert talking.client.states[-2:] == ["speaking", "turn-complete"]


async def test_an_interruption_flushes_first_and_no_sound_of_the_turn_follows() -> None:
    async with ready_talk() as talking:
        talking.live.play(
            upstream.TurnStarted(turn_id="t1"), upstream.AudioOut(turn_id="t1", pcm=FRAME * 100)
        )
        await talking.client.until("speaking")
        await talking.settle()
        talking.client_says(wire.Interrupt(played_ms=60.0))
        await talking.client.until("turn-complete")
        talking.live.play(
            upstream.AudioOut(turn_id="t1", pcm=FRAME), upstream.TurnEnded(turn_id="t1")
        )
        await talking.settle()
        told = talking.client.told
        after = told[told.index(wire.Flush(turn_id="t1")) :]
        assert after == [
            wire.Flush(turn_id="t1"),
            wire.State(state="interrupted", turn_id="t1"),
            wire.State(state="turn-complete", turn_id="t1", reason="interrupted"),
        ]
        assert talking.live.interruptions == [60.0]


async def test_speech_of_the_person_cuts_the_answer() -> None:
    async with ready_talk() as talking:
        talking.live.play(
            upstream.TurnStarted(turn_id="t1"), upstream.AudioOut(turn_id="t1", pcm=FRAME * 100)
        )
        await talking.client.until("speaking")
        talking.live.play(upstream.SpeechStarted())
        await talking.client.until("listening")
        assert "interrupted" in talking.client.states
        (heard_ms,) = talking.live.interruptions
        assert heard_ms is not None
        assert 0 <= heard_ms <= Limits().playout_lead_ms


async def test_what_the_client_reported_as_played_is_what_was_heard() -> None:
    async with ready_talk() as talking:
        talking.live.play(
            upstream.TurnStarted(turn_id="t1"), upstream.AudioOut(turn_id="t1", pcm=FRAME * 100)
        )
        await talking.client.until("speaking")
        talking.client_says(
            wire.Playback(turn_id="t1", played_ms=20.0), wire.Interrupt(), wire.Interrupt()
        )
        await talking.client.until("interrupted")
        await talking.settle()
        assert talking.live.interruptions == [20.0]


async def test_a_typed_turn_is_passed_on_and_a_bad_one_refused() -> None:
    async with ready_talk(text_turn_max_chars=10) as talking:
        talking.client_says(wire.Text(text="hello"))
        await talking.settle()
        assert talking.live.texts == ["hello"]
        for text in ("  ", "x" * 11):
            with pytest.raises(Refusal) as caught:
                await talking.session.take(talking.live, wire.Text(text=text))
            assert caught.value.code is RefusalCode.BAD_REQUEST


async def test_text_before_ready_is_refused_not_lost_silently() -> None:
    async with talk() as talking:
        with pytest.raises(Refusal) as caught:
            await talking.session.take(talking.live, wire.Text(text="hello"))
        assert caught.value.code is RefusalCode.BUSY


async def test_captions_and_push_to_talk_pass_through() -> None:
    async with ready_talk() as talking:
        talking.client_says(wire.Activity(kind="start"), wire.Activity(kind="end"))
        talking.live.play(
            upstream.TranscriptDelta(role="user", text="hi", final=True, turn_id="t1")
        )
        await talking.settle()
        assert talking.live.activities == ["start", "end"]
        assert wire.Text(role="user", text="hi", final=True, turn_id="t1") in talking.client.told


async def test_every_other_event_is_told() -> None:
    async with ready_talk() as talking:
        talking.live.play(
            upstream.SpeechStopped(),
            upstream.SessionExpiring(time_left_ms=5_000.0),
            upstream.Reconnecting(attempt=1),
            upstream.Resumed(state_kept=False),
            upstream.ModelError(code="odd", message="something"),
        )
        await talking.client.until("resumed")
        await talking.settle()
        assert talking.client.states[-4:] == ["thinking", "go-away", "reconnecting", "resumed"]
        assert wire.Error(code="odd", message="something", fatal=False) in talking.client.told


async def test_stop_ends_the_session_normally() -> None:
    async with ready_talk() as talking:
        talking.client_says(wire.Stop())
        await talking.client.until("closed")
    assert talking.end is not None
    assert talking.end.code == 1000


async def test_a_lost_model_is_told_and_ends_with_1011() -> None:
    async with ready_talk() as talking:
        talking.live.play(SessionLost("the engine is gone"))
        await talking.client.until("closed")
    assert talking.end is not None
    assert (talking.end.code, talking.end.reason) == (1011, "the engine is gone")
    error = wire.Error(code="session-lost", message="the engine is gone", fatal=True)
    assert error in talking.client.told


async def test_a_model_that_ends_by_itself_ends_the_session() -> None:
    async with ready_talk() as talking:
        talking.live.play(None)
        await talking.client.until("closed")
    assert talking.end is not None
    assert talking.end.code == 1000


async def test_a_stop_of_the_relay_ends_the_session_with_1001() -> None:
    async with ready_talk() as talking:
        talking.stopping.set()
        await talking.client.until("closed")
    assert talking.end is not None
    assert talking.end.code == 1001


async def test_the_code_of_a_loss_is_passed_on() -> None:
    async with ready_talk() as talking:
        talking.live.play(SessionLost("the key was refused", code="provider-key-refused"))
        await talking.client.until("closed")
    error = wire.Error(code="provider-key-refused", message="the key was refused", fatal=True)
    assert error in talking.client.told


async def test_pressing_the_button_cuts_the_answer() -> None:
    async with ready_talk() as talking:
        talking.live.play(
            upstream.TurnStarted(turn_id="t1"), upstream.AudioOut(turn_id="t1", pcm=FRAME * 100)
        )
        await talking.client.until("speaking")
        talking.client_says(wire.Activity(kind="start"))
        await talking.client.until("interrupted")
        assert len(talking.live.interruptions) == 1
        assert talking.live.activities == ["start"]


async def test_usage_is_logged_and_not_told() -> None:
    with structlog.testing.capture_logs() as logs:
        async with ready_talk() as talking:
            before = len(talking.client.told)
            talking.live.play(upstream.Usage(input_tokens=7, output_tokens=3))
            await talking.settle()
            assert not any("7" in repr(message) for message in talking.client.told[before:])
    assert {"event": "usage", "input_tokens": 7, "output_tokens": 3, "log_level": "info"} in logs


async def test_a_frame_that_waits_for_a_slow_client_does_not_outlive_the_flush() -> None:
    async with ready_talk() as talking:
        talking.client.reads.clear()
        talking.live.play(
            upstream.TurnStarted(turn_id="t1"), upstream.AudioOut(turn_id="t1", pcm=FRAME * 100)
        )
        await talking.client.until("speaking")
        await talking.settle()
        talking.client_says(wire.Interrupt())
        await talking.client.until("turn-complete")
        talking.client.reads.set()
        await talking.settle()
        told = talking.client.told
        assert not any(
            isinstance(one, bytes) for one in told[told.index(wire.Flush(turn_id="t1")) :]
        )
