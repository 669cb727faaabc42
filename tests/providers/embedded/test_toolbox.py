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
        ("mark it not urgent", "mark_urgent", QUIET, {"urgent": False}),
        ("order seven eggs", "order_eggs", DOZENS, None),
    ],
)
def test_values_are_read_as_they_are_meant(
    text: str, name: str, properties: dict[str, Any], args: dict[str, Any] | None
) -> None:
    assert decide(text, properties, name) == args


def card(name: str, description: str, required: str = "", **properties: Any) -> ToolCard:
    """A declaration; `required` is a list of names in one string."""
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return ToolCard(name, description, parameters)


TEXT = {"type": "string"}
DAY = {"type": "string", "enum": ["monday", "friday", "next week"]}
WHO = {"type": "string", "enum": ["mom", "peter", "the team"]}
HOUR = {"type": "integer", "description": "Hour it starts", "maximum": 23}
COUNT = {"type": "integer", "description": "How many", "minimum": 1}
STARS = {"type": "integer", "description": "How many stars", "minimum": 1, "maximum": 5}
TEXTS = Toolbox(
    [
        card(
            "add_event",
            "Put an event into the calendar",
            "title day",
            title=TEXT,
            day=DAY,
            hour=HOUR,
        ),
        card("send_message", "Send a message to a person", "to text", to=WHO, text=TEXT),
        card("add_item", "Add an item to the shopping list", "item", item=TEXT, quantity=COUNT),
        card("add_task", "Add a task to the todo list", "task", task=TEXT),
        card(
            "rate_movie",
            "Rate a movie with one to five stars",
            "title stars",
            title=TEXT,
            stars=STARS,
        ),
    ]
)


def event(title: str, day: str, **more: int) -> tuple[str, dict[str, Any]]:
    return "add_event", {"title": title, "day": day, **more}


def message(to: str, text: str) -> tuple[str, dict[str, Any]]:
    return "send_message", {"to": to, "text": text}


@pytest.mark.parametrize(
    ("text", "call"),
    [
        # it stops where the next value begins, with or without a word between
        ("put an event called book club on monday at nine", event("book club", "monday", hour=9)),
        ("put an event called book club monday at nine", event("book club", "monday", hour=9)),
        ("add an event called sign up on friday", event("sign up", "friday")),
        ("add an event called garden work next week", event("garden work", "next week")),
        ("rate the movie black river with four stars", ("rate_movie", {"title": "black river", "stars": 4})),
        ("give the movie black river four stars", ("rate_movie", {"title": "black river", "stars": 4})),
        # it begins right behind another value
        ("tell mom happy birthday", message("mom", "happy birthday")),
        ("text peter I will be late", message("peter", "I will be late")),
        ("tell the team the office is closed", message("the team", "the office is closed")),
        # it goes on where nothing else begins
        ("send a message to mom saying we meet at the station on the left", message("mom", "we meet at the station on the left")),
        ("tell peter to bring five chairs", message("peter", "bring five chairs")),
        # its tool may be named by the parameter alone
        ("add the task clean the kitchen", ("add_task", {"task": "clean the kitchen"})),
        # what is polite is no part of it
        ("add a task called wash the car please", ("add_task", {"task": "wash the car"})),
        ("um okay so add um milk to the shopping list", ("add_item", {"item": "milk"})),
        ("add six lemons to the list thank you", ("add_item", {"item": "lemons", "quantity": 6})),
        ("send a message to peter saying the door is open, thanks", message("peter", "the door is open")),
    ],
)  # fmt: skip
def test_a_free_text_is_what_a_person_means(text: str, call: tuple[str, dict[str, Any]]) -> None:
    decision = TEXTS.decide([Guess(text)])
    assert isinstance(decision, Act)
    assert (decision.name, decision.args) == call
    assert decision.then == ()


def test_a_text_that_likely_guesses_spell_otherwise_is_read_back() -> None:
    said = "Add {} to the shopping list."
    guesses = [Guess(said.format("red"), -0.25), Guess(said.format("bread"), -0.3)]
    decision = TEXTS.decide(guesses)
    assert isinstance(decision, Check)
    assert (decision.act.args, decision.slot.name) == ({"item": "red"}, "item")
    guesses[1] = Guess(said.format("bread"), -0.7)
    assert isinstance(TEXTS.decide(guesses), Act)


def test_a_doubtful_text_is_still_doubtful_when_the_rest_was_asked_for() -> None:
    guesses = [
        Guess("Add an event called game lunch.", -0.3),
        Guess("Add an event called team lunch.", -0.3),
    ]
    asked = TEXTS.decide(guesses)
    assert isinstance(asked, Ask)
    assert asked.slot.name == "day"
    decision = TEXTS.decide([Guess("on friday")], asked)
    assert isinstance(decision, Check)
    assert decision.act.args == {"title": "game lunch", "day": "friday"}


def test_a_number_that_may_as_well_be_another_is_asked_for() -> None:
    guesses = [Guess(f"Set the kitchen to {number} percent.", -0.3) for number in (15, 50)]
    decision = TOOLBOX.decide(guesses)
    assert isinstance(decision, Ask)
    assert (decision.slot.name, decision.args) == ("percent", {"room": "kitchen"})
    assert told("fifty", decision) == bright("kitchen", 50)


def test_lock_is_asked_back_when_it_may_have_been_unlock() -> None:
    door = {"type": "string", "enum": ["front door", "garage"]}
    locked = {"type": "boolean", "description": "true locks it"}
    box = Toolbox(
        [card("set_lock", "Lock or unlock a door", "door locked", door=door, locked=locked)]
    )
    lock, unlock = Guess("Lock the garage.", -0.2), Guess("Unlock the garage.", -0.5)
    decision = box.decide([lock, unlock])
    assert isinstance(decision, Ask)
    assert decision.slot.name == "locked"
    sure = box.decide([lock, Guess("Lock the garage!", -0.5)])
    assert isinstance(sure, Act)
    assert sure.args == {"door": "garage", "locked": True}


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
        ("turn off the kitchen light. Stop the timer.", [light("kitchen", on=False), ("stop_timer", {})]),
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
        ("hash hello world and stop the timer", [("hash", {"input": "hello world and stop the timer"})]),
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
    assert calls(text, Toolbox([card("blackout", GOOD_NIGHT)])) == wanted


def test_quotes_that_are_no_examples_are_no_commands() -> None:
    about = 'Switch everything off, as after "good night"'
    assert calls("my good night", Toolbox([card("blackout", about)])) == []
