"""voicebox apps: the mini-apps on disk. All but `where` ask the relay that is running."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from relay import assets
from relay.cli.connection import Connection, add_connection_flags
from relay.cli.error import CommandError
from relay.cli.show import printable
from relay.settings import mini_app_places, read_settings

_ROUTE = "/api/mini-apps"
Action = Callable[[Connection, argparse.Namespace], Coroutine[Any, Any, int]]


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb and its actions."""
    parser = commands.add_parser("apps", help="list, save, launch and delete mini-apps")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listed = _action(actions, "list", _list, "list the mini-apps and pages")
    listed.add_argument("--json", action="store_true", help="print the relay's answer as JSON")
    shown = _action(actions, "show", _show, "tell of one, or print its HTML")
    shown.add_argument("name", help="its id, file name or title")
    shown.add_argument("--html", action="store_true", help="print the HTML only")
    saved = _action(actions, "save", _save, "save an HTML file as a mini-app")
    saved.add_argument("file", type=Path, help="an HTML file")
    saved.add_argument("--title", help="what people call it (default: the document's title)")
    saved.add_argument("--as", dest="file_name", help="its file name (default: FILE's)")
    saved.add_argument("--id", dest="app_id", help="the app or page that it replaces")
    launched = _action(actions, "launch", _launch, "launch one in the room's page")
    launched.add_argument("name", help="its id, file name or title")
    deleted = _action(actions, "delete", _delete, "delete one for good")
    deleted.add_argument("name", help="its id, file name or title")
    deleted.add_argument("--yes", action="store_true", help="do not ask")
    where = actions.add_parser("where", help="print the folders that mini-apps lie in")
    where.set_defaults(run=_where)


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    action: Action,
    words: str,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=words)
    add_connection_flags(parser)
    parser.set_defaults(run=lambda args: asyncio.run(action(Connection(args), args)))
    return parser


async def _list(connection: Connection, args: argparse.Namespace) -> int:
    answer = await connection.ask("GET", _ROUTE)
    if args.json:
        print(json.dumps(answer, ensure_ascii=False))
        return 0
    for each in answer["miniApps"]:
        print(_line(each))
    if answer["truncated"]:
        print("(there are more than the relay lists)")
    return 0


async def _show(connection: Connection, args: argparse.Namespace) -> int:
    found = await _found(connection, args.name)
    html = found.pop("html")
    print(html if args.html else json.dumps(found, ensure_ascii=False, indent=2))
    return 0


async def _save(connection: Connection, args: argparse.Namespace) -> int:
    names = {"title": args.title, "appId": args.app_id}
    names["fileName"] = args.file_name or (None if args.app_id else args.file.name)
    try:
        html = await asyncio.to_thread(args.file.read_text, "utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{args.file} can't be read: {error}") from None
    body = {"html": html, **{name: value for name, value in names.items() if value}}
    answer = await connection.ask("POST", _ROUTE, body)
    print(("created  " if answer["created"] else "updated  ") + _line(answer["miniApp"]))
    return 0


async def _launch(connection: Connection, args: argparse.Namespace) -> int:
    call = {"name": "launch_mini_app", "args": {"name": args.name}, "room": connection.room}
    outcome = await connection.ask("POST", "/api/call", call)
    if not outcome["ok"]:
        raise CommandError(f"refused ({outcome['refused']}): {outcome['why']}")
    print(f"launched  {printable(outcome['result']['title'])}")
    return 0


async def _delete(connection: Connection, args: argparse.Namespace) -> int:
    found = await _found(connection, args.name)
    if not args.yes and not await asyncio.to_thread(_says_yes, found):
        print("nothing was deleted")
        return 1
    query = urlencode({"id": found["appId"]})
    answer = await connection.ask("DELETE", f"{_ROUTE}?{query}")
    print("deleted  " + _line(answer["miniApp"]))
    return 0


def _where(_: argparse.Namespace) -> int:
    places = mini_app_places(read_settings(os.environ), shipped=assets.MINI_APPS)
    print(f"workspace      {places.workspace}")
    print(f"saved apps     {places.shelf}")
    print(f"sandbox homes  {places.sandbox_homes}")
    print(f"shipped apps   {places.examples}")
    return 0


async def _found(connection: Connection, name: str) -> dict[str, Any]:
    answer = await connection.ask("GET", f"{_ROUTE}?{urlencode({'id': name})}")
    found: dict[str, Any] = answer["miniApp"]
    return found


def _line(artifact: dict[str, Any]) -> str:
    facts = f"({artifact['kind']}, {artifact['source']})"
    return printable(f"{artifact['appId']}  {facts}  {artifact['title']}  {artifact['fileName']}")


def _says_yes(artifact: dict[str, Any]) -> bool:
    if not sys.stdin.isatty():
        raise CommandError("say --yes to delete without being asked")
    question = f"Delete {_line(artifact)}? [y/N] "
    return input(question).strip().casefold() in ("y", "yes")
