import json
from pathlib import Path
from typing import Any

import pytest

from scripts import coverage_floors


def report(path: Path, **missing: list[int]) -> str:
    """A report of three files of ten lines and two branches each, with the given lines missing."""
    names = {"protocol": "relay/protocol/a.py", "tools": "relay/tools/b.py", "rest": "relay/c.py"}
    files: dict[str, Any] = {}
    for key, name in names.items():
        lines = missing.get(key, [])
        files[name] = {
            "summary": {
                "num_statements": 10,
                "covered_lines": 10 - len(lines),
                "num_branches": 2,
                "covered_branches": 2,
            },
            "missing_lines": lines,
            "missing_branches": [],
        }
    path.write_text(json.dumps({"files": files}), encoding="utf-8")
    return str(path)


def test_everything_covered_passes(tmp_path: Path) -> None:
    assert coverage_floors.main(report(tmp_path / "r.json")) == 0


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ({"protocol": [7]}, "relay/protocol/a.py: 7"),
        ({"tools": [3, 4]}, "relay/tools/b.py: 3, 4"),
        ({"rest": [1, 2, 3, 4]}, "relay/c.py: 1, 2, 3, 4"),
    ],
)
def test_a_missed_floor_fails_and_names_the_lines(
    missing: dict[str, list[int]], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert coverage_floors.main(report(tmp_path / "r.json", **missing)) == 1
    assert named in capsys.readouterr().out


def test_a_few_lines_outside_the_core_may_be_missed(tmp_path: Path) -> None:
    assert coverage_floors.main(report(tmp_path / "r.json", rest=[1, 2])) == 0


def test_an_empty_report_fails(tmp_path: Path) -> None:
    empty = tmp_path / "r.json"
    empty.write_text('{"files": {}}', encoding="utf-8")
    assert coverage_floors.main(str(empty)) == 1
