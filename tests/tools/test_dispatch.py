import asyncio
from typing import Any

import pytest

from relay.protocol import codec
from relay.protocol.limits import Limits
from relay.protocol.messages import ToolFrame
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.dispatch import ToolDispatcher
from relay.tools.feed import FrameFeed
from relay.tools.registry import ToolRegistry
from relay.tools.tool import (
    AppId,
    CallId,
    ToolCall,
    ToolOutcome,
    ToolRefused,
    ToolSucceeded,
)
from tests.fakes.declared import SET_SCORE
from tests.fakes.hosts import Behaviour, FakeHost, echo

LIMITS = Limits()
GOOD = {"team": "home", "points": 3}


class Bench:
    """A registry with one tool, its dispatcher and the frames that were published."""

    def __init__(self, behaviour: Behaviour = echo, *, show_args: bool = False) -> None:
        self.registry = ToolRegistry(limits=LIMITS)
        self.host = FakeHost(behaviour)
        self.frames: list[ToolFrame] = []
        self.dispatcher = ToolDispatcher(
            registry=self.registry,
            publish=self.frames.append,
            limits=LIMITS,
            show_args=show_args,
        )

    async def call(self, args: object, name: str = "set_score", **more: Any) -> ToolOutcome:
        await self.registry.replace(self.host, AppId("app_scoreboard"), [SET_SCORE])
        return await self.dispatcher.call(call(args, name), **more)


def call(args: object, name: str = "set_score") -> ToolCall:
    return ToolCall(
        call_id=CallId("call_1"), name=name, args=args, session_id="s1", provider="fake"
    )


async def test_a_good_call_runs_with_its_arguments_and_tells_two_frames() -> None:
    bench = Bench()
    outcome = await bench.call(GOOD)
    assert isinstance(outcome, ToolSucceeded)
    assert [args for _, args in bench.host.calls] == [GOOD]
    called, done = bench.frames
    assert (called.state, done.state) == ("called", "done")
    assert called.host == done.host == "mini-app"
    assert called.app_id == "app_scoreboard"
    assert (called.provider, called.session_id) == ("fake", "s1")
    assert done.ok is True
    assert done.duration_ms == outcome.duration_ms >= 0
    assert done.queued_ms == 0
    assert done.output == outcome.result_json.decode()
    assert done.output_bytes == len(outcome.result_json)


async def test_the_host_learns_which_app_the_call_is_for() -> None:
    bench = Bench()
    await bench.call(GOOD)
    assert bench.host.calls[0][0].app_id == "app_scoreboard"


async def test_an_unknown_tool_is_refused_and_announced_without_a_host() -> None:
    bench = Bench()
    outcome = await bench.call({}, name="launch_missiles")
    assert isinstance(outcome, ToolRefused)
    assert outcome.code is RefusalCode.UNKNOWN_TOOL
    assert [(frame.state, frame.host) for frame in bench.frames] == [
        ("called", "none"),
        ("done", "none"),
    ]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"team": "home"}, RefusalCode.MISSING_ARGUMENT),
        ({"team": "nobody", "points": 3}, RefusalCode.INVALID_ARGUMENT_ENUM),
        ({"team": "home", "points": "3"}, RefusalCode.INVALID_ARGUMENT_TYPE),
        ([], RefusalCode.INVALID_TOOL_ARGUMENTS),
    ],
)
async def test_bad_arguments_are_refused_before_the_host(args: object, code: RefusalCode) -> None:
    bench = Bench()
    outcome = await bench.call(args)
    assert isinstance(outcome, ToolRefused)
    assert outcome.code is code
    assert bench.host.calls == []
    assert bench.frames[-1].refused == code
    assert bench.frames[-1].duration_ms == outcome.duration_ms


async def test_arguments_that_were_not_json_are_refused() -> None:
    bench = Bench()
    await bench.registry.replace(bench.host, AppId("app_scoreboard"), [SET_SCORE])
    outcome = await bench.dispatcher.call(
        ToolCall(call_id=CallId("c"), name="set_score", args_error="the arguments are not JSON")
    )
    assert isinstance(outcome, ToolRefused)
    assert outcome.code is RefusalCode.INVALID_TOOL_ARGUMENTS
    assert bench.host.calls == []


async def test_a_barred_call_is_refused_without_being_run() -> None:
    bench = Bench()
    outcome = await bench.call(GOOD, barred=Refusal(RefusalCode.BUSY, "too many"))
    assert isinstance(outcome, ToolRefused)
    assert outcome.code is RefusalCode.BUSY
    assert bench.host.calls == []
    assert [frame.state for frame in bench.frames] == ["called", "done"]


