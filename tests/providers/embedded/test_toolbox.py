"""Typed text through the parser, with the examples' tools and the relay's own declared."""

from typing import Any

import pytest

from relay.providers.embedded.decisions import Act, Ask, Check, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.toolbox import Toolbox
from relay.providers.embedded.wire import ToolCard
from tests.fakes.voice import ALL_CARDS, AUDIO, EXAMPLE_TOOLS

TOOLBOX = Toolbox(ALL_CARDS)


def told(text: str, asked: Ask | None = None) -> tuple[str, dict[str, Any]] | str | None:
    """The call, the name of the missing value, or None."""
    match TOOLBOX.decide([Guess(text)], asked):
        case Act(name=name, args=args):
            return name, args
        case Ask(slot=slot):
            return slot.name
        case Check(slot=slot):
            return f"{slot.name}?"
        case Decline():
            return None


def score(team: str, points: float) -> tuple[str, dict[str, Any]]:
    return "set_score", {"team": team, "points": points}


def light(room: str, *, on: bool) -> tuple[str, dict[str, Any]]:
    return "set_light", {"room": room, "on": on}


def bright(room: str, percent: float) -> tuple[str, dict[str, Any]]:
    return "set_brightness", {"room": room, "percent": percent}


def timer(**args: object) -> tuple[str, dict[str, Any]]:
    return "start_timer", args


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("add three points to the home team", score("home", 3)),
        ("Give the away team two points.", score("away", 2)),
        ("three points for home", score("home", 3)),
        ("the home team scored five points", score("home", 5)),
        ("add a point to the away team", score("away", 1)),
        ("please add 12 points to away, thanks", score("away", 12)),
        ("take two points from the home team", score("home", -2)),
        ("reset the scores", ("reset_scores", {})),
        ("reset the scoreboard", ("reset_scores", {})),
        ("start a new game", ("reset_scores", {})),
        ("start a five minute timer", timer(minutes=5)),
        ("set a timer for ten minutes", timer(minutes=10)),
        ("set a timer for two minutes and thirty seconds", timer(minutes=2, seconds=30)),
        ("start a countdown of ninety seconds", timer(seconds=90)),
        ("start a timer for five minutes called pasta", timer(minutes=5, label="pasta")),
        ("start a ten minute timer for the eggs", timer(minutes=10, label="eggs")),
        ("set a timer for an hour", timer(minutes=60)),
        ("set a timer for an hour and five minutes", timer(minutes=65)),
        ("set a timer for one and a half minutes", timer(minutes=1.5)),
        ("set a timer for a minute and a half", timer(minutes=1.5)),
        ("stop the timer", ("stop_timer", {})),
        ("cancel the countdown", ("stop_timer", {})),
        ("turn on the kitchen light", light("kitchen", on=True)),
        ("turn the bedroom light off", light("bedroom", on=False)),
        ("switch off the living room lights", light("living room", on=False)),
        ("kitchen lights on please", light("kitchen", on=True)),
        ("could you turn on the light in the living room", light("living room", on=True)),
        ("set the kitchen to fifty percent", bright("kitchen", 50)),
        ("dim the bedroom light to 20%", bright("bedroom", 20)),
        ("set the living room brightness to 75 percent", bright("living room", 75)),
        ("list the extensions", ("list_extensions", {})),
        ("what extensions are there", ("list_extensions", {})),
        ("launch scoreboard", ("launch_mini_app", {"name": "scoreboard"})),
        ("open the timer app", ("launch_mini_app", {"name": "timer"})),
        ("please launch the app lights", ("launch_mini_app", {"name": "lights"})),
        ("close the app scoreboard", ("close_mini_app", {"name": "scoreboard"})),
        ("delete the app shopping list", ("delete_mini_app", {"name": "shopping list"})),
        ("list the mini apps", ("list_mini_apps", {"kind": "app"})),
        ("open the timer", ("launch_mini_app", {"name": "timer"})),
        ("close the timer", ("close_mini_app", {"name": "timer"})),
        ("hash hello world", ("hash", {"input": "hello world"})),
    ],
)
def test_a_command_becomes_its_call(text: str, call: tuple[str, dict[str, Any]]) -> None:
    assert told(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what a lovely day",
        "tell me a joke",
        "the home team is winning",
        "I went home at three",
        "turn on the tv",
        "reset my password",
        "I need to stop at the store",
        "don't turn on the kitchen light",
        "is the kitchen light on",
        "what time is it",
        "thank you",
        "my brother lives in a house with a big kitchen",
        "we had three points yesterday",
        "did you see the light of the moon",
        "can you hear me",
        "the timer on the oven is broken",
        "I like your new game",
        "let's call mom",
        "call me back in five minutes",
        "home is where the heart is",
        "you",
        "stop",
    ],
)
def test_what_is_no_command_is_declined(text: str) -> None:
    assert told(text) is None


