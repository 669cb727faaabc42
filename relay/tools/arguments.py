"""The check of a call's arguments: what comes out of it is what runs.

Copy first, then the compiled check; only what that rejects (or what is too big to compile) is
walked for the exact code. Source: seed document 000, sections 3 and 5;
`tests/vectors/arguments.json`.
"""

from typing import Any

from relay.protocol.limits import LIMITS, Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools import json_text
from relay.tools.compiled import Unfit
from relay.tools.explain import find_fault
from relay.tools.parameters import Parameters
from relay.tools.snapshot import take_snapshot
from relay.tools.tool import ToolSpec


def parse_arguments(text: str | bytes) -> object:
    """Read a call's arguments from JSON text; any JSON value is returned unchecked.

    Raises: Refusal `invalid-tool-arguments` when the text is not JSON.
    """
    try:
        return json_text.parse(text)
    except ValueError:
        raise Refusal(
            RefusalCode.INVALID_TOOL_ARGUMENTS, "the arguments are not valid JSON"
        ) from None


def check_arguments(spec: ToolSpec, args: object, *, limits: Limits = LIMITS) -> dict[str, Any]:
    """Return a copy of the arguments that fits the tool's schema; None stands for {}.

    Raises: Refusal `invalid-tool-arguments`, `invalid-argument-bounds`, `invalid-argument`,
    `missing-argument`, `invalid-argument-type`, `invalid-argument-enum`,
    `invalid-argument-range`, `invalid-argument-length`.
    """
    if args is None:
        args = {}
    if not isinstance(args, dict):
        raise Refusal(RefusalCode.INVALID_TOOL_ARGUMENTS, "the arguments are not an object")
    copy = take_snapshot(args, limits=limits)
    parameters = spec.parameters
    if type(parameters) is not Parameters:  # the relay's own tools declare a plain dict
        parameters = Parameters(parameters)
    check = parameters.check
    if check is not None:
        try:
            check(copy)
        except Unfit:
            find_fault(parameters.rule, copy)
    else:
        find_fault(parameters.rule, copy)
    return copy
