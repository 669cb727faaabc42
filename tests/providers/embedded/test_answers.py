from typing import Any

import orjson
import pytest

from relay.providers.embedded.answers import done, failed, heard_well, question
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
