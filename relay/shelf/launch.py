"""Start a Python process of the worker side: isolated, without environment, in its own session."""

import asyncio
import asyncio.subprocess
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import relay

# -I leaves the project's folder out of the path. It is put behind the standard library and
# before installed packages, so that a worker runs the same code as its host.
_BOOTSTRAP = """
import sys
places = [place for place, entry in enumerate(sys.path) if entry.endswith("-packages")]
sys.path.insert(min(places, default=len(sys.path)), sys.argv.pop(1))
from {module} import main
main()
"""
_ROOT = Path(relay.__file__).parent.parent
# Windows needs to know where it lives; nothing else is handed down.
_KEPT_ENVIRONMENT = ("SYSTEMROOT",)


def command(module: str, arguments: Iterable[str]) -> list[str]:
    """Write the command that runs `module`'s main()."""
    code = _BOOTSTRAP.format(module=module)
    return [sys.executable, "-I", "-c", code, str(_ROOT), *arguments]


def surroundings() -> dict[str, Any]:
    """Give the keyword arguments of a process that inherits nothing."""
    return {
        "env": {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
        "start_new_session": True,
        "cwd": _ROOT.anchor,
    }


async def launch(
    module: str, arguments: Iterable[str], *, descriptors: tuple[int, ...]
) -> asyncio.subprocess.Process:
    """Run `module`'s main(), which has these descriptors and no other. Raises: OSError."""
    return await asyncio.create_subprocess_exec(
        *command(module, arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        pass_fds=descriptors,
        **surroundings(),
    )
