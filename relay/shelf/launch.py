"""Start a Python process of the worker side: isolated, without environment, in its own session."""

import asyncio
import asyncio.subprocess
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import relay

# -I leaves the project's folder out of the path; it is added behind the installed packages.
_BOOTSTRAP = "import sys; sys.path.append(sys.argv.pop(1)); from {module} import main; main()"
_ROOT = Path(relay.__file__).parent.parent
# Windows needs to know where it lives; nothing else is handed down.
_KEPT_ENVIRONMENT = ("SYSTEMROOT",)


async def launch(
    module: str,
    arguments: Iterable[str],
    *,
    pipes: bool = False,
    descriptors: tuple[int, ...] = (),
) -> asyncio.subprocess.Process:
    """Run `module`'s main(). Raises: OSError."""
    stream = asyncio.subprocess.PIPE if pipes else asyncio.subprocess.DEVNULL
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-c",
        _BOOTSTRAP.format(module=module),
        str(_ROOT),
        *arguments,
        stdin=stream,
        stdout=stream,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
        pass_fds=descriptors,
        start_new_session=True,
        cwd=_ROOT.anchor,
    )
