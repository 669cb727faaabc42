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
from relay.providers.gemini import events as said
from relay.providers.gemini.dialogue import Dialogue
from relay.providers.gemini.profile import PROFILES, Profile
from relay.providers.memory import Memory, Said

PCM = bytes(4_800)
THINKING, NEW, OLD, OLDEST = PROFILES


class Wired:
    """A dialogue whose messages are kept."""

    def __init__(self, profile: Profile = NEW) -> None:
        self.sent: list[dict[str, Any]] = []
        self.memory = Memory(Limits())
        self.calls = OpenCalls()
        self.dialogue = Dialogue(
            send=lambda message: self.sent.append(orjson.loads(message)),
            profile=profile,
            calls=self.calls,
            memory=self.memory,
            turn_ids=(f"t{n}" for n in count(1)),
        )

    def on(self, *events: said.ServerEvent) -> list[seam.ModelEvent]:
        return [told for event in events for told in self.dialogue.on(event)]

    def answer_all(self) -> None:
        for call_id in tuple(vars(self.calls)["_open"]):
            asked = self.calls.take(call_id)
            assert asked is not None
            self.dialogue.answer(asked, b"{}")


def calls(*ids: str) -> said.Calls:
    return said.Calls([said.Call(call_id=one, name="f", args={}) for one in ids])


def complete(*, idle: bool | None = None) -> said.TurnComplete:
    return said.TurnComplete(reason="completed", idle=idle)


def names(events: list[seam.ModelEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_nothing_passes_between_an_interruption_and_the_end_of_its_turn() -> None:
    wired = Wired()
    events = wired.on(
        said.Sound(PCM, 24_000),
        said.Interrupted(),
        said.Sound(PCM, 24_000),
        said.AnswerText(delta="late", finished=False),
        complete(),
        said.Sound(PCM, 24_000),
    )
    assert names(events) == [
        "TurnStarted",
        "AudioOut",
        "Interrupted",
        "TurnEnded",
        "TurnStarted",
        "AudioOut",
    ]


def test_an_interruption_of_what_is_only_still_played_names_that_turn() -> None:
    wired = Wired()
    wired.on(said.Sound(PCM, 24_000), said.GenerationComplete(), complete())
    assert wired.on(said.Interrupted()) == [seam.Interrupted(turn_id="t1")]


def test_an_interruption_by_the_client_after_the_last_sound_mutes_nothing() -> None:
    wired = Wired()
    wired.on(said.Sound(PCM, 24_000), said.GenerationComplete())
    wired.dialogue.interrupt()
    assert names(wired.on(said.Sound(PCM, 24_000))) == ["TurnStarted", "AudioOut"]


def test_a_piece_of_half_a_sample_is_kept_for_the_next() -> None:
    wired = Wired()
    events = wired.on(said.Sound(b"\1", 24_000), said.Sound(b"\0\2\0", 24_000))
    assert [one.pcm for one in events if isinstance(one, seam.AudioOut)] == [b"\1\0\2\0"]


def test_sound_of_another_rate_is_resampled_up_to_its_last_sample() -> None:
    wired = Wired()
    pieces = [said.Sound(bytes(3_201), 16_000), said.Sound(bytes(3_199), 16_000)]
    events = wired.on(*pieces, said.GenerationComplete(), complete())
    heard = b"".join(one.pcm for one in events if isinstance(one, seam.AudioOut))
    assert abs(len(heard) - 9_600) <= 4
    assert isinstance(events[-1], seam.TurnEnded)


def test_a_call_that_is_announced_twice_is_asked_once() -> None:
    wired = Wired()
    assert names(wired.on(calls("a"), calls("a"))) == ["TurnStarted", "ToolCallRequested"]


def test_answers_go_together_and_without_the_cancelled_where_the_model_waits() -> None:
    wired = Wired(OLD)
    wired.on(calls("a", "b", "c"))
    first, second, _ = tuple(vars(wired.calls)["_open"])
    for call_id in (first, second):
        asked = wired.calls.take(call_id)
        assert asked is not None
        wired.dialogue.answer(asked, b"{}")
    assert wired.sent == []
    (cancelled,) = wired.on(said.CallsCancelled(["a", "c"]))
    assert isinstance(cancelled, seam.ToolCallsCancelled)
    assert len(cancelled.call_ids) == 1
    (sent,) = wired.sent
    assert [one["id"] for one in sent["toolResponse"]["functionResponses"]] == ["b"]


def test_a_cancel_of_what_is_over_is_no_news() -> None:
    wired = Wired()
    wired.on(calls("a"))
    wired.answer_all()
    assert wired.on(said.CallsCancelled(["a", "never"])) == []


@pytest.mark.parametrize(
    ("profile", "idle", "expected"),
    [
        (NEW, None, True),
        (NEW, False, True),
        (THINKING, False, False),
        (THINKING, True, True),
        (THINKING, None, True),
    ],
)
def test_the_end_of_a_turn_is_idle_unless_the_model_says_otherwise(
    profile: Profile, *, idle: bool | None, expected: bool
) -> None:
    wired = Wired(profile)
    wired.on(said.Sound(PCM, 24_000), complete(idle=idle))
    assert wired.dialogue.idle is expected


def test_what_the_person_said_is_final_with_the_turn_at_the_latest() -> None:
    wired = Wired()
    events = wired.on(
        said.UserText(delta="add ", finished=False),
        said.UserText(delta="three", finished=False),
        said.AnswerText(delta="Done.", finished=False),
        complete(),
    )
    texts = [(one.role, one.text, one.final) for one in events if hasattr(one, "role")]
    assert texts[-2:] == [("user", "add three", True), ("assistant", "Done.", True)]
    assert wired.memory.turns() == (Said("user", "add three"), Said("assistant", "Done."))


EVENTS = st.one_of(
    st.just(said.Sound(PCM, 24_000)),
    st.just(said.Sound(b"\1", 24_000)),
    st.just(said.AnswerText(delta="x", finished=False)),
    st.just(said.UserText(delta="y", finished=True)),
    st.just(said.Interrupted()),
    st.just(said.GenerationComplete()),
    st.just(complete(idle=True)),
    st.just(complete(idle=False)),
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True).map(
        lambda ids: calls(*ids)
    ),
    st.sampled_from("abcdef").map(lambda one: said.CallsCancelled([one])),
    st.sampled_from(["interrupt", "say", "answer"]),
)


@given(st.lists(EVENTS, max_size=30), st.sampled_from(PROFILES))
def test_whatever_the_order_turns_are_proper_and_answers_single(
    events: list[Any], profile: Profile
) -> None:
    wired = Wired(profile)
    told: list[seam.ModelEvent] = []
    cut: set[str] = set()
    for event in events:
        before = len(told)
        if event == "interrupt":
            cut |= {one.turn_id for one in told if isinstance(one, seam.TurnStarted)}
            wired.dialogue.interrupt()
        elif event == "say":
            wired.dialogue.say("hello")
        elif event == "answer":
            wired.answer_all()
        else:
            told += wired.on(event)
        assert not any(
            isinstance(one, seam.AudioOut) and one.turn_id in cut for one in told[before:]
        )
        cut |= {one.turn_id for one in told[before:] if isinstance(one, seam.Interrupted)}
    started = [one.turn_id for one in told if isinstance(one, seam.TurnStarted)]
    ended = [one.turn_id for one in told if isinstance(one, seam.TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(started)
    answers = [
        one["id"]
        for message in wired.sent
        for one in message.get("toolResponse", {}).get("functionResponses", [])
    ]
    assert len(set(answers)) == len(answers)
