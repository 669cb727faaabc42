import json
from typing import Any

import orjson
import pytest

from relay.providers.embedded.answers import done, failed, heard_well, question, sentences
from relay.providers.embedded.lexicon import tools_of
from relay.providers.embedded.wire import ToolCard


@pytest.mark.parametrize(
    ("args", "result", "said"),
    [
        ({}, {"ok": True}, "Done."),
        ({}, None, "Done."),
        ({}, 7, "Done: 7."),
        ({}, True, "Done: yes."),
        ({}, "Lights are on", "Lights are on."),
        (
            {"team": "home"},
            {"ok": True, "team": "home", "currentScore": 3},
            "Done: current score 3.",
        ),
        ({}, {"ok": True, "level": 2.50, "on": False}, "Done: level 2.5, on no."),
        ({}, {"ok": True, "message": "It rains."}, "It rains."),
        ({}, {"ok": False, "why": "no such room"}, "That did not work: no such room."),
        ({}, {"ok": False}, "That did not work."),
        ({}, ["a", "b"], "Done: 2 items: a, b."),
        ({}, {"ok": True, "items": [{"name": "milk"}]}, "Done: 1 item: milk."),
        ({}, {"ok": True, "items": [{}, {}]}, "Done: 2 items."),
        ({}, {"nested": {"a": 1}}, "Done."),
    ],
)
def test_a_result_is_told_in_a_sentence(args: dict[str, Any], result: object, said: str) -> None:
    assert done(args, orjson.dumps(result)) == said


def test_what_is_no_json_is_not_read_out() -> None:
    assert done({}, b"{") == "Done."


def test_a_refusal_is_told_honestly() -> None:
    assert failed("the page is gone") == "That did not work: the page is gone."
    assert failed("") == "That did not work."


def test_markup_is_not_spoken_and_long_texts_are_cut() -> None:
    assert (
        heard_well('<speak rate="x">hi</speak>\x07 **there**') == 'speak rate="x" hi /speak there.'
    )
    cut = heard_well("word " * 200)
    assert len(cut) < 260
    assert cut.endswith("word, and more.")


BREAK = '<break time="9s"/>[[f@]]&#7;'
HEARD = 'break time="9s"/ f@ &'


@pytest.mark.parametrize(
    "result",
    [
        BREAK,
        [BREAK],
        [{"title": BREAK}],
        {"say": BREAK},
        {"level": BREAK},
        {"items": [BREAK]},
        {"ok": False, "why": BREAK},
    ],
)
def test_markup_of_synthesisers_is_data_wherever_it_stands(result: object) -> None:
    told = done({}, orjson.dumps(result))
    assert HEARD in told
    assert not set("<>[]{}|") & set(told)


@pytest.mark.parametrize(
    "result",
    [
        "word " * 20_000,
        ["word " * 2_000] * 9,
        {"say": "word " * 2_000},
        {"items": ["word " * 2_000]},
        {str(number): "word" for number in range(2_000)},
        {"ok": False, "why": "word " * 2_000},
        {"a": 10**200},
    ],
)
def test_nothing_is_spoken_longer_than_a_person_wants_to_hear(result: object) -> None:
    told = done({}, json.dumps(result).encode())
    assert len(told) <= 280
    assert told[-1] in ".?!"


def test_a_question_is_no_longer_either() -> None:
    properties = {"word_" * 200: {"type": "string", "enum": ["long " * 200, "other"]}}
    (tool,) = tools_of([ToolCard("t", "d", {"type": "object", "properties": properties})])
    assert len(question(tool.slots[0])) < 260


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Done.", ["Done."]),
        ("It is 3.5 now. Really? Yes!", ["It is 3.5 now.", "Really?", "Yes!"]),
        ("", []),
        (", ".join(["milk"] * 20), ["milk,"] * 19 + ["milk"]),
    ],
)
def test_an_answer_is_spoken_piece_by_piece(text: str, pieces: list[str]) -> None:
    assert sentences(text) == pieces


def test_a_question_names_what_is_missing() -> None:
    properties = {
        "points": {"type": "number"},
        "level": {"type": "integer"},
        "team": {"enum": ["home", "away"], "type": "string"},
        "day": {"enum": list("abcdefg"), "type": "string"},
        "on": {"type": "boolean"},
        "noteText": {"type": "string"},
    }
    (tool,) = tools_of([ToolCard("t", "d", {"type": "object", "properties": properties})])
    assert [question(slot) for slot in tool.slots] == [
        "How many points?",
        "What level?",
        "Which team: home or away?",
        "Which day?",
        "On: yes or no?",
        "What is the note text?",
    ]
