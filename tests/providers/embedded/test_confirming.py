"""What destroys something is called after a yes to its own question, and after nothing else."""

import msgspec
import pytest

from relay.providers.embedded import wire
from relay.providers.embedded.answers import are_you_sure
from relay.providers.embedded.began import begin
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.session import cards
from relay.providers.embedded.wire import ToolCard
from relay.tools.schema import read_tool
from tests.fakes.voice import ALL_CARDS, registered
from tests.providers.embedded.test_dialogue import Talk

_TITLE = {"type": "string", "enum": ["Plans", "Shopping"], "description": "its title"}
_ONE_TITLE = {"type": "object", "properties": {"title": _TITLE}, "required": ["title"]}
_ONE_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DELETE = ToolCard("delete_page", "Delete a page for good", _ONE_TITLE, destructive=True)
WIPE = ToolCard("wipe_board", "Wipe the board", {"type": "object"}, destructive=True)
FORGET = ToolCard("forget_note", "Forget a note", _ONE_TEXT, destructive=True)
QUESTION = "Delete the page Plans. Are you sure?"
DELETED = ("delete_page", {"title": "Plans"})


def asked(*cards: ToolCard) -> Talk:
    """A talk in which the page is about to be deleted."""
    talk = Talk(DELETE, *cards)
    talk.say("delete the page plans")
    assert talk.calls() == []
    assert talk.answers() == [QUESTION]
    assert talk.reasons() == ["asked"]
    return talk


@pytest.mark.parametrize("yes", ["Yes.", "yes, please", "Okay, do it.", "yes delete it"])
def test_a_yes_makes_the_call(yes: str) -> None:
    talk = asked()
    talk.say(yes)
    assert talk.calls() == [DELETED]
    assert talk.captions("user")[-1] == yes


@pytest.mark.parametrize("no", ["No.", "never mind", "no, don't do it", "Cancel.", "stop"])
def test_a_no_drops_it(no: str) -> None:
    talk = asked()
    talk.say(no)
    talk.say("yes")
    assert talk.calls() == []


def test_another_command_drops_it() -> None:
    talk = asked(*ALL_CARDS)
    talk.say("stop the timer")
    talk.say("yes")
    assert talk.calls() == [("stop_timer", {})]


@pytest.mark.parametrize("said", ["I am not sure", "what a lovely day", "go ahead"])
def test_what_is_no_yes_drops_it(said: str) -> None:
    talk = asked()
    talk.say(said)
    talk.say("yes")
    assert talk.calls() == []


@pytest.mark.parametrize("guesses", [("Yes.", "No."), ("Guess.", "Yes.")])
def test_a_doubtful_yes_is_asked_for_again(guesses: tuple[str, ...]) -> None:
    talk = asked()
    talk.say(*guesses)
    assert talk.answers() == [QUESTION, QUESTION]
    assert talk.calls() == []
    talk.say("yes")
    assert talk.calls() == [DELETED]


def test_a_yes_that_began_before_the_question_is_none() -> None:
    talk = Talk(DELETE)
    early = begin(talk.dialogue.answered)
    talk.say("delete the page plans")
    talk.dialogue.heard([Guess("yes")], early)
    assert talk.calls() == []
    assert talk.answers() == [QUESTION, QUESTION]
    talk.dialogue.heard([Guess("yes")], begin(talk.dialogue.answered))
    assert talk.calls() == [DELETED]


def test_noise_leaves_the_question_open() -> None:
    talk = asked()
    talk.dialogue.heard([])
    talk.dialogue.overheard(begin(0))
    talk.say("yes")
    assert talk.calls() == [DELETED]


def test_a_correction_is_asked_about_too() -> None:
    talk = asked()
    talk.say("no, shopping")
    assert talk.calls() == []
    assert talk.answers()[-1] == "Delete the page Shopping. Are you sure?"
    talk.say("yes")
    assert talk.calls() == [("delete_page", {"title": "Shopping"})]
    talk.say("sorry, plans")
    assert talk.answers()[-1] == QUESTION
    assert len(talk.calls()) == 1


