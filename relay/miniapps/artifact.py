"""What a mini-app on disk is called: its kind, its slug, its ids, its title. Pure.

The record itself is `relay.protocol.messages.Artifact`. A slug keeps letters of every script, so
that titles that differ stay apart; it is always a file name that every system can hold.
"""

import hashlib
import re
from html import unescape
from unicodedata import category, normalize

from relay.miniapps.names import folded, is_reserved
from relay.protocol.messages import Artifact
from relay.tools.tool import AppId

__all__ = ["Artifact", "app_id", "clean_title", "page_id", "sandbox_id", "slug_of", "title_of"]

HEAD_BYTES = 65_536  # a document's title stands in here, or it has none
_SLUG_MAX_BYTES = 96
_ID_MAX_CHARS = 128
_TITLE = re.compile(r"<title[^>]*>(.*?)</title\s*>", re.IGNORECASE | re.DOTALL)
_EXTENSION = re.compile(r"\.html?$", re.IGNORECASE)
_PREFIX = re.compile(r"^app[_-](?=.)", re.IGNORECASE)
_JOINERS = "\u200c\u200d"  # they shape letters and emoji, and turn no text around


def slug_of(name: str) -> str:
    """A file name, title or id as an id part: letters and digits of any script, joined by `-`.

    Source: facts of the original's store, widened to all scripts.
    """
    stem = _stem(name)
    text = normalize("NFKC", normalize("NFKC", stem).casefold())
    marked = "".join(c if category(c)[0] in "LMN" else "-" for c in text)
    slug = re.sub("-+", "-", marked).strip("-")
    if not slug:
        return f"mini-app-{_short_digest(text)}" if text.strip() else "mini-app"
    if len(slug.encode()) > _SLUG_MAX_BYTES:
        cut = slug.encode()[: _SLUG_MAX_BYTES - 9].decode("utf-8", "ignore").rstrip("-")
        return f"{cut}-{_short_digest(slug)}"
    return f"{slug}-app" if is_reserved(slug) else slug


def app_id(slug: str) -> AppId:
    """The id of an app."""
    return AppId(f"app_{slug}")


def page_id(slug: str) -> AppId:
    """The id of a page: an id space of its own."""
    return AppId(f"page_{slug}")


def sandbox_id(sandbox: str, path: str) -> AppId:
    """The id of a page in a sandbox: where it lies, cut to the length of an id."""
    whole = f"sandbox:{sandbox}:{path}"
    if len(whole) <= _ID_MAX_CHARS:
        return AppId(whole)
    return AppId(f"{whole[: _ID_MAX_CHARS - 9]}-{_short_digest(whole)}")


def apart(slug: str, path: str) -> str:
    """The slug of a file whose plain slug another file has."""
    return f"{slug}-{_short_digest(path)}"


def title_of(head: str) -> str:
    """The title that a document gives itself in its first 64 KiB, uncut; empty without one."""
    found = _TITLE.search(head[:HEAD_BYTES])
    return unescape(found[1]) if found else ""


def title_of_file(file_name: str) -> str:
    """A file name in words: `app_score-board.html` is `Score Board`."""
    words = re.split(r"[-_.\s]+", _stem(file_name))
    return " ".join(word[:1].upper() + word[1:] for word in words if word) or file_name


def clean_title(text: str, *, max_chars: int) -> str:
    """One line without control and bidirectional characters, cut to `max_chars`."""
    kept = "".join(
        " " if c.isspace() or category(c) in ("Zl", "Zp") else c
        for c in text
        if c.isspace() or c in _JOINERS or category(c)[0] != "C"
    )
    return " ".join(kept.split())[:max_chars].strip()


def same_title(one: str, other: str) -> bool:
    """Whether two titles read the same, whatever their case."""
    return folded(one) == folded(other)


def _stem(name: str) -> str:
    """The base name without its extension and without an `app_` before it."""
    if name.startswith("sandbox:"):
        name = name.rpartition(":")[2]
    base = re.split(r"[/\\]", name)[-1]
    return _PREFIX.sub("", _EXTENSION.sub("", base))


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
