"""File names that people, models and records give: which ones may become a file. Pure.

A name is one plain part, never a path, and one that Windows and macOS can hold as well.
"""

import re
from unicodedata import category, normalize
from urllib.parse import unquote

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode

_HTML = re.compile(r"\.html?$", re.IGNORECASE)
_DRIVE = re.compile(r"^[a-z]:", re.IGNORECASE)
_RESERVED = re.compile(r"^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])$", re.IGNORECASE)
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")  # how Python spells a byte that is no UTF-8
_NOT_ON_WINDOWS = frozenset('<>:"|?*')
_DECODED_MAX = 8  # rounds of percent signs that hide percent signs


def check_file_name(name: str, *, limits: Limits) -> str:
    """The name as a file in one folder, `.html` appended where it has no such ending.

    Raises: Refusal `outside-root`, `dotfile-refused`, `mini-app-name-invalid`.
    """
    if leads_out(name):
        raise Refusal(RefusalCode.OUTSIDE_ROOT, "the file name must be plain, without folders")
    plain = normalize("NFC", name.strip())
    if plain.startswith("."):
        raise Refusal(RefusalCode.DOTFILE_REFUSED, "the file name begins with a dot")
    plain = plain if _HTML.search(plain) else f"{plain}.html"
    if len(plain.encode("utf-8", "replace")) > limits.mini_app_name_max_bytes:
        raise _invalid(f"it is over {limits.mini_app_name_max_bytes} bytes")
    if is_reserved(plain):
        raise _invalid("Windows keeps that name for a device")
    if any(c in _NOT_ON_WINDOWS or category(c)[0] == "C" for c in plain):
        raise _invalid('it holds a control character or one of <>:"|?*')
    if _HTML.sub("", plain)[-1:] in ("", ".", " "):
        raise _invalid("it ends in a dot or a space")
    return plain


def leads_out(name: str) -> bool:
    """Whether a name climbs, is absolute or holds folders, however it is spelled or encoded."""
    for _ in range(_DECODED_MAX):
        spelled = normalize("NFKC", name)
        if _is_path(name) or _is_path(spelled):
            return True
        plain = unquote(spelled)
        if plain == name:
            return False
        name = plain
    return True


def is_plain_part(part: str) -> bool:
    """Whether a part of a recorded path names just one entry of a folder, and no hidden one."""
    return bool(part) and not part.startswith(".") and not any(c in part for c in "/\\\0")


def is_seen(name: str) -> bool:
    """Whether an entry of a folder may be listed: not hidden, and a text that can be told."""
    return not name.startswith(".") and (name.isascii() or not _HALF_PAIR.search(name))


def is_reserved(name: str) -> bool:
    """Whether Windows keeps the name, with or without an extension, for a device."""
    return _RESERVED.match(name.partition(".")[0].strip()) is not None


def is_html(name: str) -> bool:
    """Whether a file's name says that it is a document."""
    return _HTML.search(name) is not None


def folded(name: str) -> str:
    """The name as a file system that ignores case sees it."""
    return normalize("NFC", normalize("NFC", name).casefold())


def _is_path(name: str) -> bool:
    stripped = name.strip().rstrip(". ")
    climbs = not stripped and bool(name.strip())
    return climbs or any(c in name for c in "/\\\0\ufffd") or _DRIVE.match(name.strip()) is not None


def _invalid(why: str) -> Refusal:
    return Refusal(RefusalCode.MINI_APP_NAME_INVALID, f"the file name can't be used: {why}")
