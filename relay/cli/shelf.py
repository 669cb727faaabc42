"""voicebox shelf: what is on the WebAssembly shelf, and what a person does with it.

Works on the shelf's folder itself, with no relay running; a running relay sees the changes.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relay import assets
from relay.cli.error import CommandError
from relay.cli.show import printable
from relay.logs import configure_logs
from relay.protocol.limits import LIMITS
from relay.protocol.refusals import Refusal, RefusalCode
from relay.settings import Settings, admitted_digests, read_settings, shelf_folder
from relay.shelf.abi import ABIS
from relay.shelf.host import ShelfHost
from relay.shelf.ledger import Ledger
from relay.shelf.manifest import read_manifest, read_module
from relay.shelf.shelve import shelve
from relay.tools.tool import CallId, ToolCall, Waiting

Answer = dict[str, Any]


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb and its own verbs."""
    shelf = commands.add_parser("shelf", help="see, check, call and change the WebAssembly shelf")
    verbs = shelf.add_subparsers(metavar="ACTION", required=True)

    def add(name: str, meaning: str) -> argparse.ArgumentParser:
        parser = verbs.add_parser(name, help=meaning)
        parser.add_argument("--json", action="store_true", help="print the answer as JSON")
        parser.set_defaults(run=run, action=name)
        return parser

    add("list", "list every entry, callable or refused")
    add("verify", "check every entry and compile it; exit 1 if one is refused")
    call = add("call", "run a tool in a fresh worker")
    call.add_argument("id", help="the tool's id")
    call.add_argument("input", nargs="*", help="its inputs in order; @FILE reads one, @- stdin")
    put = add("add", "put a module on the shelf and pin its digest")
    put.add_argument("file", type=Path, help="a WebAssembly module without imports")
    put.add_argument("--abi", required=True, choices=sorted(ABIS), help="its buffer ABI")
    put.add_argument("--description", required=True, help="what it does, for models and people")
    put.add_argument("--id", help="the tool's name (default: the file's)")
    put.add_argument("--capability", default="", help="one word for what it offers")
    put.add_argument("--replace", action="store_true", help="take the place of an older module")
    admit = add("admit", "accept the digest that the manifest pins now")
    admit.add_argument("id", help="the tool's id")
    add("dir", "print the shelf's folder")


def run(args: argparse.Namespace) -> int:
    """Do the action; exit 1 where something is refused."""
    settings = read_settings(os.environ)
    configure_logs(level="warning", as_json=settings.log_json)  # what is printed is the answer
    folder = shelf_folder(settings, shipped=assets.SHELF)
    try:
        answer, lines = _ACTIONS[args.action](args, settings, folder)
    except Refusal as refusal:
        if not args.json:
            raise
        answer, lines = refusal.body(), ()
    if args.json:
        print(json.dumps(answer, ensure_ascii=False))
    else:
        for line in lines:
            print(printable(line))
    return 0 if answer["ok"] else 1


Result = tuple[Answer, Sequence[str]]


def _list(_args: argparse.Namespace, settings: Settings, folder: Path) -> Result:
    status = asyncio.run(_host(settings, folder).status())
    return status, _lines(status)


def _verify(_args: argparse.Namespace, settings: Settings, folder: Path) -> Result:
    async def prove() -> Answer:
        host = _host(settings, folder)
        await host.start()
        try:
            return await host.prove()
        finally:
            await host.stop()

    status = asyncio.run(prove())
    every = status["ok"] and all(tool["ok"] for tool in status["tools"])
    return status | {"ok": every}, _lines(status)


def _call(args: argparse.Namespace, settings: Settings, folder: Path) -> Result:
    texts = [_text(given) for given in args.input]

    async def call() -> Answer:
        host = _host(settings, folder)
        await host.start()
        try:
            return await _run_once(host, args.id, texts)
        finally:
            await host.stop()

    answer = asyncio.run(call())
    return answer, [answer["output"]] if "output" in answer else _blocks(answer)


