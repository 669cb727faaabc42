"""Two readings of one contract: the compiled check and the walk, Python and JavaScript."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from relay.protocol.limits import LIMITS
from relay.protocol.refusals import Refusal
from relay.server.bridge_page import joined
from relay.tools import compiled, json_text
from relay.tools.arguments import check_arguments, parse_arguments
from relay.tools.compiled import Check
from relay.tools.explain import find_fault
from relay.tools.parameters import ready
from relay.tools.schema import admit_tool, read_tool
from relay.tools.snapshot import take_snapshot
from tests.fakes.generated import Generator
from tests.fakes.schemas import calls
from tests.fakes.vectors import same

ROOT = Path(__file__).parents[2]
VERDICTS = ROOT / "tests/js/verdicts.js"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
PAIRS = 2_000
DECLARATION_CODES = {
    "invalid-tool-declaration",
    "invalid-tool-name",
    "invalid-tool-description",
    "invalid-tool-parameters",
}
ARGUMENT_CODES = {
    "invalid-tool-arguments",
    "invalid-argument-bounds",
    "invalid-argument",
    "missing-argument",
    "invalid-argument-type",
    "invalid-argument-length",
    "invalid-argument-range",
    "invalid-argument-enum",
}


def verdict(question: dict[str, Any]) -> dict[str, Any]:
    try:
        if "tool" in question:
            spec = admit_tool(question["tool"])
            told = {"name": spec.name, "description": spec.description}
            return {"ok": True, "value": told | {"parameters": dict(spec.parameters)}}
        spec = admit_tool({"name": "t", "description": "t", "parameters": question["parameters"]})
        value = check_arguments(spec, parse_arguments(question["args_json"]))
        return {"ok": True, "value": value}
    except Refusal as refusal:
        return {"ok": False, "refused": str(refusal.code)}


@pytest.mark.timeout(90)
@settings(max_examples=150)
@given(calls())
def test_the_compiled_check_and_the_walk_agree(call: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, args = call
    spec = admit_tool({"name": "t", "description": "t", "parameters": schema})
    copy = take_snapshot(args, limits=LIMITS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_WEIGHT_MAX", 10_000)  # also what is too big in practice,
        # and what the admission has remembered as too big
        patch.setattr(compiled, "_compiled", compiled._compiled.__wrapped__)
        check = compiled.compiled_check(spec.parameters)
    assert check is not None
    try:
        find_fault(ready(spec.parameters).rule, copy)
        fits = True
    except Refusal:
        fits = False
    assert accepts(check, copy) is fits


def accepts(check: Check, args: dict[str, Any]) -> bool:
    try:
        check(args)
    except compiled.Unfit:
        return False
    return True


def questions(random: Random) -> list[str]:
    lines: list[str] = []
    pairs = 0
    while pairs < PAIRS:
        generator = Generator(random, odd=(1, 3, 6)[len(lines) % 3])
        tool = generator.tool()
        line = f'{{"tool":{generator.text(tool)}}}'
        lines.append(line)
        try:
            spec = read_tool(json_text.parse(line)["tool"])
        except Refusal:
            continue
        schema = tool.get("parameters", tool.get("inputSchema"))
        args = Generator(random, odd=6).arguments(schema)
        question = {"parameters": spec.parameters, "args_json": generator.text(args)}
        lines.append(json.dumps(question))
        pairs += 1
    return lines


@pytest.mark.timeout(120)
@needs_node
def test_python_and_javascript_agree() -> None:
    lines = questions(Random(0))
    done = subprocess.run(
        ["node", str(VERDICTS)], input="\n".join(lines).encode(), capture_output=True, check=True
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    met: Counter[str] = Counter()
    for line, theirs in zip(lines, told, strict=True):
        ours = verdict(json_text.parse(line))
        theirs.pop("why", None)
        assert same(ours, theirs), (line, ours, theirs)
        met["args" if "args_json" in line else "tool", ours.get("refused", "ok")] += 1
    assert met["tool", "ok"] >= PAIRS
    assert {code for kind, code in met if kind == "tool"} == {"ok", *DECLARATION_CODES}
    assert {code for kind, code in met if kind == "args"} == {"ok", *ARGUMENT_CODES}


@needs_node
def test_the_contract_as_the_bridges_page_holds_it_is_one_whole_script() -> None:
    script = joined(ROOT / "static/sandbox/contract.js")
    asked = 'checkArguments(checkTool({name: "t", description: "d"}).value.parameters, {v: 1})'
    done = subprocess.run(
        ["node", "--eval", f'"use strict"; {{ {script}\nconsole.log(JSON.stringify({asked})) }}'],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"ok": True, "value": {"v": 1}}
