"""voicebox shelf: each action in words and as JSON, on a folder of the test's own."""

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from relay import assets
from relay.cli import shelf as verb
from relay.cli.error import CommandError
from relay.protocol.refusals import Refusal

HASH, DIFF = assets.SHELF / "hash.wasm", assets.SHELF / "diff.wasm"
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


class Terminal:
    """Runs `voicebox shelf …` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.folder = folder
        self._capsys = capsys

    def run(self, *words: str) -> tuple[int, str]:
        parser = argparse.ArgumentParser()
        verb.configure(parser.add_subparsers())
        args = parser.parse_args(["shelf", *words])
        self._capsys.readouterr()
        status = args.run(args)
        return status, self._capsys.readouterr().out

    def json(self, *words: str) -> tuple[int, Any]:
        status, text = self.run(*words, "--json")
        return status, json.loads(text)

    def add(self, file: Path = HASH, abi: str = "buffer-abi/1", *more: str) -> tuple[int, str]:
        return self.run("add", str(file), "--abi", abi, "--description", "It does it.", *more)


@pytest.fixture
def terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    monkeypatch.setenv("VOICEBOX_WASM_SHELF_DIR", str(tmp_path / "shelf"))
    monkeypatch.setenv("VOICEBOX_STATE_DIR", str(tmp_path / "state"))
    return Terminal(capsys, tmp_path / "shelf")


def test_dir_prints_the_folder(terminal: Terminal) -> None:
    assert terminal.run("dir") == (0, f"{terminal.folder}\n")
    assert terminal.json("dir") == (0, {"ok": True, "dir": str(terminal.folder)})


def test_a_tool_is_added_listed_verified_and_called(terminal: Terminal) -> None:
    status, text = terminal.add()
    assert status == 0
    assert "hash is on the shelf" in text
    assert "callable" in terminal.run("list")[1]
    status, answer = terminal.json("verify")
    assert (status, answer["ok"], answer["tools"][0]["description"]) == (0, True, "It does it.")
    assert terminal.run("call", "hash", "abc") == (0, ABC + "\n")
    status, answer = terminal.json("call", "hash", "abc")
    assert (status, answer["output"], answer["returned"]) == (0, ABC, 32)


def test_a_diff_is_printed_as_blocks(terminal: Terminal, tmp_path: Path) -> None:
    terminal.add(DIFF, "buffer-abi/diff", "--id", "compare", "--capability", "diff")
    (tmp_path / "old").write_text("same\nold\n")
    status, text = terminal.run("call", "compare", f"@{tmp_path}/old", "same\nnew\n")
    assert status == 0
    assert text.splitlines() == [
        "equal   a 0+1  b 0+1",
        "delete  a 1+1  b 0+0",
        "insert  a 0+0  b 1+1",
    ]


def test_an_input_may_come_from_standard_input(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.add()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"abc")))
    assert terminal.run("call", "hash", "@-")[1] == ABC + "\n"


def test_an_empty_shelf_says_so(terminal: Terminal) -> None:
    terminal.folder.mkdir()
    (terminal.folder / "manifest.json").write_text("[]")
    assert terminal.run("list") == (0, f"no tools in {terminal.folder}\n")


def test_a_missing_shelf_is_refused(terminal: Terminal) -> None:
    status, text = terminal.run("list")
    assert status == 1
    assert text.startswith("shelf-unavailable: ")
    assert terminal.json("verify")[1]["refused"] == "shelf-unavailable"


def test_a_changed_file_is_told_and_not_called(terminal: Terminal) -> None:
    terminal.add()
    file = terminal.folder / "hash.wasm"
    file.write_bytes(file.read_bytes() + b"\0\2\1x")
    assert "digest-mismatch" in terminal.run("list")[1]
    assert terminal.run("verify")[0] == 1
    status, answer = terminal.json("call", "hash", "abc")
    assert (status, answer["ok"], answer["refused"]) == (1, False, "digest-mismatch")
    with pytest.raises(Refusal, match="digest-mismatch"):
        terminal.run("admit", "hash")


def test_a_changed_manifest_is_admitted_by_name(terminal: Terminal) -> None:
    terminal.add()
    terminal.run("list")
    file, manifest = terminal.folder / "hash.wasm", terminal.folder / "manifest.json"
    before = json.loads(manifest.read_text())["tools"][0]["digest"]
    changed = file.read_bytes() + b"\0\2\1x"
    file.write_bytes(changed)
    from relay.shelf.manifest import digest_of

    manifest.write_text(manifest.read_text().replace(before, digest_of(changed)))
    assert terminal.json("list")[1]["tools"][0]["refused"] == "digest-mismatch"
    status, answer = terminal.json("admit", "hash")
    assert (status, answer["before"], answer["digest"]) == (0, before, digest_of(changed))
    assert terminal.run("call", "hash", "abc") == (0, ABC + "\n")
    assert "admitted as" in terminal.run("admit", "hash")[1]


def test_an_older_module_is_replaced_on_purpose_only(terminal: Terminal, tmp_path: Path) -> None:
    terminal.add()
    newer = tmp_path / "hash.wasm"
    newer.write_bytes(HASH.read_bytes() + b"\0\2\1x")
    with pytest.raises(Refusal, match="already"):
        terminal.add(newer)
    assert terminal.add(newer, "buffer-abi/1", "--replace")[0] == 0
    assert terminal.run("call", "hash", "abc") == (0, ABC + "\n")


def test_what_ships_with_the_product_is_not_changed(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEBOX_WASM_SHELF_DIR", str(assets.SHELF))
    with pytest.raises(CommandError, match="ships with the product"):
        terminal.add()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("call", "hash"), "takes input"),
        (("call", "hash", "a", "b"), "takes input"),
        (("call", "hash", "@/nonexistent"), "No such file"),
        (("call", "hash", f"@{HASH}"), "not UTF-8"),
        (("add", "/nonexistent", "--abi", "buffer-abi/1", "--description", ""), "No such file"),
    ],
)
def test_a_mistake_is_one_clear_line(terminal: Terminal, words: tuple[str, ...], told: str) -> None:
    terminal.add()
    with pytest.raises(CommandError, match=told):
        terminal.run(*words)


def test_a_tool_that_is_not_there_is_refused(terminal: Terminal) -> None:
    terminal.add()
    status, answer = terminal.json("call", "nope", "x")
    assert (status, answer["refused"]) == (1, "unknown-tool")
    assert terminal.json("admit", "nope")[1]["refused"] == "unknown-tool"


def test_words_of_a_manifest_can_not_drive_the_terminal(terminal: Terminal) -> None:
    terminal.folder.mkdir()
    (terminal.folder / "manifest.json").write_text('[{"id": "\\u001b[2J\\n"}]')
    assert "\x1b" not in terminal.run("list")[1]
