"""Put a module on a shelf: the file beside the manifest, and an entry that pins its digest.

A person's act, from a terminal; the relay itself never writes to a shelf. Runs nothing.
"""

import json
from pathlib import Path
from typing import Any

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.files import replace_file
from relay.shelf.manifest import (
    MANIFEST,
    ShelfEntry,
    check_entry,
    digest_of,
    list_tools,
    read_document,
)
from relay.shelf.module import look


def shelve(
    folder: Path,
    module: bytes,
    facts: dict[str, str],
    *,
    replace: bool,
    limits: Limits,
) -> ShelfEntry:
    """Write `<id>.wasm` and its entry; make the shelf if there is none.

    `facts` are the entry's id, abi, description and capability. An id that is taken is
    refused unless it is to be replaced. Raises: Refusal, OSError.
    """
    fields = facts | {"wasm": f"{facts['id']}.wasm", "digest": digest_of(module)}
    entry = check_entry(fields, limits=limits)
    if len(module) > limits.wasm_module_max_bytes:
        raise Refusal(
            RefusalCode.MODULE_TOO_LARGE, f"it is over {limits.wasm_module_max_bytes} bytes"
        )
    look(module, abi=entry.abi, limits=limits)
    document = _document(folder, limits)
    _put(document["tools"], fields, replace=replace)
    folder.mkdir(parents=True, exist_ok=True)
    # Between the two writes the old digest refuses the new bytes, which is the safe way round.
    replace_file(folder / entry.wasm, module)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    replace_file(folder / MANIFEST, text.encode(errors="backslashreplace"))
    return entry


def _document(folder: Path, limits: Limits) -> dict[str, Any]:
    """Read the manifest as {tools: […]}, whichever of its three shapes it has."""
    try:
        document = read_document(folder, limits=limits)
    except Refusal as refusal:
        if refusal.code is RefusalCode.SHELF_UNAVAILABLE:
            return {"tools": []}
        raise
    rest = document if isinstance(document, dict) and "id" not in document else {}
    return rest | {"tools": list_tools(document)}


def _put(tools: list[Any], fields: dict[str, str], *, replace: bool) -> None:
    for place, tool in enumerate(tools):
        if isinstance(tool, dict) and tool.get("id") == fields["id"]:
            if not replace:
                raise Refusal(
                    RefusalCode.SHELF_ENTRY_INVALID, f"the shelf has a tool {fields['id']} already"
                )
            tools[place] = fields
            return
    tools.append(fields)
