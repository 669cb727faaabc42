#!/usr/bin/env python3
"""Write what follows from `relay/protocol/`: browser types, limits, reference pages.

Declares nothing itself: a message, limit or refusal that is added in `relay/protocol/` appears
here by itself. With `--check` it only names the stale files and exits 1.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a file, only its own folder is there

from scripts.protocol_files import javascript, pages  # noqa: E402 - needs the line above

GENERATED: dict[str, Callable[[], str]] = {
    "static/protocol/messages.d.ts": javascript.types,
    "static/protocol/limits.js": javascript.limits,
    "docs/reference/messages.md": pages.messages_page,
    "docs/reference/limits.md": pages.limits_page,
    "docs/reference/refusals.md": pages.refusals_page,
}


def stale(root: Path = ROOT) -> list[str]:
    """Return the generated files under `root` that do not say what the source says."""
    return [
        name
        for name, make in GENERATED.items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != make()
    ]


def write(root: Path = ROOT) -> list[str]:
    """Write the stale files under `root` and return their names."""
    names = stale(root)
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(GENERATED[name](), encoding="utf-8")
    return names


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="name stale files, write nothing")
    if parser.parse_args().check:
        names = stale()
        for name in names:
            print(f"stale: {name} (run scripts/generate_protocol.py)")
        return 1 if names else 0
    for name in write():
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
