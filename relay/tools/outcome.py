"""A tool's outcome in the words that a model gets.

`{"result": …}` or `{"ok": false, "refused": code, "error": "refused: code", "why": …}`,
never longer than the budget.
"""

import orjson

from relay.protocol.limits import LIMITS, Limits
from relay.tools.tool import ToolOutcome, ToolSucceeded

_ENVELOPE_BYTES = 256


def model_answer(outcome: ToolOutcome, *, limits: Limits = LIMITS) -> bytes:
    """The outcome as UTF-8 JSON of at most `tool_output_max_bytes` (and a small envelope)."""
    if isinstance(outcome, ToolSucceeded):
        if len(outcome.result_json) <= limits.tool_output_max_bytes:
            return b'{"result":' + outcome.result_json + b"}"
        return _cut(outcome.result_json, limits.tool_output_max_bytes)
    code = str(outcome.code)
    return orjson.dumps(
        {"ok": False, "refused": code, "error": f"refused: {code}", "why": outcome.why}
    )


def _cut(result_json: bytes, budget: int) -> bytes:
    """A long result as text, cut at a character; JSON escapes are paid for in advance."""
    kept = result_json[: max(budget // 2 - _ENVELOPE_BYTES, 0)].decode("utf-8", "ignore")
    return orjson.dumps({"result": kept, "truncated": True, "fullBytes": len(result_json)})
