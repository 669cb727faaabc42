"""Broken and hostile manifests: the shelf says which entry is wrong, and the rest works on."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.files import read_inside
from relay.shelf.ledger import Ledger
from relay.shelf.manifest import BadEntry, check_entry, list_tools, read_manifest
from relay.shelf.survey import Item, survey
from tests.shelf.shelves import Shelf

LIMITS = Limits()
DIGEST = "0" * 64
ENTRY = {"id": "t", "wasm": "t.wasm", "digest": DIGEST, "abi": "buffer-abi/1"}


def found(shelf: Shelf) -> list[Item]:
    ledger = Ledger(None, limits=LIMITS)
    seen = survey(shelf.folder, ledger=ledger, limits=LIMITS)
    assert seen.refusal is None
    return list(seen.items)


def refusals(shelf: Shelf) -> dict[str, C | None]:
    return {item.id: item.refusal.code if item.refusal else None for item in found(shelf)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", C.SHELF_UNREADABLE),
        ("null", C.SHELF_UNREADABLE),
        ("7", C.SHELF_UNREADABLE),
        ('"tools"', C.SHELF_UNREADABLE),
        ("{", C.SHELF_UNREADABLE),
        ('{"tools": {}}', C.SHELF_UNREADABLE),
        ('{"tools": null}', C.SHELF_UNREADABLE),
        ("[" * 100_000, C.SHELF_UNREADABLE),
        ("[" + "1" * 5_000 + "]", C.SHELF_UNREADABLE),
        (json.dumps([ENTRY] * 65), C.SHELF_UNREADABLE),
        (" " * (Limits().wasm_manifest_max_bytes + 1), C.SHELF_UNREADABLE),
    ],
    ids=range(11),
)
def test_a_manifest_that_is_none_refuses_the_whole_shelf(shelf: Shelf, text: str, code: C) -> None:
    (shelf.folder / "manifest.json").write_text(text)
    with pytest.raises(Refusal) as refused:
        read_manifest(shelf.folder, limits=LIMITS)
    assert refused.value.code is code
    assert len(refused.value.why) < 300


def test_bytes_that_are_no_text_are_no_manifest(shelf: Shelf) -> None:
    (shelf.folder / "manifest.json").write_bytes(b'{"tools": ["\xff"]}')
    with pytest.raises(Refusal, match="shelf-unreadable"):
        read_manifest(shelf.folder, limits=LIMITS)


def test_a_manifest_that_is_a_folder_or_a_fifo_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "one/manifest.json").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    os.mkfifo(tmp_path / "two/manifest.json")
    for folder in ("one", "two"):
        with pytest.raises(Refusal, match="shelf-unreadable"):
            read_manifest(tmp_path / folder, limits=LIMITS)


@pytest.mark.parametrize("document", [{}, {"tools": []}, []])
def test_a_manifest_without_entries_is_an_empty_shelf(shelf: Shelf, document: object) -> None:
    (shelf.folder / "manifest.json").write_text(json.dumps(document))
    assert read_manifest(shelf.folder, limits=LIMITS).entries == ()


@pytest.mark.parametrize("document", [ENTRY, [ENTRY], {"tools": [ENTRY]}])
def test_one_entry_can_stand_alone_in_a_list_or_under_tools(shelf: Shelf, document: object) -> None:
    (shelf.folder / "manifest.json").write_text(json.dumps(document))
    assert read_manifest(shelf.folder, limits=LIMITS).find("t").digest == DIGEST


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": None}, C.SHELF_ENTRY_INVALID),
        ({"id": 7}, C.SHELF_ENTRY_INVALID),
        ({"id": ""}, C.SHELF_ENTRY_INVALID),
        ({"id": "1st"}, C.SHELF_ENTRY_INVALID),
        ({"id": "a b"}, C.SHELF_ENTRY_INVALID),
        ({"id": "a\n"}, C.SHELF_ENTRY_INVALID),
        ({"id": "ü"}, C.SHELF_ENTRY_INVALID),
        ({"id": "x" * 65}, C.SHELF_ENTRY_INVALID),
        ({"id": "good"}, C.SHELF_ENTRY_INVALID),
        ({"wasm": None}, C.SHELF_ENTRY_INVALID),
        ({"wasm": 3}, C.SHELF_ENTRY_INVALID),
        ({"wasm": ["t.wasm"]}, C.SHELF_ENTRY_INVALID),
        ({"digest": None}, C.SHELF_ENTRY_INVALID),
        ({"digest": "0" * 63}, C.SHELF_ENTRY_INVALID),
        ({"digest": "g" * 64}, C.SHELF_ENTRY_INVALID),
        ({"digest": DIGEST + "\n"}, C.SHELF_ENTRY_INVALID),
        ({"description": 1}, C.SHELF_ENTRY_INVALID),
        ({"description": "x" * 1_025}, C.SHELF_ENTRY_INVALID),
        ({"description": "x" * 100_000}, C.SHELF_ENTRY_INVALID),
        ({"description": "\U0001f3bc" * 513}, C.SHELF_ENTRY_INVALID),
        ({"capability": "x" * 65}, C.SHELF_ENTRY_INVALID),
        ({"capability": []}, C.SHELF_ENTRY_INVALID),
        ({"abi": None}, C.SHELF_ENTRY_INVALID),
        ({"abi": "buffer-abi/2"}, C.UNSUPPORTED_ABI),
        ({"abi": "wasi/preview2"}, C.UNSUPPORTED_ABI),
        ({"wasm": ""}, C.WASM_UNREADABLE),
        ({"wasm": "."}, C.WASM_UNREADABLE),
        ({"wasm": "missing.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "../outside.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "folder/../good.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "ABSOLUTE"}, C.WASM_UNREADABLE),
        ({"wasm": "link.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "folder/out/outside.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "loop.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "folder"}, C.WASM_UNREADABLE),
        ({"wasm": "fifo.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "\0"}, C.WASM_UNREADABLE),
        ({"wasm": "\ud800.wasm"}, C.WASM_UNREADABLE),
        ({"wasm": "x" * 5_000}, C.WASM_UNREADABLE),
        ({"wasm": "large.wasm"}, C.MODULE_TOO_LARGE),
        ({"wasm": "good.wasm"}, C.DIGEST_MISMATCH),
        ({"wasm": "../../../../../../../../../../../dev/zero"}, C.WASM_UNREADABLE),
        ({"wasm": "/dev/zero"}, C.WASM_UNREADABLE),
    ],
    ids=lambda value: ascii(value)[:40] if isinstance(value, dict) else "",
)
def test_a_broken_entry_is_refused_alone(shelf: Shelf, change: dict[str, Any], code: C) -> None:
    shelf.put_shipped("hash")
    shelf.entries[0]["id"] = "good"
    (shelf.folder / "hash.wasm").rename(shelf.folder / "good.wasm")
    shelf.entries[0]["wasm"] = "good.wasm"
    _traps(shelf.folder)
    entry = ENTRY | change
    if entry["wasm"] == "ABSOLUTE":
        entry["wasm"] = str(shelf.folder / "good.wasm")
    shelf.entries += [entry, 7, None, []]
    shelf.write()
    good, bad, *no_entries = found(shelf)
    assert good.refusal is None
    assert bad.refusal is not None
    assert bad.refusal.code is code
    assert len(bad.description) <= 1_024
    assert [item.refusal.code for item in no_entries if item.refusal] == [C.SHELF_ENTRY_INVALID] * 3
    assert {item.id for item in no_entries} == {"(unnamed)"}


def _traps(folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder.parent / "outside.wasm").write_bytes((folder / "good.wasm").read_bytes())
    (folder / "link.wasm").symlink_to(folder.parent / "outside.wasm")
    (folder / "folder/out").symlink_to(folder.parent)
    (folder / "loop.wasm").symlink_to("loop.wasm")
    os.mkfifo(folder / "fifo.wasm")
    with (folder / "large.wasm").open("wb") as file:
        file.truncate(Limits().wasm_module_max_bytes + 1)


def test_a_link_that_stays_inside_and_a_subfolder_are_fine(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    (shelf.folder / "assets").mkdir()
    (shelf.folder / "hash.wasm").rename(shelf.folder / "assets/hash.wasm")
    (shelf.folder / "link.wasm").symlink_to("assets/hash.wasm")
    digest = shelf.entries[0]["digest"]
    shelf.entries[0]["wasm"] = "assets/hash.wasm"
    shelf.entries.append(ENTRY | {"wasm": "link.wasm", "digest": digest.upper()})
    shelf.write()
    assert refusals(shelf) == {"hash": None, "t": None}


def test_the_shelf_itself_may_be_behind_a_link(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put_shipped("hash")
    (tmp_path / "link").symlink_to(shelf.folder)
    seen = survey(tmp_path / "link", ledger=Ledger(None, limits=LIMITS), limits=LIMITS)
    assert [item.refusal for item in seen.items] == [None]


def test_words_of_an_entry_lose_their_control_characters(shelf: Shelf) -> None:
    shelf.entries += [
        ENTRY | {"description": "a\x1b[2Jb\u202ec\nd"},
        {"id": "\x1b[31mred", "digest": "\x07" * 99, "description": "\x00x"},
    ]
    shelf.write()
    first, second = found(shelf)
    assert first.description == "a [2Jb c d"
    assert (second.id, second.description, second.digest) == ("[31mred", "x", "")


def test_a_file_that_grows_while_it_is_read_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="zero"):
        read_inside(tmp_path, "zero", 10)
    (tmp_path / "ten").write_bytes(b"x" * 10)
    assert read_inside(tmp_path, "ten", 10) == b"x" * 10
    assert read_inside(tmp_path, "ten", 9) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
FIELDS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys((*ENTRY, "description", "capability"), JSON)
)


@given(st.lists(FIELDS | JSON, max_size=4) | JSON)
def test_any_json_is_a_manifest_or_is_refused(document: Any) -> None:
    tools, code = judged(lambda: list_tools(document))
    assert (tools is None) == (code is C.SHELF_UNREADABLE)
    for tool in tools or ():
        if isinstance(tool, dict):
            entry, code = judged(lambda tool=tool: check_entry(tool, limits=LIMITS))
            assert entry or code in (C.SHELF_ENTRY_INVALID, C.UNSUPPORTED_ABI)


def judged(check: Callable[[], Any]) -> tuple[Any, C | None]:
    try:
        return check(), None
    except Refusal as refusal:
        return None, refusal.code


def test_a_bad_entry_is_told_by_its_id_and_an_unknown_one_too(shelf: Shelf) -> None:
    shelf.entries.append(ENTRY | {"abi": "none"})
    shelf.write()
    manifest = read_manifest(shelf.folder, limits=LIMITS)
    assert isinstance(manifest.entries[0], BadEntry)
    with pytest.raises(Refusal, match="unsupported-abi"):
        manifest.find("t")
    with pytest.raises(Refusal, match="unknown-tool"):
        manifest.find("other")