@pytest.mark.parametrize(
    ("text", "missing", "answer", "call"),
    [
        ("add points to the home team", "points", "three", score("home", 3)),
        ("add three points", "team", "the away team please", score("away", 3)),
        ("lights off", "room", "bedroom", light("bedroom", on=False)),
        ("turn on the light", "room", "in the kitchen", light("kitchen", on=True)),
        ("dim the bedroom light", "percent", "twenty percent", bright("bedroom", 20)),
    ],
)
def test_a_missing_value_is_asked_for_and_completes_the_call(
    text: str, missing: str, answer: str, call: tuple[str, dict[str, Any]]
) -> None:
    asked = TOOLBOX.decide([Guess(text)])
    assert isinstance(asked, Ask)
    assert asked.slot.name == missing
    assert told(answer, asked) == call


def test_a_question_can_be_dropped_or_overtaken() -> None:
    asked = TOOLBOX.decide([Guess("add points to the home team")])
    assert isinstance(asked, Ask)
    assert TOOLBOX.decide([Guess("never mind")], asked) == Decline("never mind", dropped=True)
    assert told("stop the timer", asked) == ("stop_timer", {})
    assert told("what a lovely day", asked) is None


def test_the_parser_judges_the_guesses() -> None:
    guesses = [
        Guess("Add three points to the phone team.", -0.20),
        Guess("Add free points to the hum team.", -0.25),
        Guess("Add three points to the home team.", -0.30),
    ]
    decision = TOOLBOX.decide(guesses)
    assert isinstance(decision, Act)
    assert (decision.name, decision.args) == score("home", 3)


def test_an_unlikely_guess_is_not_acted_on() -> None:
    assert TOOLBOX.decide([Guess("stop the timer", -1.5)]) == Decline("stop the timer")


def test_no_tools_means_no_call() -> None:
    assert Toolbox([]).decide([Guess("stop the timer")]) == Decline("stop the timer")


def test_the_tools_here_are_the_ones_of_the_examples() -> None:
    for name, specs in EXAMPLE_TOOLS.items():
        page = (AUDIO.parent / "mini-apps" / name).read_text("utf-8")
        assert page.count(".registerTool(") == len(specs)
        for spec in specs:
            assert f'name: "{spec.name}"' in page
            assert f'description: "{spec.description}"' in page


def decide(text: str, properties: dict[str, Any], name: str = "set_it") -> dict[str, Any] | None:
    """The arguments of a tool of one's own."""
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    box = Toolbox([ToolCard(name, f"{name.replace('_', ' ')} for the house", parameters)])
    decision = box.decide([Guess(text)])
    return decision.args if isinstance(decision, Act) else None


