"""voicebox frames: follow a room's tool frames."""

import argparse
import asyncio

import aiohttp

from relay.cli.connection import Connection, add_connection_flags
from relay.cli.error import CommandError
from relay.cli.show import frame_line, printable
from relay.protocol import codec, messages


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("frames", help="follow tool calls as they happen")
    parser.add_argument("--last", type=int, default=0, help="begin with the last N frames")
    parser.add_argument("--json", action="store_true", help="one JSON line per message")
    add_connection_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Follow until the relay or the person ends it."""
    if not 0 <= args.last <= 1000:
        raise CommandError("--last must be from 0 to 1000")
    asyncio.run(_follow(Connection(args), args))
    return 0


async def _follow(connection: Connection, args: argparse.Namespace) -> None:
    async with connection.socket("/frames", last=args.last) as socket:
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