def _add(args: argparse.Namespace, settings: Settings, folder: Path) -> Result:
    if folder == assets.SHELF:
        raise CommandError(
            f"{folder} ships with the product; copy it and set VOICEBOX_WASM_SHELF_DIR to the copy"
        )
    facts = {
        "id": args.id or args.file.stem,
        "abi": args.abi,
        "description": args.description,
        "capability": args.capability,
    }
    try:
        module = args.file.read_bytes()
        entry = shelve(folder, module, facts, replace=args.replace, limits=LIMITS)
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}") from None
    _ledger(settings).admit(folder, entry)
    answer = {"ok": True, "id": entry.id, "digest": entry.digest, "dir": str(folder)}
    return answer, [f"{entry.id} is on the shelf, pinned as {entry.digest}"]


def _admit(args: argparse.Namespace, settings: Settings, folder: Path) -> Result:
    entry = read_manifest(folder, limits=LIMITS).find(args.id)
    read_module(folder, entry, limits=LIMITS)
    before = _ledger(settings).admit(folder, entry)
    answer = {"ok": True, "id": entry.id, "digest": entry.digest, "before": before}
    return answer, [f"{entry.id} is admitted as {entry.digest}"]


def _dir(_args: argparse.Namespace, _settings: Settings, folder: Path) -> Result:
    return {"ok": True, "dir": str(folder)}, [str(folder)]


_ACTIONS = {
    "list": _list,
    "verify": _verify,
    "call": _call,
    "add": _add,
    "admit": _admit,
    "dir": _dir,
}


def _host(settings: Settings, folder: Path) -> ShelfHost:
    return ShelfHost(folder=folder, limits=LIMITS, admitted=admitted_digests(settings))


def _ledger(settings: Settings) -> Ledger:
    return Ledger(admitted_digests(settings), limits=LIMITS)


async def _run_once(host: ShelfHost, tool_id: str, texts: Sequence[str]) -> Answer:
    """Call one tool as the relay would, with its inputs in the order of its ABI."""
    spec = next((spec for spec in host.specs() if spec.name == tool_id), None)
    if spec is None:
        refused = [tool for tool in (await host.status())["tools"] if tool["id"] == tool_id]
        raise Refusal(*_why_not(refused, tool_id))
    names = list(spec.parameters["properties"])
    if len(texts) != len(names):
        raise CommandError(f"{tool_id} takes {' and '.join(names)}, one argument each")
    args = dict(zip(names, texts, strict=True))
    call = ToolCall(call_id=CallId("call_shelf"), name=tool_id, args=args)
    answer: Answer = json.loads(await host.call(spec, call, args, Waiting()))
    return answer


def _why_not(refused: Sequence[Answer], tool_id: str) -> tuple[RefusalCode, str]:
    if not refused:
        return RefusalCode.UNKNOWN_TOOL, f"the shelf has no tool {tool_id}"
    return RefusalCode(refused[0]["refused"]), refused[0]["why"]


def _text(given: str) -> str:
    """An argument as it stands, or the text of the file that it names after an @."""
    if not given.startswith("@"):
        return given
    try:
        data = sys.stdin.buffer.read() if given == "@-" else Path(given[1:]).read_bytes()
        return data.decode()
    except OSError as error:
        raise CommandError(f"{given[1:]}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{given[1:]} is not UTF-8 text") from None


def _lines(status: Answer) -> list[str]:
    """One line a tool; the whole shelf's refusal stands first."""
    lines = [] if status["ok"] else [f"{status['refused']}: {status['why']}"]
    for tool in status["tools"]:
        state = "callable" if tool["ok"] else f"{tool['refused']}: {tool['why']}"
        lines.append(
            f"{tool['id']}  ({tool['abi'] or 'no ABI'}, {(tool['digest'] or '')[:12]})  {state}"
        )
    return lines or [f"no tools in {status['dir']}"]


def _blocks(answer: Answer) -> list[str]:
    lines = []
    for block in answer["blocks"]:
        a, b = (f"{side} {block[side + 'Line']}+{block[side + 'Count']}" for side in "ab")
        lines.append(f"{block['op']:6}  {a}  {b}")
    return lines
