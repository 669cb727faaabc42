"""The guide's tool is built the three ways that the guide shows, and answers as it says."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from relay.protocol.limits import Limits
from relay.shelf.abi import DIGEST_ABI
from relay.shelf.engine import call, compile_module, instantiate, load_artefact, make_engine
from relay.shelf.module import look
from scripts.build_wasm import compile as compile_wat
from tests.shelf.shelves import SHIPPED

GUIDE = (SHIPPED.parent / "docs/how-to/write-a-shelf-tool.md").read_text(encoding="utf-8")
RUST = "/usr/bin/rustc"  # Debian's: rustup's has this target only where somebody added it


def block(language: str) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)[0]


def told_command(program: str) -> list[str]:
    found = re.search(rf"^\$ ({program} (?:.|\\\n)*?[^\\])$", GUIDE, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1].replace("\\\n", " "))


def folds_as_told(module: bytes) -> None:
    engine, limits = make_engine(), Limits()
    look(module, abi=DIGEST_ABI, limits=limits)
    told = re.search(r"^\$ voicebox shelf call fold (\w+)\n([0-9a-f]{64})$", GUIDE, re.MULTILINE)
    assert told is not None
    loaded = load_artefact(engine, compile_module(engine, module))
    instance = instantiate(engine, loaded, memory_bytes=limits.wasm_memory_max_bytes)
    returned, output = call(instance, DIGEST_ABI, [told[1].encode()])
    assert (returned, output.hex()) == (32, told[2])
    long = bytes(range(256)) * 32
    loaded_again = instantiate(engine, loaded, memory_bytes=limits.wasm_memory_max_bytes)
    assert call(loaded_again, DIGEST_ABI, [long])[1] == bytes(32)


def test_the_text_folds() -> None:
    folds_as_told(compile_wat(block("wat")))


@pytest.mark.skipif(
    shutil.which("clang") is None or shutil.which("wasm-ld") is None,
    reason="clang and lld are not installed",
)
def test_the_c_folds(tmp_path: Path) -> None:
    (tmp_path / "fold.c").write_text(block("c"))
    subprocess.run(told_command("clang"), cwd=tmp_path, check=True)
    folds_as_told((tmp_path / "fold.wasm").read_bytes())


@pytest.mark.skipif(
    not Path(RUST).exists() or shutil.which("wasm-ld") is None,
    reason="Debian's rustc with its WebAssembly library is not installed",
)
def test_the_rust_folds(tmp_path: Path) -> None:
    (tmp_path / "fold.rs").write_text(block("rust"))
    command = [RUST, *told_command("rustc")[1:]]
    built = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    if "can't find crate for" in built.stderr:
        pytest.skip("rustc has no library for WebAssembly: libstd-rust-dev-wasm32")
    assert built.returncode == 0, built.stderr
    folds_as_told((tmp_path / "fold.wasm").read_bytes())
