import re

import msgspec
import pytest
from msgspec import inspect as shapes

from relay.protocol.limits import LIMITS, Limits

UNITS = ("_ms", "_bytes", "_chars", "_units", "_max", "_min", "_messages", "_frames", "_turns")


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_a_limit_is_a_positive_whole_number_whose_name_says_its_unit(name: str) -> None:
    value = getattr(LIMITS, name)
    assert isinstance(value, int)
    assert value > 0
    assert name.endswith(UNITS)


def test_every_limit_has_its_sentence() -> None:
    shape = shapes.type_info(Limits)
    assert isinstance(shape, shapes.StructType)
    for field in shape.fields:
        assert isinstance(field.type, shapes.Metadata)
        sentence = (field.type.extra_json_schema or {})["description"]
        assert re.fullmatch(r"[A-Z].*\.", sentence), field.name


def test_a_tighter_set_changes_one_bound_only() -> None:
    tighter = Limits(tool_call_timeout_ms=20)
    differing = [n for n in Limits.__struct_fields__ if getattr(tighter, n) != getattr(LIMITS, n)]
    assert differing == ["tool_call_timeout_ms"]


def test_limits_do_not_change_while_the_relay_runs() -> None:
    with pytest.raises(AttributeError):
        LIMITS.rooms_max = 1  # type: ignore[misc]


def test_bounds_that_hold_each_other_are_in_order() -> None:
    assert LIMITS.audio_message_max_bytes <= LIMITS.message_max_bytes
    assert LIMITS.tool_output_max_bytes < LIMITS.message_max_bytes
    assert LIMITS.arguments_max_bytes < LIMITS.message_max_bytes
    assert LIMITS.tools_body_max_bytes <= LIMITS.body_max_bytes
    assert LIMITS.frame_output_max_chars <= LIMITS.tool_output_max_bytes
    assert LIMITS.playout_lead_ms < LIMITS.playout_queue_max_ms
    assert LIMITS.wasm_call_deadline_ms < LIMITS.wasm_child_watchdog_ms
    assert LIMITS.wasm_module_max_bytes <= LIMITS.wasm_memory_max_bytes
    assert msgspec.json.decode(msgspec.json.encode(LIMITS), type=Limits) == LIMITS
