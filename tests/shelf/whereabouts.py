"""Tells where a process of the worker side is. Started by the tests, as workers are."""

import json
import os
import sys
from pathlib import Path

import relay


def main() -> None:
    """Print it."""
    told = {
        "relay": relay.__file__,
        "environment": sorted(os.environ),
        "folder": str(Path.cwd()),
        "isolated": sys.flags.isolated,
        "arguments": sys.argv[1:],
        "leads": os.getsid(0) == os.getpid(),
    }
    sys.stdout.write(json.dumps(told))
