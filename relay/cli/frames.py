"""voicebox frames: follow a room's tool frames, as a live table or line by line.

A person at a terminal gets the table; a pipe or a file gets lines.
"""

import argparse
import asyncio
import os
import sys

import aiohttp

from relay.cli.connection import Connection, add_connection_flags
from relay.cli.error import CommandError
from relay.cli.show import frame_line, printable
from relay.protocol import codec, messages

_HISTORY_MAX = 1000


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("frames", help="follow tool calls as they happen")
    parser.add_argument(
        "--last",
        type=int,
        help=f"begin with the last N frames (default: {_HISTORY_MAX} in the table, 0 in lines)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON line per message")
    form.add_argument("--lines", action="store_true", help="one line per frame, on a terminal too")
    add_connection_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Follow until the relay or the person ends it."""
    if args.last is not None and not 0 <= args.last <= _HISTORY_MAX:
        raise CommandError(f"--last must be from 0 to {_HISTORY_MAX}")
    connection = Connection(args)
    if args.json or args.lines or not _can_draw():
        asyncio.run(_follow(connection, args))
        return 0
    from relay.cli.frames_watch import watch  # drawing tables is a library of its own

    watch(connection, last=_HISTORY_MAX if args.last is None else args.last)
    return 0


def _can_draw() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in {"", "dumb", "unknown"}


async def _follow(connection: Connection, args: argparse.Namespace) -> None:
    async with connection.socket("/frames", last=args.last or 0) as socket:
        async for message in socket:
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            told = codec.decode_frames_server(message.data)
            if isinstance(told, messages.Refused):
                raise CommandError(f"refused ({told.refused}): {printable(told.why)}")
            print(message.data if args.json else _line(told), flush=True)


def _line(told: messages.ToolFrame | messages.Dropped) -> str:
    if isinstance(told, messages.Dropped):
        return f"({told.count} frames were lost: this terminal was too slow)"
    return frame_line(told)
