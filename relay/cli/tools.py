"""voicebox tools: what models can call in a room."""

import argparse
import asyncio
import json
from urllib.parse import quote

from relay.cli.connection import Connection, add_connection_flags
from relay.cli.show import printable


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("tools", help="list what models can call")
    parser.add_argument("--json", action="store_true", help="print the relay's answer as JSON")
    add_connection_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one line a tool."""
    connection = Connection(args)
    answer = asyncio.run(connection.ask("GET", f"/api/tools?room={quote(connection.room)}"))
    if args.json:
        print(json.dumps(answer, ensure_ascii=False))
        return 0
    for tool in answer["tools"]:
        where = tool.get("appId", tool["host"])
        print(printable(f"{tool['name']}  ({where})  {tool['description']}"))
    if not answer["tools"]:
        print("no tools: open the room's page and launch an app")
    return 0
