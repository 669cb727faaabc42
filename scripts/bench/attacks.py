#!/usr/bin/env python3
"""What each attack costs the room: its longest pause, and how soon the good app answers afterwards.

    .venv/bin/python scripts/bench/attacks.py [NAME ...]

Runs the cases of `tests/attacks/cases.py`, or those named, in Chromium; prints a row for each and
the worst. Exit code 1 if one was not contained or over its bound. A busy machine adds pauses of
its own.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.attack_lab.lab import Lab, Report
from tests.attacks.cases import CASES, Case

APPS = Path(__file__).resolve().parents[2] / "tests/attacks/apps"
GOOD_APP_MAX_MS = 1_000


def main() -> int:
    """Measure, print and judge."""
    wanted = set(sys.argv[1:])
    cases = [case for case in CASES if not wanted or case.app in wanted]
    failed = 0
    gaps, answers = [0.0], [0.0]
    with Lab() as lab:
        for case in cases:
            report = run(lab, case)
            problems = judged(case, report)
            failed += bool(problems)
            gaps.append(report.max_gap_ms)
            answers.append(report.good_app_ms)
            print(row(case, report, problems), flush=True)
    print(f"{len(cases)} cases, {failed} over a bound; longest pause {max(gaps):.0f} ms,")
    print(f"slowest answer of the good app {max(answers):.0f} ms")
    return 1 if failed else 0


def run(lab: Lab, case: Case) -> Report:
    """One case, as the tests run it."""
    html = (APPS / f"{case.app}.html").read_bytes()
    return lab.run(html, settle_ms=case.settle_ms, call=case.call, act=case.act)


def judged(case: Case, report: Report) -> list[str]:
    """What is not as it must be."""
    checks = {
        "not contained": not report.contained(),
        "pause": report.max_gap_ms > case.gap_max_ms,
        "good app": report.good_app_ms > GOOD_APP_MAX_MS,
    }
    return [name for name, wrong in checks.items() if wrong]


def row(case: Case, report: Report, problems: list[str]) -> str:
    """One line of the table."""
    tool = f" {case.call[0]}" if case.call and case.app == "bad-results" else ""
    return (
        f"{case.app + tool:<28}pause {report.max_gap_ms:>6.0f} of {case.gap_max_ms:.0f} ms   "
        f"good app {report.good_app_ms:>5.0f} ms   out {len(report.requests) + report.datagrams}"
        f"   {', '.join(problems) or 'ok'}"
    )


if __name__ == "__main__":
    sys.exit(main())
