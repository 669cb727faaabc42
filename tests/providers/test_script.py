import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from relay.protocol.refusals import Refusal, RefusalCode
from relay.providers import model as seam
from relay.providers.script import DEMO, Script, ScriptModel, read_script
from relay.tools.tool import CallId, ToolSucceeded

DONE = ToolSucceeded(result_json=b"{}", duration_ms=1.0)
END = {"end": True}
CONFIG = seam.SessionConfig(session_id="session_12345678", instructions="", tools=())


def script(*steps: dict[str, Any]) -> Script:
    return msgspec.convert({"steps": steps}, Script)


class Play:
    """A session whose events are kept as they come."""

    def __init__(self, session: seam.LiveSession) -> None:
        self.session = session
        self.events: list[seam.ModelEvent] = []
        self._news = asyncio.Event()

    async def follow(self) -> None:
        async for event in self.session.events():
            self.events.append(event)
            self._news.set()

    async def until(self, kind: type, times: int = 1) -> Any:
        while True:
            found = [event for event in self.events if isinstance(event, kind)]
            if len(found) >= times:
                return found[-1]
            self._news.clear()
            await self._news.wait()

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


@asynccontextmanager
async def playing(played: Script) -> AsyncIterator[Play]:
    play = Play(await ScriptModel(lambda: played).open(CONFIG))
    task = asyncio.create_task(play.follow())
    try:
        yield play
    finally:
        await play.session.close()
        await task


async def test_the_model_declares_its_rates_and_is_ready_at_once() -> None:
    model = ScriptModel(lambda: DEMO)
    await model.start()
    assert model.ready
    assert model.input_rate_hz == model.output_rate_hz == 24_000
    await model.stop()


async def test_a_turn_is_played_in_order() -> None:
    steps = ({"user": "hello"}, {"assistant": "hi"}, {"tone": {"ms": 10}}, END)
    async with playing(script(*steps)) as play:
        await play.until(seam.TurnEnded)
        assert play.kinds == [
            "Ready",
            "TurnStarted",
            "TranscriptDelta",
            "TranscriptDelta",
            "AudioOut",
            "TurnEnded",
        ]
        assert {event.turn_id for event in play.events[1:]} == {play.events[1].turn_id}


async def test_a_tone_is_sound_of_its_length() -> None:
    async with playing(script({"tone": {"ms": 100, "hz": 1_000}}, END)) as play:
        sound = await play.until(seam.AudioOut)
        assert len(sound.pcm) == 24_000 // 10 * 2
        samples = memoryview(sound.pcm).cast("h")
        assert 8_000 < max(samples) < 32_767
        crossings = sum(a < 0 <= b for a, b in pairwise(samples))
        assert crossings in {99, 100}


async def test_a_script_hears_words_or_a_length_of_sound_and_nothing_before() -> None:
    heard = {"hear": {"text": "please"}}
    async with playing(script(heard, {"assistant": "yes"}, END)) as play:
        await play.session.send_text("now")
        await play.session.send_audio(bytes(48_000))
        assert play.kinds in ([], ["Ready"])
        await play.session.send_text("if you please")
        assert (await play.until(seam.TranscriptDelta)).text == "yes"


async def test_sound_is_counted_from_the_moment_it_is_waited_for() -> None:
    steps = ({"hear": {"audioMs": 100}}, END, {"hear": {"audioMs": 100}}, END)
    async with playing(script(*steps)) as play:
        await play.until(seam.Ready)
        await play.session.send_audio(bytes(4_798))
        await play.session.send_audio(bytes(2))
        await play.until(seam.TurnEnded)
        await play.session.send_audio(bytes(4_800))
        await play.until(seam.TurnEnded, times=2)


async def test_a_call_is_awaited_unless_the_script_says_otherwise() -> None:
    steps = ({"call": {"name": "a", "wait": False}}, {"call": {"name": "b", "args": {"x": 1}}}, END)
    async with playing(script(*steps)) as play:
        second = await play.until(seam.ToolCallRequested, times=2)
        assert (second.name, second.args) == ("b", {"x": 1})
        assert play.events[2].args == {}
        assert "TurnEnded" not in play.kinds
        assert await play.session.send_outcome(second.call_id, DONE)
        await play.until(seam.TurnEnded)


async def test_arguments_may_be_raw_text_right_or_wrong() -> None:
    calls = [
        {"call": {"name": "t", "argsText": t, "wait": False}} for t in ('{"a":1}', "{nonsense")
    ]
    async with playing(script(*calls, END)) as play:
        await play.until(seam.TurnEnded)
        right, wrong = (e for e in play.events if isinstance(e, seam.ToolCallRequested))
        assert (right.args, right.args_error) == ({"a": 1}, None)
        assert wrong.args_error


