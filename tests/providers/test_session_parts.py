"""What the two remote sessions are made of: memory, calls, declarations."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.protocol.limits import Limits
from relay.providers import loss
from relay.providers.calls import OpenCalls
from relay.providers.declared import Declared
from relay.providers.memory import Memory, Said, late_outcome
from relay.providers.secret import Secret
from relay.tools.declarations import openai_declaration
from relay.tools.schema import admit_tool
from relay.tools.tool import CallId, Registered, ToolName
from tests.fakes.declared import tool
from tests.fakes.hosts import FakeHost

TIGHT = msgspec.structs.replace(Limits(), provider_memory_max_chars=10, provider_memory_max_turns=3)


def registered(name: str) -> Registered:
    spec = admit_tool(tool(name))
    return Registered(exposed_name=ToolName(name), spec=spec, host=FakeHost())


def test_the_oldest_turns_are_forgotten_first() -> None:
    memory = Memory(TIGHT)
    for text in ("a", "b", " ", "c", "d"):
        memory.note("user", text)
    assert memory.turns() == (Said("user", "b"), Said("user", "c"), Said("user", "d"))


@given(st.lists(st.text(max_size=30), max_size=10))
def test_memory_is_bounded_whatever_is_said(texts: list[str]) -> None:
    memory = Memory(TIGHT)
    for text in texts:
        memory.note("assistant", text)
    turns = memory.turns()
    assert len(turns) <= 3
    assert sum(len(turn.text) for turn in turns) <= 10


def test_a_late_outcome_names_its_tool_and_is_marked_as_data() -> None:
    text = late_outcome("set_score", '{"result":3}')
    assert "set_score" in text
    assert '{"result":3}' in text
    assert "no instruction" in text


def test_a_call_is_taken_in_once_and_answered_once() -> None:
    calls = OpenCalls()
    call_id = calls.ask("native", "f", "g")
    assert call_id is not None
    assert calls.ask("native", "f", "g") is None
    assert calls.pending
    asked = calls.take(call_id)
    assert asked is not None
    assert asked.native_id == "native"
    assert calls.take(call_id) is None
    assert not calls.pending


def test_a_call_of_an_older_connection_is_known_and_not_current() -> None:
    calls = OpenCalls()
    call_id = calls.ask("native", "f", "g")
    calls.next_generation()
    assert not calls.pending
    assert calls.cancel(["native"]) == []
    assert calls.ask("native", "f", "g") not in {None, call_id}
    asked = calls.take(CallId(str(call_id)))
    assert asked is not None
    assert not calls.is_current(asked)


def test_what_a_connection_remembers_of_its_calls_is_bounded() -> None:
    calls = OpenCalls()
    for number in range(3_000):
        call_id = calls.ask(f"native-{number}", "f", "g")
        assert call_id is not None
        calls.take(call_id)
    assert len(vars(calls)["_seen"]) <= 1_024


def test_a_refused_declaration_stays_out_until_it_changes() -> None:
    declared = Declared([registered("a"), registered("b")], dialect=openai_declaration, at_most=9)
    assert declared.refuse(5) is None
    assert declared.refuse(0) == "a"
    declared.replace([registered("a"), registered("b"), registered("c")])
    assert [one["name"] for one in declared.told()] == ["b", "c"]
    changed = msgspec.structs.replace(registered("a").spec, description="another")
    declared.replace([msgspec.structs.replace(registered("a"), spec=changed), registered("b")])
    assert [one["name"] for one in declared.told()] == ["a", "b"]


@pytest.mark.parametrize(
    ("close_code", "code", "retry"),
    [
        (1000, loss.ENDED, False),
        (1001, loss.DROPPED, True),
        (None, loss.DROPPED, True),
        (1006, loss.DROPPED, True),
        (1007, loss.REFUSED, False),
        (1008, loss.REFUSED, False),
        (1009, loss.REFUSED, False),
        (1011, loss.FAILED, True),
        (1013, loss.BUSY, True),
        (4000, loss.REFUSED, False),
    ],
)
def test_a_close_code_is_told_by_its_class(
    close_code: int | None, code: str, *, retry: bool
) -> None:
    lost = loss.closed("Gemini", close_code, "key=canary went", Secret("went"))
    assert (lost.code, lost.retry) == (code, retry)
    assert lost.why.startswith("Gemini ")
    assert "canary" not in lost.why
    assert str(close_code or 1006) in lost.why
