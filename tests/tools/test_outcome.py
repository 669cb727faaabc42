import orjson

from relay.protocol.limits import Limits
from relay.protocol.refusals import RefusalCode
from relay.tools.outcome import model_answer
from relay.tools.tool import ToolRefused, ToolSucceeded


def test_a_result_is_wrapped() -> None:
    outcome = ToolSucceeded(result_json=b'{"score":3}', duration_ms=1.0)
    assert orjson.loads(model_answer(outcome)) == {"result": {"score": 3}}


def test_a_refusal_says_its_code_twice_for_models_that_look_for_an_error() -> None:
    outcome = ToolRefused(code=RefusalCode.UNKNOWN_TOOL, why="no such tool", duration_ms=1.0)
    assert orjson.loads(model_answer(outcome)) == {
        "ok": False,
        "refused": "unknown-tool",
        "error": "refused: unknown-tool",
        "why": "no such tool",
    }


def test_a_long_result_is_cut_within_the_budget_and_says_so() -> None:
    limits = Limits(tool_output_max_bytes=4_096)
    text = orjson.dumps('"\\é' * 3_000)
    answer = model_answer(ToolSucceeded(result_json=text, duration_ms=1.0), limits=limits)
    assert len(answer) <= limits.tool_output_max_bytes
    told = orjson.loads(answer)
    assert told["truncated"] is True
    assert told["fullBytes"] == len(text)
    assert text.decode().startswith(told["result"])