async def test_an_interrupted_turn_makes_no_more_sound_and_the_next_one_does() -> None:
    wait = {"call": {"name": "t"}}
    tone = {"tone": {"ms": 10}}
    async with playing(script(wait, tone, END, tone, END)) as play:
        call = await play.until(seam.ToolCallRequested)
        await play.session.interrupt(None)
        await play.session.send_outcome(call.call_id, DONE)
        await play.until(seam.TurnEnded, times=2)
        turns = [event.turn_id for event in play.events if isinstance(event, seam.TurnStarted)]
        sounds = [event.turn_id for event in play.events if isinstance(event, seam.AudioOut)]
        assert sounds == [turns[1]]


async def test_a_script_that_repeats_starts_over_and_listens_again() -> None:
    steps = ({"hear": {"text": ""}}, {"assistant": "yes"}, END, {"repeat": True})
    async with playing(script(*steps)) as play:
        for times in (1, 2, 3):
            await play.session.send_text("again")
            await play.until(seam.TurnEnded, times)
        turns = [event.turn_id for event in play.events if isinstance(event, seam.TurnStarted)]
        assert len(set(turns)) == 3


async def test_too_many_unheard_turns_lose_the_oldest() -> None:
    async with playing(script({"hear": {"text": "turn 0."}}, END)) as play:
        for number in range(65):
            await play.session.send_text(f"turn {number}.")
        for _ in range(5):
            await asyncio.sleep(0)
        assert "TurnEnded" not in play.kinds


async def test_closing_ends_whatever_the_script_waits_for() -> None:
    for step in ({"hear": {"text": "x"}}, {"call": {"name": "t"}}, {"user": "hi"}):
        async with playing(script(step)) as play:
            await play.until(seam.Ready)
            await play.session.close()
        assert not await play.session.send_outcome(CallId("late"), DONE)


async def test_a_script_takes_every_command_of_a_live_session() -> None:
    async with playing(script({"hear": {"text": "x"}})) as play:
        await play.session.activity("start")
        assert await play.session.update_tools(()) is seam.ToolUpdate.APPLIED


async def test_the_demonstration_calls_a_tool_of_an_example_and_answers() -> None:
    async with playing(DEMO) as play:
        await play.session.send_text("anything")
        call = await play.until(seam.ToolCallRequested)
        assert (call.name, call.args) == ("set_score", {"team": "home", "points": 3})
        await play.session.send_outcome(call.call_id, DONE)
        await play.until(seam.TurnEnded)


def test_a_file_is_read_as_the_script_that_it_is(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(msgspec.json.encode(DEMO))
    assert read_script(file) == DEMO


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "can't be read"),
        ("{", "can't be read"),
        ('{"steps":[]}', "can't be read"),
        ('{"steps":[{"sing":true}]}', "sing"),
        ('{"steps":[{"hear":{"audioMs":0}}]}', "audioMs"),
        ('{"steps":[{"tone":{"ms":1e9}}]}', "ms"),
        ('{"steps":[{}]}', "step 1"),
        ('{"steps":[{"end":true},{"user":"a","assistant":"b"}]}', "step 2"),
        ('{"steps":[{"hear":{}}]}', "waits for"),
        ('{"steps":[{"tone":{"ms":1}},{"end":true},{"repeat":true}]}', "repeats"),
        ('{"steps":[{"user":"\udcff"}]}', "can't be read"),
        ('{"steps":[{"call":{"name":"t","args":{"a":' + "[" * 100_000, "can't be read"),
        (" " * 1_048_577, "1 MiB"),
    ],
)
async def test_a_bad_file_is_refused_in_one_sentence(
    content: str, sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "script.json"
    file.write_text(content, errors="surrogateescape")
    with pytest.raises(Refusal) as caught:
        await ScriptModel(lambda: read_script(file)).open(CONFIG)
    assert caught.value.code is RefusalCode.PROVIDER_UNAVAILABLE
    assert sentence in caught.value.why
    assert "\n" not in caught.value.why


async def test_a_missing_file_is_refused_and_its_folder_not_told(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as caught:
        await ScriptModel(lambda: read_script(tmp_path / "gone.json")).open(CONFIG)
    assert "gone.json" in caught.value.why
    assert str(tmp_path) not in caught.value.why


async def test_the_file_is_read_anew_for_every_session(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    model = ScriptModel(lambda: read_script(file))
    for text in ("one", "two"):
        file.write_text(json.dumps({"steps": [{"assistant": text}, END]}))
        play = Play(await model.open(CONFIG))
        task = asyncio.create_task(play.follow())
        assert (await play.until(seam.TranscriptDelta)).text == text
        await play.session.close()
        await task