LOCKED = {"locked": {"type": "boolean", "description": "true locks it"}}
DRINK = {"milk": {"type": "string", "enum": ["skim milk", "whole milk"]}}
CLOCK = {"hour": {"type": "integer", "maximum": 23}, "minute": {"type": "integer", "maximum": 59}}
DOZENS = {"eggs": {"type": "integer", "enum": [6, 12]}}
PIZZAS = {"count": {"type": "integer", "description": "How many pizzas"}}
SECONDS = {"duration": {"type": "integer", "description": "Duration in seconds"}}
DEGREES = {"degrees": {"type": "number", "minimum": 5, "maximum": 30}}
QUIET = {"urgent": {"type": "boolean"}}


@pytest.mark.parametrize(
    ("text", "name", "properties", "args"),
    [
        ("and lock the house", "lock_house", LOCKED, {"locked": False}),
        ("unlock the house", "lock_house", LOCKED, {"locked": False}),
        ("lock the house", "lock_house", LOCKED, {"locked": True}),
        ("set the milk for the house to skim", "set_milk", DRINK, {"milk": "skim milk"}),
        ("set alarm to 7:30", "set_alarm", CLOCK, {"hour": 7, "minute": 30}),
        ("set alarm to 815", "set_alarm", CLOCK, {"hour": 8, "minute": 15}),
        ("order twelve eggs", "order_eggs", DOZENS, {"eggs": 12}),
        ("order a dozen eggs", "order_eggs", DOZENS, {"eggs": 12}),
        ("I want to small pizzas", "order_small_pizza", PIZZAS, {"count": 2}),
        ("set the duration to an hour and a half", "set_duration", SECONDS, {"duration": 5400}),
        ("set the heating to ninety degrees", "set_heating", DEGREES, {"degrees": 19}),
        ("turn the heating to A-18", "set_heating", DEGREES, {"degrees": 18}),
        ("mark it not urgent", "mark_urgent", QUIET, {"urgent": False}),
        ("order seven eggs", "order_eggs", DOZENS, None),
    ],
)
def test_values_are_read_as_they_are_meant(
    text: str, name: str, properties: dict[str, Any], args: dict[str, Any] | None
) -> None:
    assert decide(text, properties, name) == args


def test_a_number_that_may_as_well_be_another_is_asked_for() -> None:
    guesses = [Guess(f"Set the kitchen to {number} percent.", -0.3) for number in (15, 50)]
    decision = TOOLBOX.decide(guesses)
    assert isinstance(decision, Ask)
    assert (decision.slot.name, decision.args) == ("percent", {"room": "kitchen"})
    assert told("fifty", decision) == bright("kitchen", 50)


def test_fifteen_is_asked_back_when_it_may_well_have_been_fifty() -> None:
    texts = [("15", -0.3), ("fifteen", -0.4), ("15", -0.5)]
    guesses = [Guess(f"Set the kitchen to {said} percent.", score) for said, score in texts]
    assert isinstance(TOOLBOX.decide(guesses), Act)
    for other, asks in (("50", True), ("16", False)):
        heard = [*guesses, Guess(f"Set the kitchen to {other} percent.", -0.38)]
        assert isinstance(TOOLBOX.decide(heard), Ask) is asks


def test_lock_is_asked_back_when_it_may_have_been_unlock() -> None:
    door = {"type": "string", "enum": ["front door", "garage"]}
    locked = {"type": "boolean", "description": "true locks it"}
    properties = {"door": door, "locked": locked}
    parameters = {"type": "object", "properties": properties, "required": ["door", "locked"]}
    box = Toolbox([ToolCard("set_lock", "Lock or unlock a door", parameters)])
    lock, unlock = Guess("Lock the garage.", -0.2), Guess("Unlock the garage.", -0.5)
    decision = box.decide([lock, unlock])
    assert isinstance(decision, Ask)
    assert decision.slot.name == "locked"
    odd = box.decide([Guess("Then lock the garage.", -0.2)])
    assert isinstance(odd, Ask)
    assert odd.slot.name == "locked"
    sure = box.decide([Guess("Please lock the garage.", -0.2), Guess("Lock the garage!", -0.5)])
    assert isinstance(sure, Act)
    assert sure.args == {"door": "garage", "locked": True}
