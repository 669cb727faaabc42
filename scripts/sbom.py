"""Write the software bill of materials: what an installed relay is made of.

    .venv/bin/python scripts/sbom.py > sbom.json

Reads the locked requirements, for licences the metadata of what is installed here, and the
libraries that the pages bring along. The same lock gives the same bytes.
Source: CycloneDX 1.6, JSON.
"""

import base64
import json
import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import relay  # noqa: E402 - it must be this checkout's

LOCK = ROOT / "scripts/requirements/run.txt"
VENDOR = ROOT / "static/vendor"
# Its metadata names none; the library inside is espeak-ng's
TOLD_ELSEWHERE = {"espeakng-loader": "GPL-3.0-or-later"}
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def main() -> int:
    """Print the document."""
    lock = LOCK.read_text(encoding="utf-8")
    components = [_component(*pinned) for pinned in PINNED.findall(lock)]
    components += [_vendored(version) for version in sorted(VENDOR.glob("*/VERSION"))]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "voicebox-relay",
                "version": relay.__version__,
                "licenses": [{"license": {"id": "MIT"}}],
                "bom-ref": "voicebox-relay",
            }
        },
        "components": components,
        "dependencies": [
            {"ref": "voicebox-relay", "dependsOn": [part["bom-ref"] for part in components]}
        ],
    }
    print(json.dumps(document, indent=2, ensure_ascii=False))
    return 0


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{version}"
    component: dict[str, Any] = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": purl,
        "bom-ref": purl,
    }
    licence = _licence(name)
    if licence is not None:
        component["licenses"] = [{"license": {"name": licence}}]
    return component


def _vendored(version: Path) -> dict[str, Any]:
    """What a VERSION file says: name and version, the licence, the digest of the npm package."""
    first, licence, digest, *_ = version.read_text(encoding="utf-8").splitlines()
    name, number = first.split()
    purl = f"pkg:npm/{name}@{number}"
    sha512 = base64.b64decode(digest.removeprefix("sha512-"), validate=True)
    return {
        "type": "library",
        "name": name,
        "version": number,
        "purl": purl,
        "bom-ref": purl,
        "hashes": [{"alg": "SHA-512", "content": sha512.hex()}],
        "licenses": [{"license": {"name": licence}}],
    }


def _licence(name: str) -> str | None:
    """What the package says of itself: the expression, else its short text or classifier."""
    if name in TOLD_ELSEWHERE:
        return TOLD_ELSEWHERE[name]
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return None
    text = told.get("License-Expression") or told.get("License") or ""
    if text and "\n" not in text:
        return text
    classifiers = [c for c in told.get_all("Classifier") or [] if c.startswith("License ::")]
    return classifiers[0].rpartition(" :: ")[2] if classifiers else None


if __name__ == "__main__":
    sys.exit(main())
