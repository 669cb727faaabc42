"""Putting a module on a shelf: file and entry, all or nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.files import replace_file
from relay.shelf.manifest import read_manifest, read_module
from relay.shelf.shelve import shelve
from tests.shelf.shelves import SHIPPED

LIMITS = Limits()
HASH, DIFF = ((SHIPPED / f"{name}.wasm").read_bytes() for name in ("hash", "diff"))
FACTS = {"id": "mine", "abi": "buffer-abi/1", "description": "Mine: ♥", "capability": "hash"}


def put(folder: Path, module: bytes = HASH, *, replace: bool = False, **facts: str) -> None:
    shelve(folder, module, FACTS | facts, replace=replace, limits=LIMITS)


def document(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def test_a_shelf_is_made_and_its_tool_can_be_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "shelf"
    put(folder)
    entry = read_manifest(folder, limits=LIMITS).find("mine")
    assert (entry.description, entry.capability) == ("Mine: ♥", "hash")
    assert read_module(folder, entry, limits=LIMITS) == HASH
    assert sorted(file.name for file in folder.iterdir()) == ["manifest.json", "mine.wasm"]


def test_an_id_that_is_taken_is_replaced_only_on_purpose(tmp_path: Path) -> None:
    put(tmp_path)
    with pytest.raises(Refusal, match="already"):
        put(tmp_path, DIFF, abi="buffer-abi/diff")
    assert (tmp_path / "mine.wasm").read_bytes() == HASH
    put(tmp_path, DIFF, abi="buffer-abi/diff", replace=True)
    assert read_manifest(tmp_path, limits=LIMITS).find("mine").abi.name == "buffer-abi/diff"
    assert len(document(tmp_path)["tools"]) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"name": "x", "tools": [7]}, {"name": "x", "tools": [7, "mine"]}),
        ([7], {"tools": [7, "mine"]}),
        ({"id": "a", "wasm": "a"}, {"tools": ["a", "mine"]}),
        ({"version": "3"}, {"version": "3", "tools": ["mine"]}),
    ],
)
def test_what_else_a_manifest_says_stays(tmp_path: Path, before: object, after: object) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(before))
    put(tmp_path)
    found = document(tmp_path)
    found["tools"] = [tool["id"] if isinstance(tool, dict) else tool for tool in found["tools"]]
    assert found == after


@pytest.mark.parametrize(
    ("module", "facts", "code"),
    [
        (HASH, {"id": "not an id"}, C.SHELF_ENTRY_INVALID),
        (HASH, {"description": "x" * 2_000}, C.SHELF_ENTRY_INVALID),
        (HASH, {"abi": "none"}, C.UNSUPPORTED_ABI),
        (HASH, {"abi": "buffer-abi/diff"}, C.UNSUPPORTED_ABI),
        (b"text", {}, C.WASM_INVALID),
        (bytes(Limits().wasm_module_max_bytes + 1), {}, C.MODULE_TOO_LARGE),
    ],
)
def test_what_could_not_be_called_is_not_put_there(
    tmp_path: Path, module: bytes, facts: dict[str, str], code: C
) -> None:
    with pytest.raises(Refusal) as refused:
        put(tmp_path, module, **facts)
    assert refused.value.code is code
    assert list(tmp_path.iterdir()) == []


def test_a_broken_manifest_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(Refusal, match="shelf-unreadable"):
        put(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == "{"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(OSError, match="there"):
        replace_file(tmp_path / "there", b"x")
    assert [file.name for file in tmp_path.iterdir()] == ["there"]
