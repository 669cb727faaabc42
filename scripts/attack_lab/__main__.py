"""`scripts/attack`: one file against the product, and what came of it."""

import argparse
import json
import sys
from pathlib import Path

from scripts.attack_lab.devtools import DevtoolsError
from scripts.attack_lab.lab import Lab, Report


def main() -> int:
    """Run one file; exit 0 when it was contained, 1 when not, 2 when it could not be run."""
    args = _parser().parse_args()
    try:
        html = (args.folder / args.file).read_bytes()
        call = (args.tool, json.loads(args.args)) if args.tool else None
        with Lab() as lab:
            report = lab.run(html, settle_ms=args.wait * 1000, call=call)
    except (OSError, ValueError, RuntimeError, TimeoutError, DevtoolsError) as error:
        print(f"attack: {error}", file=sys.stderr)
        return 2
    if args.json:
        told = report.as_json()
        if call is None:
            del told["result"]
        print(json.dumps(told))
    else:
        _print(report)
    return 0 if report.contained() else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__)
    parser.add_argument("file", type=Path, help="an HTML file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--tool", help="also call this tool of the app")
    parser.add_argument("--args", default="{}", help="the tool's arguments as JSON")
    parser.add_argument("--wait", type=float, default=3.0, help="seconds that it may run (3)")
    parser.add_argument("--folder", type=Path, default=Path(), help=argparse.SUPPRESS)
    return parser


def _print(report: Report) -> None:
    escaped = {
        "requests": report.requests,
        "datagrams": report.datagrams,
        "dialogs": report.dialogs,
        "popups": report.popups,
        "downloads": report.downloads,
    }
    print("CONTAINED" if report.contained() else "NOT CONTAINED")
    for name, seen in escaped.items():
        print(f"  {name:<22}{seen or 'none'}")
    print(f"  {'the app':<22}{report.app_state or 'gone'}, tools: {report.tools or 'none'}")
    print(f"  {'the room':<22}{'in place' if report.room_url_unchanged else 'led elsewhere'}")
    answered = f"answered in {report.good_app_ms:.0f} ms"
    print(f"  {'the good app':<22}{answered if report.good_app_answered else 'did not answer'}")
    print(f"  {'longest pause':<22}{report.max_gap_ms:.0f} ms")
    for toast in report.toasts:
        print(f"  {'notice':<22}{toast}")
    if report.result is not None:
        print(f"  {'result':<22}{json.dumps(report.result)}")


if __name__ == "__main__":
    sys.exit(main())
