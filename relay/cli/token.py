"""voicebox token: show or renew the relay's token."""

import argparse
import os

from relay.settings import load_token, read_settings, rotate_token


def configure(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = commands.add_parser("token", help="show or renew the token")
    parser.add_argument("action", choices=["show", "rotate"], nargs="?", default="show")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the token; after `rotate`, a running relay keeps the old one until SIGHUP."""
    settings = read_settings(os.environ)
    print(rotate_token(settings) if args.action == "rotate" else load_token(settings))
    return 0