async def test_a_refusal_of_the_host_is_an_outcome_with_a_bounded_sentence() -> None:
    async def refuse(_: dict[str, Any]) -> object:
        raise Refusal(RefusalCode.MINI_APP_TOOL_FAILED, "x" * 10_000)

    outcome = await Bench(refuse).call(GOOD)
    assert isinstance(outcome, ToolRefused)
    assert outcome.code is RefusalCode.MINI_APP_TOOL_FAILED
    assert len(outcome.why) == LIMITS.why_max_chars


async def test_a_bug_in_a_host_is_an_internal_error_without_its_text() -> None:
    async def break_down(_: dict[str, Any]) -> object:
        raise RuntimeError("secret detail")

    outcome = await Bench(break_down).call(GOOD)
    assert isinstance(outcome, ToolRefused)
    assert outcome.code is RefusalCode.INTERNAL_ERROR
    assert "secret" not in outcome.why


async def test_a_cancelled_call_says_so_once_and_stays_cancelled() -> None:
    started = asyncio.Event()

    async def hang(_: dict[str, Any]) -> object:
        started.set()
        await asyncio.Event().wait()
        return None

    bench = Bench(hang)
    task = asyncio.create_task(bench.call(GOOD))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [frame.state for frame in bench.frames] == ["called", "done"]
    assert bench.frames[-1].refused == RefusalCode.CANCELLED


async def test_the_frame_says_whether_the_answer_was_delivered() -> None:
    delivered: list[ToolOutcome] = []

    async def deliver(outcome: ToolOutcome) -> bool:
        delivered.append(outcome)
        return False

    bench = Bench()
    outcome = await bench.call(GOOD, deliver=deliver)
    assert delivered == [outcome]
    assert bench.frames[-1].delivered is False


async def test_a_call_whose_answer_can_not_be_delivered_has_ended_all_the_same() -> None:
    async def deliver(outcome: ToolOutcome) -> bool:
        raise ConnectionResetError

    bench = Bench()
    with pytest.raises(ConnectionResetError):
        await bench.call(GOOD, deliver=deliver)
    assert [frame.state for frame in bench.frames] == ["called", "done"]
    assert bench.frames[-1].delivered is False


@pytest.mark.parametrize("show_args", [True, False])
async def test_arguments_travel_in_frames_only_where_the_setting_says_so(
    *, show_args: bool
) -> None:
    bench = Bench(show_args=show_args)
    await bench.call(GOOD)
    shown = bench.frames[0].args
    assert (bytes(shown) == b'{"team":"home","points":3}') if show_args else not shown


async def test_arguments_that_are_no_json_are_not_shown() -> None:
    bench = Bench(show_args=True)
    await bench.call({"team": object()})
    assert not bench.frames[0].args


async def test_a_long_output_is_shown_cut_and_counted_whole() -> None:
    async def talk(_: dict[str, Any]) -> object:
        return "é" * 1_000

    bench = Bench(talk)
    outcome = await bench.call(GOOD)
    assert isinstance(outcome, ToolSucceeded)
    done = bench.frames[-1]
    assert done.output == '"' + "é" * (LIMITS.frame_output_max_chars - 1)
    assert done.output_bytes == len(outcome.result_json)


def frame(number: int) -> ToolFrame:
    return ToolFrame(state="called", call_id=f"c{number}", name="t", host="none")


@pytest.mark.parametrize(
    "bound",
    [{"frame_history_max": 3}, {"frame_history_max_bytes": 3 * len(codec.encode(frame(0)))}],
)
def test_the_feed_remembers_only_the_last_frames(bound: dict[str, int]) -> None:
    feed = FrameFeed(limits=Limits(**bound))
    for number in range(5):
        feed.publish(frame(number))
    assert [b'"c3"' in text or b'"c4"' in text for text in feed.last(2)] == [True, True]
    assert len(feed.last(100)) == 3
    assert feed.last(0) == []


def test_a_listener_hears_until_it_unsubscribes() -> None:
    feed = FrameFeed(limits=LIMITS)
    heard: list[str] = []
    unsubscribe = feed.subscribe(lambda told, _: heard.append(told.call_id))
    feed.publish(frame(1))
    unsubscribe()
    feed.publish(frame(2))
    assert heard == ["c1"]


async def test_draining_waits_for_the_running_call_and_refuses_new_ones() -> None:
    began, let_go = asyncio.Event(), asyncio.Event()

    async def wait(args: dict[str, Any]) -> object:
        began.set()
        await let_go.wait()
        return args

    bench = Bench(wait)
    running = asyncio.create_task(bench.call(GOOD))
    await began.wait()
    draining = asyncio.create_task(bench.dispatcher.drain())
    await asyncio.sleep(0)
    late = await bench.call(GOOD)
    assert isinstance(late, ToolRefused)
    assert late.code is RefusalCode.BUSY
    assert not draining.done()
    let_go.set()
    assert isinstance(await running, ToolSucceeded)
    await draining


async def test_draining_an_idle_dispatcher_returns_at_once() -> None:
    await Bench().dispatcher.drain()
