"""The bench's commands as typed text; with sound they are measured by `scripts/bench/voice.py`."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.providers.embedded.decisions import Act, Ask, Decline
from relay.providers.embedded.guess import Guess
from relay.providers.embedded.toolbox import Toolbox
from relay.providers.embedded.wire import ToolCard
from tests.fakes.voice import ALL_CARDS

DATA = Path(__file__).parents[3] / "scripts" / "bench" / "voice_data"
RIGHT_MIN = {"dev": 76, "held_out": 35, "free_text": 23}


def corpus(name: str) -> dict[str, Any]:
    loaded = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def toolbox(app: dict[str, Any]) -> Toolbox:
    return Toolbox([ToolCard(t["name"], t["description"], t["parameters"]) for t in app["tools"]])


@pytest.mark.parametrize("name", RIGHT_MIN)
def test_the_commands_of_a_set_are_understood(name: str) -> None:
    right = wrong = 0
    for app in corpus(name)["apps"]:
        parser = toolbox(app)
        for command in app["commands"]:
            decision = parser.decide([Guess(command["says"])])
            if isinstance(decision, Act):
                good = (decision.name, decision.args) == (command["tool"], command["args"])
                right += good
                wrong += not good
    assert right >= RIGHT_MIN[name]
    assert wrong == 0


@pytest.mark.parametrize("name", RIGHT_MIN)
def test_what_is_no_command_moves_no_tool_of_any_app(name: str) -> None:
    data = corpus(name)
    acted = [
        (says, app["app"])
        for app in data["apps"]
        for says in data["notCommands"]
        if isinstance(toolbox(app).decide([Guess(says)]), Act)
    ]
    assert acted == []


HOSTILE = ToolCard(
    "x" * 64,
    "{x.__class__} <b> \u202e " * 30,
    {
        "type": "object",
        "properties": {
            **{f"p{number}": {"type": "string"} for number in range(400)},
            "": {"type": "number", "description": "minutes"},
            "on off": {"type": "boolean", "description": "true false true"},
            "e": {"type": "string", "enum": ["", "-", "a", *(f"v {n}" for n in range(5_000))]},
            "n": {"type": "number", "enum": [1, 2.5]},
            "list": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["never declared", "e"],
    },
)


@given(st.text(max_size=400))
def test_any_text_and_any_declaration_are_only_declined(text: str) -> None:
    assert not isinstance(Toolbox([HOSTILE]).decide([Guess(text)]), Act)


@given(st.lists(st.sampled_from("turn on off add the to and five a timer kitchen for".split())))  # noqa: SIM905
def test_any_words_lead_to_a_decision_whose_values_are_declared(words: list[str]) -> None:
    decision = Toolbox(ALL_CARDS).decide([Guess(" ".join(words))])
    if isinstance(decision, Act | Ask):
        card = next(card for card in ALL_CARDS if card.name == decision.name)
        assert decision.args.keys() <= card.parameters["properties"].keys()


def test_a_very_long_text_is_declined() -> None:
    text = "note " + "and then we went on " * 400
    assert isinstance(Toolbox(ALL_CARDS).decide([Guess(text)]), Decline)
