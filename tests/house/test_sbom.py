import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Parts of the optional extra, loaded in the speech engine's process and by `voicebox say`
APART = {"espeakng-loader": "espeakng_loader", "soxr": "soxr"}
# Locked for other systems, so not installed here
ELSEWHERE = {"colorama", "httpx2-jsfetch", "pywin32", "winloop"}


@pytest.fixture(scope="module")
def components(root: Path) -> list[dict[str, Any]]:
    command = [sys.executable, str(root / "scripts/sbom.py")]
    done = subprocess.run(command, capture_output=True, check=True, timeout=30)
    document = json.loads(done.stdout)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    told: list[dict[str, Any]] = document["components"]
    return told


def test_the_bill_of_materials_is_the_lock_and_what_the_pages_bring_along(
    components: list[dict[str, Any]], root: Path
) -> None:
    lock = (root / "scripts/requirements/run.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE)
    vendored = [
        tuple(file.read_text(encoding="utf-8").split()[:2])
        for file in sorted(root.glob("static/vendor/*/VERSION"))
    ]
    assert vendored
    assert [(part["name"], part["version"]) for part in components] == pinned + vendored


def test_every_library_here_names_its_licence(components: list[dict[str, Any]]) -> None:
    assert {part["name"] for part in components if "licenses" not in part} <= ELSEWHERE


def test_no_library_of_the_relays_own_process_is_copyleft(components: list[dict[str, Any]]) -> None:
    licences = {
        part["name"]: part["licenses"][0]["license"]["name"]
        for part in components
        if "licenses" in part
    }
    assert {name for name, licence in licences.items() if "GPL" in licence} == set(APART)
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, relay.server.app; print(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    ).stdout.split()
    assert "aiohttp" in loaded
    assert not set(APART.values()) & set(loaded)
