"""One session's conversation in the engine: read back, correct, do two things, confirm."""

from collections.abc import Iterator
from typing import Any

from relay.providers.embedded import wire
from relay.providers.embedded.dialogue import Dialogue
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.sounds import spelled
from relay.providers.embedded.wire import ToolCard
from tests.fakes.voice import ALL_CARDS

_TEXT = {"type": "string", "description": "What to remember"}
NOTE = ToolCard(
    "create_note",
    "Write down a note",
    {"type": "object", "properties": {"text": _TEXT}, "required": ["text"]},
)
ERASE = ToolCard(
    "erase_board",
    "Erase the board",
    {"type": "object", "properties": {"confirmed": {"type": "boolean"}}},
)
UNSURE = ("Take a note buy red paint.", "Take a note buy bread paint.")


class Talk:
    """A dialogue with typed guesses; every call is answered at once."""

    def __init__(self, *cards: ToolCard, results: list[bytes] | None = None) -> None:
        self.said: list[wire.FromEngine] = []
        self._results: Iterator[bytes] = iter(results or [])
        self._answered = 0
        self.dialogue = Dialogue(
            "session_1",
            [*cards],
            emit=self.said.append,
            say=lambda _: b"",
            sounds=spelled,
        )

    def say(self, *texts: str) -> None:
        """An utterance; several texts are guesses that are about as likely."""
        self.dialogue.heard([Guess(text, -0.2) for text in texts])
        while self._answered < len(self.calls()):
            call = [one for one in self.said if isinstance(one, wire.Call)][self._answered]
            self._answered += 1
            result = next(self._results, b"{}")
            self.dialogue.outcome(wire.Outcome("session_1", call.call_id, result, None))

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        return [(one.name, one.args) for one in self.said if isinstance(one, wire.Call)]

    def captions(self, role: str) -> list[str]:
        captions = [one for one in self.said if isinstance(one, wire.Caption)]
        return [one.text for one in captions if one.role == role]

    def answers(self) -> list[str]:
        return self.captions("assistant")

    def reasons(self) -> list[str]:
        return [one.reason for one in self.said if isinstance(one, wire.Done)]


def test_a_doubtful_text_is_read_back_and_used_after_a_yes() -> None:
    talk = Talk(NOTE)
    talk.say(*UNSURE)
    assert talk.calls() == []
    assert talk.answers() == ["I heard: buy red paint. Is that right?"]
    assert talk.reasons() == ["asked"]
    talk.say("Yes.")
    assert talk.calls() == [("create_note", {"text": "buy red paint"})]


def test_a_text_that_was_misheard_is_asked_for() -> None:
    talk = Talk(NOTE)
    talk.say(*UNSURE)
    talk.say("no")
    assert talk.answers()[-1] == "What is the text?"
    talk.say("buy bread")
    assert talk.calls() == [("create_note", {"text": "buy bread"})]


def test_a_no_may_bring_the_right_text_along() -> None:
    talk = Talk(NOTE)
    talk.say(*UNSURE)
    talk.say("no, buy bread")
    assert talk.calls() == [("create_note", {"text": "buy bread"})]


def test_something_else_drops_what_was_read_back() -> None:
    talk = Talk(NOTE, *ALL_CARDS)
    talk.say(*UNSURE)
    talk.say("stop the timer")
    talk.say("yes")
    assert talk.calls() == [("stop_timer", {})]
    assert talk.reasons() == ["asked", "completed", "declined"]


def test_guesses_that_agree_are_not_read_back() -> None:
    talk = Talk(NOTE)
    talk.say("Take a note, water the plants.", "take a note water the plants")
    assert talk.calls() == [("create_note", {"text": "water the plants"})]


def test_a_correction_repeats_the_call_with_the_other_value() -> None:
    talk = Talk(*ALL_CARDS)
    talk.say("add three points to the home team")
    talk.say("no, the away team")
    talk.say("sorry, four points")
    assert talk.captions("user")[1:] == ["no, the away team", "sorry, four points"]
    assert talk.calls() == [
        ("set_score", {"team": "home", "points": 3}),
        ("set_score", {"team": "away", "points": 3}),
        ("set_score", {"team": "away", "points": 4}),
    ]


def test_only_the_next_utterance_can_correct() -> None:
    talk = Talk(*ALL_CARDS)
    talk.say("add three points to the home team")
    talk.say("what a lovely day")
    talk.say("no, the away team")
    assert talk.calls() == [("set_score", {"team": "home", "points": 3})]


def test_two_commands_are_two_calls_in_order_and_one_answer() -> None:
    talk = Talk(*ALL_CARDS, results=[b'"Timer started"', b'"Light off"'])
    talk.say("start a two minute timer and turn off the kitchen light")
    assert talk.calls() == [
        ("start_timer", {"minutes": 2}),
        ("set_light", {"room": "kitchen", "on": False}),
    ]
    assert talk.answers() == ["Timer started. Light off."]
    assert talk.reasons() == ["completed"]


def test_the_second_command_waits_for_the_first() -> None:
    talk = Talk(*ALL_CARDS)
    talk.dialogue.heard([Guess("start a two minute timer and turn off the kitchen light")])
    assert [name for name, _ in talk.calls()] == ["start_timer"]
    assert talk.reasons() == []


def test_the_second_command_waits_for_a_yes_to_the_first() -> None:
    talk = Talk(ERASE, *ALL_CARDS, results=[b'{"say": "Really erase it?"}', b"{}", b"{}"])
    talk.say("erase the board and turn off the kitchen light")
    assert talk.calls() == [("erase_board", {})]
    assert talk.answers() == ["Really erase it?"]
    talk.say("yes")
    assert talk.calls()[1:] == [
        ("erase_board", {"confirmed": True}),
        ("set_light", {"room": "kitchen", "on": False}),
    ]


def test_a_no_to_a_question_drops_both_commands() -> None:
    talk = Talk(ERASE, *ALL_CARDS, results=[b'{"say": "Really erase it?"}'])
    talk.say("erase the board and turn off the kitchen light")
    talk.say("no")
    assert talk.calls() == [("erase_board", {})]
    assert talk.answers()[-1] == "Okay."


def test_a_correction_never_takes_a_yes_along() -> None:
    properties = {
        "app": {"type": "string", "enum": ["chess", "music"]},
        "confirmed": {"type": "boolean"},
    }
    parameters = {"type": "object", "properties": properties, "required": ["app"]}
    talk = Talk(
        ToolCard("delete_app", "Delete an app", parameters),
        results=[b'{"say": "Delete it?"}', b"{}", b'{"say": "Delete it?"}'],
    )
    talk.say("delete the app chess")
    talk.say("yes")
    talk.say("no, music")
    assert talk.calls() == [
        ("delete_app", {"app": "chess"}),
        ("delete_app", {"app": "chess", "confirmed": True}),
        ("delete_app", {"app": "music"}),
    ]
