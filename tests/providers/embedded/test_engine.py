"""The real engine in its own process, on the example sounds, faster than real time."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio

from relay.providers import model as seam
from relay.providers.embedded import EmbeddedModel
from relay.tools.schema import read_tool
from relay.tools.tool import CallId, ToolSucceeded
from tests.fakes.voice import ALL_TOOLS, COMMANDS, EXAMPLE_TOOLS, conversation, pcm_of, registered

pytestmark = [pytest.mark.voice, pytest.mark.asyncio(loop_scope="module")]
ADD_THREE = ("set_score", {"team": "home", "points": 3})
FILES = [command["file"] for command in COMMANDS]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[EmbeddedModel]:
    model = EmbeddedModel()
    await model.start()
    yield model
    await model.stop()


@pytest.mark.parametrize("command", COMMANDS, ids=FILES)
async def test_each_example_is_understood_exactly(
    model: EmbeddedModel, command: dict[str, Any]
) -> None:
    async with conversation(model) as talk:
        await talk.say(pcm_of(command["file"]))
        await talk.settle()
        wanted = [] if command["tool"] is None else [(command["tool"], command["args"])]
        assert talk.calls() == wanted
        started, stopped = talk.of(seam.SpeechStarted), talk.of(seam.SpeechStopped)
        assert len(started) == len(stopped) == (1 if command["says"] else 0)
        turns = {turn.turn_id for turn in talk.of(seam.TurnStarted)}
        assert {turn.turn_id for turn in talk.of(seam.TurnEnded)} == turns
        assert len(turns) == len(stopped) + 1  # the settling turn


async def test_the_answer_is_heard_and_captioned(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        await talk.say(pcm_of("add-three-points.wav"))
        await talk.until(seam.TurnEnded)
        (caption,) = talk.captions("assistant")
        assert caption.text == "Done: current score 3."
        sound = b"".join(audio.pcm for audio in talk.of(seam.AudioOut))
        assert len(sound) > model.output_rate_hz  # over half a second
        assert max(abs(s) for s in memoryview(sound).cast("h")) > 3_000


async def test_the_size_of_the_pieces_changes_nothing(model: EmbeddedModel) -> None:
    heard = []
    for chunk_bytes in (2, 1_000, 1_000_000):
        async with conversation(model, session_id=f"session_{chunk_bytes}") as talk:
            await talk.say(pcm_of("give-two-points.wav")[:-3200], chunk_bytes)
            await talk.settle()
            heard.append((talk.calls(), [caption.text for caption in talk.captions("user")]))
    assert heard[0] == heard[1] == heard[2]


async def test_two_sessions_at_once_do_not_mix(model: EmbeddedModel) -> None:
    files = {"session_a": "stop-timer.wav", "session_b": "reset-scores.wav"}
    async with (
        conversation(model, session_id="session_a") as one,
        conversation(model, session_id="session_b") as other,
    ):
        await asyncio.gather(
            one.say(pcm_of(files["session_a"])), other.say(pcm_of(files["session_b"]))
        )
        await asyncio.gather(one.settle(), other.settle())
        assert one.calls() == [("stop_timer", {})]
        assert other.calls() == [("reset_scores", {})]


async def test_ten_sessions_at_once_are_all_understood(model: EmbeddedModel) -> None:
    async with AsyncExitStack() as stack:
        talks = [
            await stack.enter_async_context(conversation(model, session_id=f"session_{number}"))
            for number in range(10)
        ]
        sounds = [pcm_of(file) for file in ("stop-timer.wav", "reset-scores.wav")] * 5
        await asyncio.gather(*(talk.say(pcm) for talk, pcm in zip(talks, sounds, strict=True)))
        await asyncio.gather(*(talk.settle() for talk in talks))
        assert [talk.calls() for talk in talks] == [
            [("stop_timer", {})],
            [("reset_scores", {})],
        ] * 5


async def test_typed_text_takes_the_same_road(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        await talk.type("add points to the home team")
        assert talk.captions("assistant")[-1].text == "How many points?"
        await talk.type("three")
        assert talk.calls() == [ADD_THREE]
        assert talk.of(seam.TurnEnded)[0].reason == "asked"


async def test_what_destroys_is_called_after_a_yes(model: EmbeddedModel) -> None:
    declared = {"name": "wipe_board", "description": "Wipe the board"}
    wipe = read_tool(declared | {"annotations": {"destructiveHint": True}})
    async with conversation(model, tools=[*ALL_TOOLS, *registered([wipe])]) as talk:
        await talk.type("wipe the board")
        assert talk.captions("assistant")[-1].text == "Wipe the board. Are you sure?"
        assert talk.of(seam.TurnEnded)[-1].reason == "asked"
        assert talk.calls() == []
        await talk.type("yes")
        assert talk.calls() == [("wipe_board", {})]


async def test_tools_that_come_and_go_are_known_at_once(model: EmbeddedModel) -> None:
    async with conversation(model, tools=[]) as talk:
        await talk.type("stop the timer")
        scoreboard, timer = EXAMPLE_TOOLS["scoreboard.html"], EXAMPLE_TOOLS["timer.html"]
        await talk.session.update_tools(registered(timer))
        await talk.type("stop the timer")
        await talk.session.update_tools(registered(scoreboard))
        await talk.type("stop the timer")
        assert talk.calls() == [("stop_timer", {})]


async def test_push_to_talk_hears_what_was_held(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        await talk.session.activity("start")
        await talk.session.send_audio(pcm_of("add-three-points.wav"))
        await talk.session.activity("end")
        await talk.until(seam.TurnEnded)
        assert talk.calls() == [ADD_THREE]
        await talk.say(pcm_of("stop-timer.wav"))
        await talk.settle()
        assert talk.calls() == [ADD_THREE]


async def test_words_are_captioned_while_they_are_said(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        spoken = pcm_of("add-three-points.wav")
        await talk.session.activity("start")
        await talk.session.send_audio(spoken)
        while not talk.captions("user", final=False):
            await talk.session.send_audio(bytes(640))
            await asyncio.sleep(0.05)
        await talk.session.activity("end")
        await talk.until(seam.TurnEnded)
        partial, final = talk.captions("user", final=False)[-1], talk.captions("user")[0]
        assert "points" in partial.text
        assert partial.turn_id == final.turn_id == talk.of(seam.TurnEnded)[0].turn_id
        assert talk.calls() == [ADD_THREE]


async def test_a_held_button_and_a_dead_microphone_are_nothing_heard(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        await talk.session.activity("start")
        await talk.session.send_audio(bytes(32_000))
        await talk.session.activity("end")
        await talk.until(seam.TurnEnded)
        assert talk.calls() == []
        assert talk.of(seam.ModelError) == []


async def test_an_empty_push_to_talk_ends_in_a_turn(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        await talk.session.activity("start")
        await talk.session.activity("end")
        await talk.until(seam.TurnEnded)
        assert talk.of(seam.TurnEnded)[0].reason == "nothing-heard"
        assert talk.of(seam.AudioOut) == []


async def test_an_interrupted_answer_says_nothing_more(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        await talk.type("stop the timer")
        sounds = len(talk.of(seam.AudioOut))
        assert sounds > 0
        await talk.session.send_text("stop the timer")
        await talk.until(seam.TurnStarted, 2)
        await talk.session.interrupt(0)
        await talk.until(seam.TurnEnded, 2)
        cut = talk.of(seam.TurnStarted)[1].turn_id
        assert [audio for audio in talk.of(seam.AudioOut)[sounds:] if audio.turn_id == cut] == []


async def test_a_killed_engine_is_told_and_comes_back(model: EmbeddedModel) -> None:
    async with conversation(model) as talk:
        spoken = pcm_of("add-three-points.wav")
        await talk.session.send_audio(spoken[: len(spoken) // 2])
        await talk.until(seam.SpeechStarted)
        pid = model.engine.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await talk.until(seam.Resumed)
        (error,) = talk.of(seam.ModelError)
        assert error.code == "engine-lost"
        assert error.message.strip()
        assert [turn.reason for turn in talk.of(seam.TurnEnded)] == ["failed"]
        (reconnecting,) = talk.of(seam.Reconnecting)
        assert reconnecting.attempt == 1
        stale = ToolSucceeded(result_json=b"1", duration_ms=1.0)
        assert not await talk.session.send_outcome(CallId("call_of_old"), stale)
        await talk.say(spoken)
        await talk.settle()
        assert talk.calls() == [ADD_THREE]
        assert model.engine.pid != pid
