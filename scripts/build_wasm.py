"""Compile WebAssembly text to the exact bytes that a shelf ships, and pin their digests.

    python scripts/build_wasm.py            compile each shelf/*.wat and write the digests
    python scripts/build_wasm.py --check    only say whether everything is up to date
    python scripts/build_wasm.py FILE.wat   compile one file beside itself

Names and other custom sections are dropped, which leaves the same bytes that wabt's
wat2wasm writes without debug names. Nothing is run.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import wasmtime

SHELF = Path(__file__).resolve().parent.parent / "shelf"
HEADER_BYTES = 8
CUSTOM = 0


def compile(wat: str) -> bytes:  # noqa: A001 - the name that build scripts expect
    """Return the module of a WebAssembly text. Raises: wasmtime.WasmtimeError."""
    return drop_custom_sections(bytes(wasmtime.wat2wasm(wat)))


def compile_file(path: str | Path) -> bytes:
    """Return the module of a .wat file; write nothing."""
    return compile(Path(path).read_text(encoding="utf-8"))


def drop_custom_sections(module: bytes) -> bytes:
    """Copy a module without its custom sections."""
    kept, at = bytearray(module[:HEADER_BYTES]), HEADER_BYTES
    while at < len(module):
        size, body = _unsigned(module, at + 1)
        if module[at] != CUSTOM:
            kept += module[at : body + size]
        at = body + size
    return bytes(kept)


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Read LEB128; return the number and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def build(folder: Path, *, write: bool) -> list[str]:
    """Bring modules and manifest up to date; return what was not."""
    stale = []
    for source in sorted(folder.glob("*.wat")):
        target, module = source.with_suffix(".wasm"), compile_file(source)
        if not target.exists() or target.read_bytes() != module:
            stale.append(target.name)
            if write:
                target.write_bytes(module)
        print(f"{target.name}: {len(module)} bytes, {hashlib.sha256(module).hexdigest()}")
    manifest = folder / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    pinned = _pinned(folder, text)
    if pinned != text:
        stale.append(manifest.name)
        if write:
            manifest.write_text(pinned, encoding="utf-8")
    return stale


def _pinned(folder: Path, text: str) -> str:
    """Write the digest of each file into its manifest entry."""
    manifest = json.loads(text)
    for tool in manifest["tools"]:
        module = (folder / tool["wasm"]).read_bytes()
        tool["digest"] = hashlib.sha256(module).hexdigest()
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Exit with 1 where --check finds something stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="one .wat file")
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    if arguments.file is not None:
        module = compile_file(arguments.file)
        arguments.file.with_suffix(".wasm").write_bytes(module)
        print(hashlib.sha256(module).hexdigest())
        return 0
    stale = build(SHELF, write=not arguments.check)
    for name in stale:
        print(f"{name} was not up to date", file=sys.stderr)
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
