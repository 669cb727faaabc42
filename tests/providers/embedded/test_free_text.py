"""Free text in typed commands: where it begins and ends, and when it is read back."""

from typing import Any

import pytest

from relay.providers.embedded.decisions import Act, Ask, Check, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.toolbox import Toolbox
from relay.providers.embedded.wire import ToolCard

OPTIONAL = {"hour", "quantity"}


def card(name: str, description: str, **properties: Any) -> ToolCard:
    """A declaration; what is not `OPTIONAL` is required."""
    required = [one for one in properties if one not in OPTIONAL]
    return ToolCard(
        name, description, {"type": "object", "properties": properties, "required": required}
    )


TEXT = {"type": "string"}
DAY = {"type": "string", "enum": ["monday", "friday", "next week"]}
WHO = {"type": "string", "enum": ["mom", "peter", "the team"]}
HOUR = {"type": "integer", "description": "Hour it starts", "maximum": 23}
COUNT = {"type": "integer", "description": "How many", "minimum": 1}
STARS = {"type": "integer", "description": "How many stars", "minimum": 1, "maximum": 5}
TEXTS = Toolbox(
    [
        card("add_event", "Put an event into the calendar", title=TEXT, day=DAY, hour=HOUR),
        card("send_message", "Send a message to a person", to=WHO, text=TEXT),
        card("add_item", "Add an item to the shopping list", item=TEXT, quantity=COUNT),
        card("add_task", "Add a task to the todo list", task=TEXT),
        card("rate_movie", "Rate a movie with one to five stars", title=TEXT, stars=STARS),
    ]
)


def event(title: str, day: str, **more: int) -> tuple[str, dict[str, Any]]:
    return "add_event", {"title": title, "day": day, **more}


def message(to: str, text: str) -> tuple[str, dict[str, Any]]:
    return "send_message", {"to": to, "text": text}


RATED = ("rate_movie", {"title": "black river", "stars": 4})


@pytest.mark.parametrize(
    ("text", "call"),
    [
        # it stops where the next value begins, with or without a word between
        ("put an event called book club on monday at nine", event("book club", "monday", hour=9)),
        ("put an event called book club monday at nine", event("book club", "monday", hour=9)),
        ("add an event called sign up on friday", event("sign up", "friday")),
        ("add an event called garden work next week", event("garden work", "next week")),
        ("rate the movie black river with four stars", RATED),
        ("give the movie black river four stars", RATED),
        # it begins right behind another value
        ("tell mom happy birthday", message("mom", "happy birthday")),
        ("text peter I will be late", message("peter", "I will be late")),
        ("tell the team the office is closed", message("the team", "the office is closed")),
        # it goes on where nothing else begins
        ("message mom saying come at nine on the left", message("mom", "come at nine on the left")),
        ("tell peter to bring five chairs", message("peter", "bring five chairs")),
        # its tool may be named by the parameter alone
        ("add the task clean the kitchen", ("add_task", {"task": "clean the kitchen"})),
        # what is polite is no part of it
        ("add a task called wash the car please", ("add_task", {"task": "wash the car"})),
        ("um okay so add um milk to the shopping list", ("add_item", {"item": "milk"})),
        ("add figs to the shopping list thanks", ("add_item", {"item": "figs"})),
        ("message peter saying it is open, thanks", message("peter", "it is open")),
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


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("add an expense of $20 for train tickets", {"what": "train tickets", "amount": 20}),
        ("add an expense for train tickets of $20", {"what": "train tickets", "amount": 20}),
        ("add an expense for old clock", None),
    ],
)
def test_a_text_ends_before_an_amount(text: str, args: dict[str, Any] | None) -> None:
    amount = {"type": "number", "description": "How much money"}
    expense = card("add_expense", "Write down an expense", what=TEXT, amount=amount)
    decision = Toolbox([expense]).decide([Guess(text)])
    assert (decision.args if isinstance(decision, Act) else None) == args


def test_words_that_only_name_the_tool_are_no_text() -> None:
    add_card = card("add_card", "Add a card to the board", title=TEXT)
    decision = Toolbox([add_card]).decide([Guess("add a card to the board")])
    assert isinstance(decision, Ask)
    assert decision.slot.name == "title"


def test_a_word_of_the_description_may_belong_to_the_text() -> None:
    play = card("play_station", "Play a radio station", station=TEXT)
    decision = Toolbox([play]).decide([Guess("play radio paradise")])
    assert isinstance(decision, Act)
    assert decision.args == {"station": "radio paradise"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Water the plants.", "water the plants"),
        ("um, buy bread please", "buy bread"),
        ("thank you", "thank you"),
    ],
)
def test_an_answer_is_a_text_without_its_manners(answer: str, text: str) -> None:
    asked = TEXTS.decide([Guess("send a message to peter")])
    assert isinstance(asked, Ask)
    decision = TEXTS.decide([Guess(answer)], asked)
    assert isinstance(decision, Act)
    assert decision.args == {"to": "peter", "text": text}


def test_the_text_in_doubt_is_the_one_that_is_read_back() -> None:
    letter = card("send_letter", "Send a letter", title=TEXT, about=TEXT)
    said = ("cats", "hats")
    guesses = [Guess(f"Send a letter titled ann about {one}.", -0.3) for one in said]
    decision = Toolbox([letter]).decide(guesses)
    assert isinstance(decision, Check)
    assert decision.act.args == {"title": "ann", "about": "cats"}
    assert decision.slot.name == "about"


def test_a_text_stays_doubtful_when_a_number_is_asked_for() -> None:
    said = (("game", 15), ("team", 50))
    play = card("book_table", "Book a table", title=TEXT, seats={"type": "integer"})
    box = Toolbox([play])
    guesses = [Guess(f"Book a table titled {name} lunch for {n} seats.", -0.3) for name, n in said]
    asked = box.decide(guesses)
    assert isinstance(asked, Ask)
    assert asked.slot.name == "seats"
    assert isinstance(box.decide([Guess("fifty")], asked), Check)


def test_a_doubtful_text_in_a_second_command_is_not_acted_on() -> None:
    said = "Add figs to the shopping list and tell mom {}."
    guesses = [Guess(said.format(text), -0.3) for text in ("dinner is ready", "dinner is heavy")]
    assert isinstance(TEXTS.decide(guesses[:1]), Act)
    assert TEXTS.decide(guesses) == Decline(guesses[0].text)
