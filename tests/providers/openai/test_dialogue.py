"""The state of one connection, event by event, in orders that no decent server chooses."""

from itertools import count
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.protocol.limits import Limits
from relay.providers import model as seam
from relay.providers.calls import OpenCalls
from relay.providers.memory import Memory, Said
from relay.providers.openai import events as said
from relay.providers.openai.dialogue import Dialogue

PCM = bytes(4_800)


class Wired:
    """A dialogue whose messages are kept."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.memory = Memory(Limits())
        self.calls = OpenCalls()
        self.dialogue = Dialogue(
            send=lambda message: self.sent.append(orjson.loads(message)),
            calls=self.calls,
            memory=self.memory,
            turn_ids=(f"t{n}" for n in count(1)),
            key=None,
        )

    def on(self, *events: said.ServerEvent) -> list[seam.ModelEvent]:
        return [told for event in events for told in self.dialogue.on(event)]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.sent if one["type"] == kind]


@pytest.fixture
def wired() -> Wired:
    return Wired()


def names(events: list[seam.ModelEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def created(response_id: str, request: str | None = None) -> said.ResponseCreated:
    return said.ResponseCreated(response_id=response_id, request=request)


def sound(response_id: str, item_id: str = "i1") -> said.Sound:
    return said.Sound(response_id=response_id, item_id=item_id, content_index=0, pcm=PCM)


def done(response_id: str, status: str = "completed", **more: Any) -> said.ResponseDone:
    fields = {
        "reason": "",
        "error_code": None,
        "error_message": "",
        "calls": [],
        "input_tokens": 0,
        "output_tokens": 0,
    }
    return said.ResponseDone(response_id=response_id, status=status, **(fields | more))


def call(response_id: str, call_id: str = "c1") -> said.CallItem:
    function = said.FunctionCall(call_id=call_id, name="f", arguments="{}")
    return said.CallItem(response_id=response_id, call=function)


def test_sound_of_a_cancelled_response_does_not_slip_into_the_next_turn(wired: Wired) -> None:
    wired.on(created("r1"), sound("r1"))
    wired.dialogue.interrupt(0.0)
    events = wired.on(created("r2"), sound("r1"), sound("r2", "i2"))
    assert [type(event).__name__ for event in events] == ["TurnStarted", "AudioOut"]


def test_text_of_a_cancelled_response_does_not_slip_into_the_next_turn(wired: Wired) -> None:
    wired.on(created("r1"), sound("r1"))
    wired.dialogue.interrupt(0.0)
    late = said.AnswerText(response_id="r1", item_id="i1", delta="old", final=True)
    assert wired.on(created("r2"), late) == [seam.TurnStarted(turn_id="t2")]


def test_a_response_is_cancelled_once(wired: Wired) -> None:
    wired.on(created("r1"), sound("r1"))
    wired.dialogue.interrupt(10.0)
    wired.dialogue.interrupt(10.0)
    assert len(wired.of("response.cancel")) == 1
    assert len(wired.of("conversation.item.truncate")) == 1


def test_a_turn_is_open_until_nothing_is_left_to_say(wired: Wired) -> None:
    events = wired.on(created("r1"), call("r1"), done("r1"))
    assert [type(event).__name__ for event in events] == ["TurnStarted", "ToolCallRequested"]
    (asked,) = [event for event in events if isinstance(event, seam.ToolCallRequested)]
    open_call = wired.calls.take(asked.call_id)
    assert open_call is not None
    wired.dialogue.answer(open_call, "{}")
    (request,) = wired.of("response.create")
    events = wired.on(created("r2", request["event_id"]), sound("r2"), done("r2"))
    assert [type(event).__name__ for event in events] == ["AudioOut", "TurnEnded"]


def test_a_response_that_the_server_cancels_by_itself_is_an_interruption(wired: Wired) -> None:
    events = wired.on(created("r1"), sound("r1"), done("r1", "cancelled"))
    assert events[-2:] == [
        seam.Interrupted(turn_id="t1"),
        seam.TurnEnded(turn_id="t1", reason="interrupted"),
    ]


def test_a_request_that_fails_for_good_ends_the_turn(wired: Wired) -> None:
    wired.on(created("r1"), call("r1"), done("r1"))
    open_call = next(iter(vars(wired.calls)["_open"].values()))
    wired.dialogue.answer(open_call, "{}")
    (request,) = wired.of("response.create")
    failed = said.Failed(
        code="server_error", message="Oops.", param="", event_id=request["event_id"]
    )
    assert wired.on(failed) == [
        seam.TurnEnded(turn_id="t1", reason="failed"),
        seam.ModelError(code="server_error", message="Oops."),
    ]


def test_a_response_that_begins_while_the_person_speaks_is_cancelled(wired: Wired) -> None:
    wired.dialogue.say("hello")
    (request,) = wired.of("response.create")
    wired.on(said.SpeechStarted())
    assert wired.on(created("r1", request["event_id"])) == []
    assert [one["response_id"] for one in wired.of("response.cancel")] == ["r1"]


def test_what_a_tool_answered_is_not_spoken_of_while_the_person_speaks(wired: Wired) -> None:
    wired.on(created("r1"), call("r1"), done("r1"), said.SpeechStarted())
    open_call = next(iter(vars(wired.calls)["_open"].values()))
    wired.dialogue.answer(open_call, "{}")
    assert wired.of("response.create") == []
    wired.on(said.SpeechStopped())
    assert len(wired.of("response.create")) == 1


def test_a_typed_turn_is_answered_although_there_is_noise(wired: Wired) -> None:
    wired.on(said.SpeechStarted())
    wired.dialogue.say("hello")
    (request,) = wired.of("response.create")
    assert names(wired.on(created("r1", request["event_id"]))) == ["TurnStarted"]


def test_a_cancel_is_not_kept_for_another_response_than_it_was_meant_for(wired: Wired) -> None:
    wired.dialogue.say("hello")
    (request,) = wired.of("response.create")
    wired.dialogue.interrupt(0.0)
    busy = "conversation_already_has_active_response"
    wired.on(said.Failed(code=busy, message="", param="", event_id=request["event_id"]))
    wired.on(created("r1"), done("r1"))
    (_, again) = wired.of("response.create")
    assert names(wired.on(created("r2", again["event_id"]), sound("r2"))) == ["AudioOut"]
    assert wired.of("response.cancel") == []


def test_a_cancel_that_came_too_late_is_no_error(wired: Wired) -> None:
    wired.on(created("r1"), sound("r1"))
    wired.dialogue.interrupt(0.0)
    failed = said.Failed(
        code="response_cancel_not_active", message="No.", param="", event_id="cut-r1"
    )
    assert wired.on(failed) == []
    wired.dialogue.say("hello")
    assert len(wired.of("response.create")) == 1


def test_both_sides_are_remembered(wired: Wired) -> None:
    wired.on(said.UserText(item_id="u1", delta="add", final=False))
    wired.on(said.UserText(item_id="u1", delta="add three", final=True), created("r1"))
    wired.on(said.AnswerText(response_id="r1", item_id="i1", delta="Done.", final=True))
    wired.on(done("r1"))
    assert wired.memory.turns() == (Said("user", "add three"), Said("assistant", "Done."))


def test_captions_that_never_end_are_bounded(wired: Wired) -> None:
    for number in range(100):
        wired.on(said.UserText(item_id=f"u{number}", delta="hm", final=False))
    assert len(vars(wired.dialogue)["_user_texts"]) <= 16


IDS = st.sampled_from(["r1", "r2", "r3"])
EVENTS = st.one_of(
    IDS.map(created),
    IDS.map(sound),
    IDS.map(call),
    st.builds(done, IDS, st.sampled_from(["completed", "cancelled", "failed", "incomplete"])),
    st.just(said.SpeechStarted()),
    st.just(said.SpeechStopped()),
    st.just("interrupt"),
    st.just("say"),
    st.just("answer"),
)


@given(st.lists(EVENTS, max_size=30))
def test_whatever_the_order_turns_are_proper_and_requests_single(events: list[Any]) -> None:
    wired = Wired()
    told: list[seam.ModelEvent] = []
    for event in events:
        if event == "interrupt":
            wired.dialogue.interrupt(5.0)
        elif event == "say":
            wired.dialogue.say("hello")
        elif event == "answer":
            for call_id in tuple(vars(wired.calls)["_open"]):
                open_call = wired.calls.take(call_id)
                assert open_call is not None
                wired.dialogue.answer(open_call, "{}")
        else:
            told += wired.on(event)
    started = [one.turn_id for one in told if isinstance(one, seam.TurnStarted)]
    ended = [one.turn_id for one in told if isinstance(one, seam.TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(started)
    for turn_id in ended:
        end = told.index(
            next(e for e in told if isinstance(e, seam.TurnEnded) and e.turn_id == turn_id)
        )
        assert not any(
            isinstance(one, seam.AudioOut) and one.turn_id == turn_id for one in told[end:]
        )
    asked = [one for one in told if isinstance(one, seam.ToolCallRequested)]
    outputs = [one for one in wired.of("conversation.item.create") if "call_id" in one["item"]]
    assert len(outputs) <= len(asked)
