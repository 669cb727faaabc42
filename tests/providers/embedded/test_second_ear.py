"""Listening once more: when, for which words, and what two readings lead to together."""

from typing import Any

import pytest

from relay.providers.embedded.closer import words_for
from relay.providers.embedded.decisions import Act, Ask, Decision, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.lexicon import tools_of
from relay.providers.embedded.second_ear import SecondEar
from relay.providers.embedded.toolbox import Toolbox
from relay.providers.embedded.wire import ToolCard
from tests.fakes.voice import ALL_CARDS

TEAS = ["green tea", "black tea", "iced tea", "cocoa"]
MILKS = [
    "milk",
    "a bit of milk",
    "lots of milk",
    "oat milk",
    "a bit of oat milk",
    "lots of oat milk",
]
SWEETS = ["honey", "sweetener", "a bit of honey", "lots of honey", "lots of sweetener"]
PARAMETERS = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": TEAS},
        "size": {"type": "string", "enum": ["small", "large"]},
        "milk": {"type": "string", "enum": MILKS},
        "extra": {"type": "string", "enum": SWEETS},
    },
    "required": ["kind"],
}
CARD = ToolCard("order_drink", "Order a drink", PARAMETERS)
TOOLBOX = Toolbox([CARD])
EAR = SecondEar(TOOLBOX)
CLEAR = "Bring me a small black tea with milk."


def heard(*texts: str, score: float = -0.5, closer: bool = False) -> list[Guess]:
    """Guesses, each a little less likely than the one before."""
    return [Guess(text, score - 0.02 * at, closer) for at, text in enumerate(texts)]


def settled(first: str, again: str, score: float = -0.5) -> Decision:
    return EAR.decide(heard(first, score=score) + heard(again, score=-0.3, closer=True), None)


def args(decision: Decision) -> dict[str, Any]:
    assert isinstance(decision, Act)
    return decision.args


def asked(decision: Decision) -> tuple[str, dict[str, Any]]:
    assert isinstance(decision, Ask)
    return decision.slot.name, decision.args


# ---- when -------------------------------------------------------------------------------------


def test_a_clear_command_is_not_read_twice() -> None:
    assert EAR.words(heard(CLEAR, score=-0.2), None) is None


@pytest.mark.parametrize(
    "guesses",
    [
        heard(CLEAR, score=-0.5),
        heard("Bring me a small rocket black tea with milk.", score=-0.2),
        heard("Bring me a small black tea.", "Bring me a large black tea.", score=-0.2),
        heard("Bring me a small tea with milk.", score=-0.2),
    ],
)
def test_a_doubtful_command_is_heard_again_for_its_tools_words(guesses: list[Guess]) -> None:
    words = EAR.words(guesses, None)
    assert words is not None
    assert {"black", "tea", "milk", "order", "please"} <= words
    assert "rocket" not in words


@pytest.mark.parametrize(
    "guesses",
    [
        [],
        heard("What a lovely day it is outside today my friend.", score=-0.3),
        heard(CLEAR, score=-1.0),
    ],
)
def test_what_is_no_command_or_mere_guessing_is_not_heard_again(guesses: list[Guess]) -> None:
    assert EAR.words(guesses, None) is None


def test_a_text_may_hold_any_words_so_nothing_is_gained_by_fewer() -> None:
    note = {"text": {"type": "string"}, "kind": {"type": "string", "enum": ["idea", "task"]}}
    card = ToolCard("add_note", "Add a note", {"type": "object", "properties": note})
    assert words_for(card, tools_of([card])[0]) is None


def test_numbers_are_among_the_words_of_a_tool_with_a_number() -> None:
    card = next(card for card in ALL_CARDS if card.name == "set_score")
    words = words_for(card, tools_of([card])[0])
    assert words is not None
    assert {"home", "points", "twenty", "7", "i'd"} <= words
    assert "id" not in words
    assert "hours" not in words


def test_spans_of_time_are_among_the_words_of_a_tool_that_takes_one() -> None:
    span = {"type": "object", "properties": {"seconds": {"type": "integer"}}}
    card = ToolCard("bake", "Bake for a number of seconds", span)
    words = words_for(card, tools_of([card])[0])
    assert words is not None
    assert {"hour", "hours", "minutes", "day"} <= words


def test_switches_and_questions_are_among_the_words_of_tools_that_have_them() -> None:
    switch = {"type": "object", "properties": {"muted": {"type": "boolean"}}}
    cards = [
        ToolCard("mute", "Mute or unmute the sound", switch),
        ToolCard("get_price", "Get the price", {"type": "object", "properties": {}}),
    ]
    mute, price = (words_for(card, tool) for card, tool in zip(cards, tools_of(cards), strict=True))
    assert mute is not None
    assert price is not None
    assert {"without", "off", "disable", "unmute"} <= mute - price
    assert {"how", "much", "what"} <= price - mute


# ---- what two readings lead to ----------------------------------------------------------------


def test_two_readings_that_agree_are_followed() -> None:
    assert args(settled(CLEAR, CLEAR)) == {"size": "small", "kind": "black tea", "milk": "milk"}


def test_the_value_in_which_they_differ_is_asked_for() -> None:
    decision = settled("Bring me a small black tea", "Bring me a large black tea")
    assert asked(decision) == ("size", {"kind": "black tea"})


