"""Which engine runs here, told without loading it."""

from importlib import metadata
from pathlib import Path

import pytest

from relay.shelf.versions import engine_versions


def test_engine_and_binding_are_told_apart() -> None:
    engine, binding = engine_versions()
    assert binding == metadata.version("wasmtime")
    assert engine.split(".")[0] == binding.split(".")[0]


@pytest.mark.parametrize("library", [None, b"no version in here"])
def test_an_engine_that_can_not_be_found_is_unknown(
    library: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "wasmtime-9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: wasmtime\nVersion: 9.0\n")
    record = "wasmtime/__init__.py,,\n"
    if library is not None:
        record += "wasmtime/_libwasmtime.so,,\n"
        (tmp_path / "wasmtime").mkdir()
        (tmp_path / "wasmtime/_libwasmtime.so").write_bytes(library)
    (folder / "RECORD").write_text(record)
    found = metadata.Distribution.at(folder)
    monkeypatch.setattr(metadata, "distribution", lambda name: found)
    engine_versions.cache_clear()
    assert engine_versions() == ("unknown", "9.0")
    engine_versions.cache_clear()


def test_without_the_binding_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    engine_versions.cache_clear()
    assert engine_versions() == ("unknown", "unknown")
    engine_versions.cache_clear()
