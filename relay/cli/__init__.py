"""The `voicebox` command: verbs, one file each; flags go over the environment into Settings.

A verb's file has `configure(commands)`, which adds its parser, and a `run(args)` that returns
the exit code. Errors are one clear line on stderr and exit code 1, never a traceback.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import relay
from relay.cli.error import CommandError
from relay.cli.show import printable
from relay.protocol.refusals import Refusal
from relay.settings import SettingsError

_VERBS = ("serve", "say", "call", "tools", "frames", "apps", "shelf", "check", "doctor", "token")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb."""
    given = sys.argv[1:] if argv is None else argv
    # one verb needs one module; `serve` alone needs the whole relay
    known = given[:1] if given and given[0] in _VERBS else _VERBS
    args = _parser(known).parse_args(given)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of few letters is no error
            stream.reconfigure(errors="backslashreplace")
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # nobody reads our output any more (`| head`), or it has no room
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"voicebox: {error.strerror or type(error).__name__}", file=sys.stderr)
    except Refusal as refusal:
        print(f"voicebox: refused ({refusal.code}): {printable(refusal.why)}", file=sys.stderr)
    except (SettingsError, CommandError) as error:
        print(f"voicebox: {error}", file=sys.stderr)
    return 1


def _parser(verbs: Sequence[str] = _VERBS) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="voicebox",
        description="Live voice models act in sandboxed mini-apps and WebAssembly tools.",
    )
    parser.add_argument("--version", action="version", version=f"voicebox {relay.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for verb in verbs:
        import_module(f"relay.cli.{verb}").configure(commands)
    return parser
