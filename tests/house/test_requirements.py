import json
import re
import tomllib
from pathlib import Path

import pytest

LOCKS = ["build.txt", "run.txt", "dev.txt"]
PIN = re.compile(
    r"^(?P<pin>(?P<name>[a-z0-9._-]+)==[^ ;\n]+(?: ; [^\n]+?)?)"
    r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n",
    re.MULTILINE,
)


def read(root: Path, lock: str) -> str:
    return (root / "scripts/requirements" / lock).read_text(encoding="utf-8")


def names(root: Path, lock: str) -> set[str]:
    return {match["name"] for match in PIN.finditer(read(root, lock))}


def pins(root: Path, lock: str) -> set[str]:
    """Return each pin with its condition: `a==1 ; python_version < '3.12'`."""
    return {match["pin"] for match in PIN.finditer(read(root, lock))}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pins_with_hashes_and_nothing_else(root: Path, lock: str) -> None:
    assert pins(root, lock)
    assert PIN.sub("", read(root, lock)) == ""


def test_tests_run_with_the_very_versions_that_people_run_with(root: Path) -> None:
    assert pins(root, "run.txt") <= pins(root, "dev.txt")


def test_what_the_product_declares_is_locked(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = {
        "run.txt": project["dependencies"] + extras["embedded"] + extras["fast"],
        "dev.txt": extras["dev"],
    }
    for lock, wanted in needed.items():
        asked = {re.split(r"[^A-Za-z0-9._-]", one)[0].lower() for one in wanted}
        assert asked <= names(root, lock), lock


def test_javascript_tools_are_locked_by_hash_and_name_no_registry(root: Path) -> None:
    lock = json.loads((root / "tests/js/package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    for name, entry in packages.items():
        assert entry["integrity"].startswith("sha512-"), name
        assert "resolved" not in entry, name
