"""The project's own files, as the house tests read them."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {
    ".git",
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "htmlcov",
    "node_modules",
    "vendor",
}


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def own_files() -> list[Path]:
    """Return every file of the project that people wrote or that is generated and committed."""
    return sorted(_walk(ROOT))


def _walk(folder: Path) -> list[Path]:
    found: list[Path] = []
    for entry in folder.iterdir():
        if entry.name in NOT_OURS or entry.name.startswith(".coverage"):
            continue
        if entry.is_dir() and not entry.is_symlink():
            found += _walk(entry)
        elif entry.is_file():
            found.append(entry)
    return found
