"""Static files as they are sent: read once, compressed once, and known by their digest.

They hold no secret and nothing that a request said, so their compressed size tells nobody anything.
"""

import gzip
import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from aiohttp import hdrs, web

_LEVEL = 9
# A word of Accept-Encoding that takes gzip, and its weight
_GZIP = re.compile(
    r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?P<weight>[01](?:\.[0-9]{0,3})?)\s*)?(?:,|$)", re.ASCII
)
_INCOMPRESSIBLE = {".png", ".woff2", ".ico"}


class StaticFile(NamedTuple):
    """A file's bytes; `packed` are the same by gzip, where that is shorter."""

    body: bytes
    packed: bytes | None
    digest: str


class StaticFiles:
    """The files that were asked for; there are no more of them than the folder holds."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], StaticFile]] = {}

    def read(self, path: Path, seen: os.stat_result) -> StaticFile:
        """A plain file as it is now; blocks. Raises: OSError."""
        version = (seen.st_mtime_ns, seen.st_size)
        known = self._known.get(path)
        if known is not None and known[0] == version:
            return known[1]
        body = path.read_bytes()
        packed = None if path.suffix in _INCOMPRESSIBLE else gzip.compress(body, _LEVEL, mtime=0)
        if packed is not None and len(packed) >= len(body):
            packed = None
        file = StaticFile(body, packed, hashlib.sha256(body).hexdigest()[:32])
        self._known[path] = (version, file)
        return file


def answer(request: web.Request, file: StaticFile) -> web.Response:
    """The file, packed for whoever takes that; 304 for whoever has it."""
    packed = file.packed if takes_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, "")) else None
    etag = file.digest if packed is None else f"{file.digest}-gzip"
    if any(tag.value in {etag, "*"} for tag in request.if_none_match or ()):
        response = web.Response(status=304)
    elif packed is None:
        response = web.Response(body=file.body)
    else:
        response = web.Response(body=packed, headers={hdrs.CONTENT_ENCODING: "gzip"})
    response.etag = etag
    response.headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    return response


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header asks for gzip or for anything."""
    found = _GZIP.search(accepted.lower())
    return found is not None and float(found["weight"] or 1) > 0
