"""voicebox call NAME JSON: run one tool of a room."""

import argparse
import asyncio
import json

from relay.cli.connection import Connection, add_connection_flags
from relay.cli.error import CommandError


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("call", help="run one tool")
    parser.add_argument("name", help="the tool's name, as `voicebox tools` prints it")
    parser.add_argument("args", nargs="?", default="{}", help="its arguments as a JSON object")
    add_connection_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the outcome as JSON; exit 1 for a refusal."""
    try:
        arguments = json.loads(args.args)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"the arguments are not JSON: {error}") from None
    connection = Connection(args)
    body = {"name": args.name, "args": arguments, "room": connection.room}
    outcome = asyncio.run(connection.ask("POST", "/api/call", body))
    print(json.dumps(outcome, ensure_ascii=False))
    return 0 if outcome.get("ok") else 1
