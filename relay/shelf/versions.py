"""Which engine runs here: the binding's version and that of the library inside it.

They differ (a binding may bundle an older patch), and neither is imported to find out.
Blocking and slow the first time: call it from a thread.
"""

import functools
import mmap
import re
from importlib import metadata
from pathlib import Path

_INSIDE = re.compile(rb"\nversion: (\d+\.\d+\.\d+)\n")
_LIBRARY = re.compile(r"(lib|_)wasmtime\.(so|dylib|dll)$")


@functools.cache
def engine_versions() -> tuple[str, str]:
    """Return (engine, binding); "unknown" where it can't be found."""
    try:
        distribution = metadata.distribution("wasmtime")
    except metadata.PackageNotFoundError:
        return "unknown", "unknown"
    for file in distribution.files or ():
        if _LIBRARY.search(file.name):
            with (
                Path(str(file.locate())).open("rb") as library,
                mmap.mmap(library.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                found = _INSIDE.search(data)
                engine = found[1].decode() if found else "unknown"
            return engine, distribution.version
    return "unknown", distribution.version