def test_a_missing_value_is_asked_for_first() -> None:
    talk = Talk(DELETE)
    talk.say("delete a page")
    talk.say("plans")
    assert talk.answers()[-1] == QUESTION
    assert talk.calls() == []


def test_a_doubtful_text_is_read_back_in_the_question() -> None:
    talk = Talk(FORGET)
    talk.say("forget the note buy red paint", "forget the note buy bread paint")
    assert talk.answers() == ["Forget the note buy red paint. Are you sure?"]
    talk.say("yes")
    assert talk.calls() == [("forget_note", {"text": "buy red paint"})]


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("wipe the board and stop the timer", []),
        ("stop the timer and wipe the board", [("stop_timer", {})]),
    ],
)
def test_of_two_commands_each_that_destroys_is_asked_about(
    said: str, first: list[tuple[str, object]]
) -> None:
    talk = Talk(WIPE, *ALL_CARDS)
    talk.say(said)
    assert talk.calls() == first
    assert talk.answers()[-1].endswith("Wipe the board. Are you sure?")
    talk.say("yes")
    assert sorted(name for name, _ in talk.calls()) == ["stop_timer", "wipe_board"]
    assert len(talk.calls()) == 2


def test_a_question_that_was_cut_off_takes_no_yes() -> None:
    talk = Talk(WIPE, *ALL_CARDS)
    talk.dialogue.heard([Guess("stop the timer and wipe the board")])
    (call,) = [one for one in talk.said if isinstance(one, wire.Call)]
    talk.dialogue.interrupt()
    talk.dialogue.outcome(wire.Outcome("session_1", call.call_id, b"{}"))
    assert talk.answers() == []
    talk.dialogue.heard([Guess("yes")])
    assert [name for name, _ in talk.calls()] == ["stop_timer"]


def test_a_yes_to_a_tool_that_has_changed_meanwhile_is_none() -> None:
    talk = asked(WIPE)
    talk.dialogue.use([WIPE, msgspec.structs.replace(DELETE, description="Delete all pages")])
    talk.say("yes")
    assert talk.calls() == []


def test_a_yes_outlives_other_tools() -> None:
    talk = asked(WIPE)
    talk.dialogue.use([DELETE])
    talk.say("yes")
    assert talk.calls() == [DELETED]


@pytest.mark.parametrize(
    ("declared", "question"),
    [
        (("Erase the board", "erase_board", {}), "Erase the board. Are you sure?"),
        (("Removes it", "delete_all_notes", {}), "Delete all notes. Are you sure?"),
        (("Empty all", "empty", {"really": True}), "Empty, really yes. Are you sure?"),
        (
            ("Remove points", "remove_points", {"team": "home", "points": 3}),
            "Remove the points home, points 3. Are you sure?",
        ),
        (("Drop", "drop", {"text": "<b>x</b>"}), "Drop b x /b. Are you sure?"),
    ],
)
def test_the_question_says_what_will_be_done(
    declared: tuple[str, str, dict[str, object]], question: str
) -> None:
    assert are_you_sure(*declared) == question


@pytest.mark.parametrize(
    ("annotations", "destroys"),
    [
        ({"destructiveHint": True}, True),
        ({"destructiveHint": True, "readOnlyHint": False, "title": 3}, True),
        ({"destructiveHint": False}, False),
        ({"destructiveHint": "true"}, False),
        ({"destructiveHint": 1}, False),
        ({}, False),
        (None, False),
        ([{"destructiveHint": True}], False),
        ("destructiveHint", False),
    ],
)
def test_the_hint_of_a_declaration_reaches_the_voice(
    annotations: object, *, destroys: bool
) -> None:
    spec = read_tool({"name": "wipe", "description": "Wipe it", "annotations": annotations})
    assert cards(registered([spec]))[0].destructive is destroys