def test_a_word_that_was_left_over_is_what_the_second_reading_makes_of_it() -> None:
    decision = settled("Get a small black tea with hubbub", "Get a small black tea with honey")
    assert args(decision) == {"size": "small", "kind": "black tea", "extra": "honey"}


def test_words_left_over_in_both_settle_nothing() -> None:
    decision = settled("Bring me a hubbub black tea", "Bring me a large ladder black tea")
    assert not isinstance(decision, Act)


def test_a_value_that_some_guess_of_the_second_reading_has_is_kept() -> None:
    first = heard("Get a small black tea with lots of milk")
    again = heard("Get a small black tea with milk", "Get a small black tea with lots of milk")
    decision = EAR.decide(
        [*first, *(Guess(one.text, one.score, closer=True) for one in again)], None
    )
    assert args(decision) == {"size": "small", "kind": "black tea", "milk": "lots of milk"}


def test_the_same_perfect_command_twice_is_made_however_unsure_the_recogniser() -> None:
    assert args(settled(CLEAR, CLEAR, score=-0.85))["kind"] == "black tea"
    other = CLEAR.replace("small", "large")
    assert isinstance(settled(CLEAR, other, score=-0.85), Decline)


def test_a_clear_first_reading_needs_no_second_that_found_less() -> None:
    assert args(settled("Bring me a cocoa with milk", "Bring me with milk")) == {
        "kind": "cocoa",
        "milk": "milk",
    }


def test_a_command_that_was_there_already_but_not_clearly_is_made() -> None:
    first = "Hubbub, my rattle and a small black tea, oat milk, clatter."
    again = "Get me a small black tea, oat milk."
    assert isinstance(EAR.decide(heard(first), None), Decline)
    assert args(settled(first, again)) == {
        "size": "small",
        "kind": "black tea",
        "milk": "oat milk",
    }
    assert isinstance(settled(first, again, score=-0.72), Decline)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Tell me about the trouble with the neighbours", CLEAR),
        ("Hubbub, my rattle and a small cocoa, oat milk, clatter.", CLEAR),
    ],
)
def test_the_second_reading_alone_moves_nothing(first: str, again: str) -> None:
    assert isinstance(settled(first, again), Decline)


AWAY = SecondEar(
    Toolbox(
        [
            ToolCard(
                "set_away_mode",
                "Turn away mode on or off",
                {
                    "type": "object",
                    "properties": {"away": {"type": "boolean", "description": "true turns it on"}},
                    "required": ["away"],
                },
            ),
        ]
    )
)


@pytest.mark.parametrize(
    ("first", "made"), [("Turn on the way mode", True), ("Turn on the radio mood", False)]
)
def test_a_reading_that_hardly_differs_in_sound_is_the_command(first: str, *, made: bool) -> None:
    guesses = [*heard(first), *heard("Turn on away mode", closer=True)]
    assert isinstance(AWAY.decide(guesses, None), Act) is made
    strained = [*heard(first), *heard("Turn on away mode", score=-0.7, closer=True)]
    assert isinstance(AWAY.decide(strained, None), Decline)


def test_a_doubt_about_a_number_is_left_to_the_person() -> None:
    ear = SecondEar(Toolbox(ALL_CARDS))
    guesses = heard("Set the kitchen to 15 percent.", "Set the kitchen to 50 percent.")
    again = heard("Set the kitchen to fifty percent.", closer=True)
    assert asked(ear.decide([*guesses, *again], None))[0] == "percent"


def test_two_calls_are_made_only_if_both_readings_have_them() -> None:
    two = "Bring me a black tea and a small cocoa"
    decision = settled(two, two)
    assert isinstance(decision, Act)
    assert [one.args["kind"] for one in decision.then] == ["cocoa"]
    assert isinstance(settled(two, "Bring me a black tea"), Decline)


# ---- values of which only a part was understood -----------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Order a cocoa with lots of", "milk"),
        ("Bring me a cocoa with milk and lots of soup", "extra"),
        ("Bring me a cocoa with milk and lots", "extra"),
        ("Order a small velvet tea with honey", "kind"),
    ],
)
def test_a_value_that_only_began_is_asked_for(text: str, name: str) -> None:
    assert asked(TOOLBOX.decide([Guess(text)]))[0] == name


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Order a cocoa with sweet", "sweetener"),
        ("Bring me a cocoa with lots of sweet", "lots of sweetener"),
        ("Bring me a cocoa with lots of sweetener", "lots of sweetener"),
    ],
)
def test_a_last_word_that_was_cut_short_counts(text: str, wanted: str) -> None:
    assert args(TOOLBOX.decide([Guess(text)])) == {"kind": "cocoa", "extra": wanted}


@pytest.mark.parametrize("text", ["Order a small cocoa with, uh", "Bring me a cocoa with milk and"])
def test_a_command_that_breaks_off_is_not_acted_on(text: str) -> None:
    assert isinstance(TOOLBOX.decide([Guess(text)]), Decline)


def test_words_of_another_value_are_never_a_part_of_one() -> None:
    decision = TOOLBOX.decide([Guess("Bring me a cocoa with a bit of milk and lots")])
    assert asked(decision) == ("extra", {"kind": "cocoa", "milk": "a bit of milk"})


def test_do_before_a_thing_asks_no_question() -> None:
    assert args(TOOLBOX.decide([Guess("Do a small cocoa")])) == {"size": "small", "kind": "cocoa"}
    assert isinstance(TOOLBOX.decide([Guess("Do you like a small cocoa")]), Decline)
