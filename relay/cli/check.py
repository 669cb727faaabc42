"""voicebox check FILE: what the relay would say to a tool declaration, or to a call's arguments.

Asks no relay. Every answer is one line of JSON: {ok: true, value} or {ok: false, refused, why}.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from relay.cli.error import CommandError
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools import json_text
from relay.tools.arguments import check_arguments, parse_arguments
from relay.tools.schema import admit_tool
from relay.tools.tool import ToolSpec


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("check", help="check a tool declaration, and a call of it")
    parser.add_argument("file", help="a JSON file with one declaration; - reads standard input")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--args", metavar="JSON", help="check these arguments of the tool instead")
    how.add_argument(
        "--jsonl",
        action="store_true",
        help='answer one line with each line: {"tool": …} or {"parameters": …, "args_json": "…"}',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the answer; exit 1 for a refusal. With --jsonl: exit 0 when every line is answered."""
    with _opened(args.file) as file:
        if not args.jsonl:
            return _tell(_checked(b"".join(_lines(file)), args.args))
        for line in _lines(file):
            if line.strip():
                _tell(_line(line))
    return 0


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = open(name, "rb")  # noqa: SIM115, PTH123 - it is closed below; `name` is a person's
    except (OSError, ValueError) as error:
        raise CommandError(f"can't read {name}: {error}") from None
    with file:
        yield file


def _lines(file: BinaryIO) -> Iterator[bytes]:
    try:
        yield from file
    except OSError as error:
        raise CommandError(f"can't read: {error}") from None


def _tell(answer: dict[str, Any]) -> int:
    print(json.dumps(answer), flush=True)
    return 0 if answer["ok"] else 1


def _checked(tool: bytes, args_text: str | None) -> dict[str, Any]:
    try:
        spec = admit_tool(tool)
        if args_text is None:
            return {"ok": True, "value": _normal_form(spec)}
        return {"ok": True, "value": check_arguments(spec, parse_arguments(args_text))}
    except Refusal as refusal:
        return refusal.body()


def _line(line: bytes) -> dict[str, Any]:
    try:
        return {"ok": True, "value": _answered(line)}
    except Refusal as refusal:
        return refusal.body()


def _answered(line: bytes) -> object:
    try:
        question = json_text.parse(line)
    except ValueError:
        raise Refusal(RefusalCode.BAD_JSON, "the line is not JSON") from None
    match question:
        case {"tool": tool}:
            return _normal_form(admit_tool(tool))
        case {"parameters": parameters, "args_json": str(args_text)}:
            spec = admit_tool({"name": "t", "description": "t", "parameters": parameters})
            return check_arguments(spec, parse_arguments(args_text))
        case _:
            why = 'a line is {"tool": …} or {"parameters": …, "args_json": "…"}'
            raise Refusal(RefusalCode.BAD_REQUEST, why)


def _normal_form(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
