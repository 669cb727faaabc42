"""Commands that belong together: two in one breath, a correction, an author's own phrase."""

from typing import Any

import pytest

from relay.providers.embedded.decisions import Act
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.toolbox import Toolbox
from relay.providers.embedded.vocabulary import vocabulary
from relay.providers.embedded.wire import ToolCard
from tests.fakes.voice import ALL_CARDS

TOOLBOX = Toolbox(ALL_CARDS)


def score(team: str, points: float) -> tuple[str, dict[str, Any]]:
    return "set_score", {"team": team, "points": points}


def light(room: str, *, on: bool) -> tuple[str, dict[str, Any]]:
    return "set_light", {"room": room, "on": on}


def timer(**args: object) -> tuple[str, dict[str, Any]]:
    return "start_timer", args


def calls(text: str, box: Toolbox = TOOLBOX) -> list[tuple[str, dict[str, Any]]]:
    """Everything that is done, in order."""
    decision = box.decide([Guess(text)])
    acts = (decision, *decision.then) if isinstance(decision, Act) else ()
    return [(act.name, act.args) for act in acts]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "start a two minute timer and turn off the kitchen light",
            [timer(minutes=2), light("kitchen", on=False)],
        ),
        (
            "reset the scores and then start a five minute timer please",
            [("reset_scores", {}), timer(minutes=5)],
        ),
        (
            "turn off the kitchen light. Stop the timer.",
            [light("kitchen", on=False), ("stop_timer", {})],
        ),
        (
            "turn on the kitchen light and the bedroom light",
            [light("kitchen", on=True), light("bedroom", on=True)],
        ),
        (
            "add three points to the home team and two to the away team",
            [score("home", 3), score("away", 2)],
        ),
        (
            "start a five minute timer called pasta and turn off the kitchen light",
            [timer(minutes=5, label="pasta"), light("kitchen", on=False)],
        ),
        # one command that has an "and" in it, or was said twice
        ("set a timer for two minutes and thirty seconds", [timer(minutes=2, seconds=30)]),
        ("stop the timer and stop the timer", [("stop_timer", {})]),
        # a text that is needed keeps what may belong to it
        ("Hash Hi and stop the timer", [("hash", {"input": "hi and stop the timer"})]),
        # half a command is none
        ("turn on the kitchen light and tell me a joke", []),
        ("I like the garden and stop at the store", []),
    ],
)  # fmt: skip
def test_two_commands_in_one_breath(text: str, wanted: list[tuple[str, dict[str, Any]]]) -> None:
    assert calls(text) == wanted


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("no, the away team", score("away", 3)),
        ("sorry, I meant away", score("away", 3)),
        ("no, four points", score("home", 4)),
        ("actually five", score("home", 5)),
        ("wait, two points to the away team", score("away", 2)),
        ("no, stop the timer", ("stop_timer", {})),
        ("no", None),
        ("no thanks", None),
        ("no, that is wrong", None),
        ("no, I told you three times", None),
        ("no, the home team", None),
        ("the away team", None),
        ("sorry", None),
    ],
)
def test_a_correction_changes_the_last_call(
    text: str, call: tuple[str, dict[str, Any]] | None
) -> None:
    last = TOOLBOX.decide([Guess("add three points to the home team")])
    assert isinstance(last, Act)
    decision = TOOLBOX.corrected([Guess(text)], last)
    assert (isinstance(decision, Act) and (decision.name, decision.args)) == (call or False)


GOOD_NIGHT = 'Switch everything off. Say: "good night" or "lights out everybody".'


def blackout(description: str) -> Toolbox:
    return Toolbox([ToolCard("blackout", description, {"type": "object", "properties": {}})])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("good night", [("blackout", {})]),
        ("okay lights out everybody please", [("blackout", {})]),
        ("did you have a good night", []),
        ("do not say good night", []),
        ("good night and good luck everybody out there", []),
    ],
)
def test_phrases_of_the_author_are_commands(
    text: str, wanted: list[tuple[str, dict[str, Any]]]
) -> None:
    assert calls(text, blackout(GOOD_NIGHT)) == wanted


def test_quotes_that_are_no_examples_are_no_commands() -> None:
    assert calls("off we go", blackout('Say: "off we go"')) == [("blackout", {})]
    assert calls("off we go", blackout('Be dark, not as in "off we go"')) == []


def test_phrases_of_the_author_are_told_to_the_recogniser() -> None:
    card = ToolCard("blackout", GOOD_NIGHT, {"type": "object", "properties": {}})
    assert vocabulary([card]) == "Switch everything off. good night, lights out everybody."
