"""The `voicebox` command: verbs, one file each; flags go over the environment into Settings.

A verb's file has `configure(commands)`, which adds its parser, and a `run(args)` that returns
the exit code. Errors are one clear line on stderr and exit code 1, never a traceback.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence

import relay
from relay.cli import apps, call, check, frames, say, serve, shelf, token, tools
from relay.cli.error import CommandError
from relay.protocol.refusals import Refusal
from relay.settings import SettingsError

_VERBS = (serve, say, call, tools, frames, apps, shelf, check, token)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb."""
    args = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of few letters is no error
            stream.reconfigure(errors="backslashreplace")
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output left, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Refusal as refusal:
        print(f"voicebox: refused ({refusal.code}): {refusal.why}", file=sys.stderr)
    except (SettingsError, CommandError) as error:
        print(f"voicebox: {error}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="voicebox",
        description="Live voice models act in sandboxed mini-apps and WebAssembly tools.",
    )
    parser.add_argument("--version", action="version", version=f"voicebox {relay.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for verb in _VERBS:
        verb.configure(commands)
    return parser
