"""The bridge's page and the two scripts in it, each joined from a module and all that it imports.

The page's own headers let it load nothing, so its scripts stand in it. Names of one script share
one scope: two modules of a script must not declare the same name.
"""

import json
import re
from pathlib import Path

_IMPORT = re.compile(r'^import [^;"]*"(\.{1,2}/[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:\{[^}]*\};?\n|(?=(?:async )?function|class|const))", re.MULTILINE)


def bridge_page(sandbox: Path) -> str:
    """The mediator page of the folder."""
    pieces = {
        "contract": _inline(joined(sandbox / "contract.js")),
        "bridge": _inline(joined(sandbox / "mini-app-bridge.js")),
        "sdk": _as_literal(sdk_script(sandbox)),
    }
    page = (sandbox / "mini-app-bridge.html").read_text("utf-8")
    for name, text in pieces.items():
        page = page.replace(f"/*{{{{{name}}}}}*/", text, 1)
    return page


def sdk_script(sandbox: Path) -> str:
    """The SDK as one classic script that leaves no name behind; the bridge fills `{{boot}}`."""
    text = joined(sandbox / "mini-app-sdk.js")
    return f'(() => {{\n"use strict";\n{text}startSdk("{{{{boot}}}}");\n}})();\n'


def joined(file: Path) -> str:
    """The text of a module after all that it imports, without import and export."""
    return _joined(file.resolve(), set())


def _joined(file: Path, seen: set[Path]) -> str:
    if file in seen:
        return ""
    seen.add(file)
    text = file.read_text("utf-8")
    imported = [_joined((file.parent / path).resolve(), seen) for path in _IMPORT.findall(text)]
    return "".join([*imported, _EXPORT.sub("", _IMPORT.sub("", text))])


def _inline(text: str) -> str:
    """Module text that does not end the script element it stands in."""
    return text.replace("</script", "<\\/script")


def _as_literal(text: str) -> str:
    """A JavaScript string literal that no HTML parser can leave."""
    return json.dumps(text).replace("<", "\\u003c")
