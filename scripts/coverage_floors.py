#!/usr/bin/env python3
"""Compare a coverage report with the floors of the house. Usage: coverage_floors.py REPORT.json.

Measures nothing itself. Floors only go up; branches count.
"""

import json
import sys
from pathlib import Path
from typing import Any

FLOORS = {"relay/protocol/": 100.0, "relay/tools/": 100.0, "relay/": 90.0}


def percent(files: dict[str, Any], folder: str) -> float:
    """Return the share of lines and branches under `folder` that ran, in percent."""
    summaries = [file["summary"] for name, file in files.items() if name.startswith(folder)]
    there = sum(s["num_statements"] + s["num_branches"] for s in summaries)
    ran = sum(s["covered_lines"] + s["covered_branches"] for s in summaries)
    return 100.0 * ran / there if there else 0.0


def gaps(files: dict[str, Any], folder: str) -> list[str]:
    """Name what did not run under `folder`, one file a line."""
    found = []
    for name, file in sorted(files.items()):
        branches = [f"{start}->{end}" for start, end in file["missing_branches"]]
        missing = [*map(str, file["missing_lines"]), *branches]
        if name.startswith(folder) and missing:
            found.append(f"  {name}: {', '.join(missing)}")
    return found


def main(report: str) -> int:
    """Print each floor beside what was reached; 1 when one was missed."""
    files = json.loads(Path(report).read_text(encoding="utf-8"))["files"]
    missed = 0
    for folder, floor in FLOORS.items():
        reached = percent(files, folder)
        print(f"{folder:<17} {reached:6.2f} % of lines and branches (floor {floor:g} %)")
        if reached < floor:
            missed = 1
            print("\n".join(gaps(files, folder)))
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
