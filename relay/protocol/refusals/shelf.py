"""Why the WebAssembly shelf refuses, and what to do about it."""

from relay.protocol.refusals.codes import RefusalCode as C
from relay.protocol.refusals.explained import Explained

EXPLAINED: dict[C, Explained] = {
    C.SHELF_UNAVAILABLE: Explained(
        "The shelf folder has no manifest.json.",
        "Point VOICEBOX_WASM_SHELF_DIR at a shelf, or unset it.",
        503,
    ),
    C.SHELF_UNREADABLE: Explained(
        "The shelf's manifest.json is not valid.",
        "Mend the manifest; the sentence says where it is wrong.",
        503,
    ),
    C.SHELF_ENTRY_INVALID: Explained(
        "An entry of the shelf's manifest.json is malformed, or its id is taken.",
        "Mend the entry; the sentence names the field.",
        422,
    ),
    C.WASM_UNREADABLE: Explained(
        "The module's file is missing or can't be read.",
        "Put the file back, inside the shelf folder.",
        503,
    ),
    C.DIGEST_MISMATCH: Explained(
        "The module's bytes are not the ones that the manifest pins.",
        "Restore the module, or say that the change was meant: voicebox shelf add or admit.",
        409,
    ),
    C.MODULE_TOO_LARGE: Explained(
        "The module is over 16 MiB.",
        "Build a smaller module.",
        413,
    ),
    C.WASM_INVALID: Explained(
        "The file is not a core WebAssembly module of version 1.",
        "Compile a plain core module without proposals that are off.",
        422,
    ),
    C.IMPORT_UNDECLARED: Explained(
        "The module imports something; shelf modules import nothing.",
        "Build without WASI and without host functions.",
        422,
    ),
    C.UNSUPPORTED_ABI: Explained(
        "The module's exports, memory or return value do not fit its declared ABI.",
        "Follow the tables of docs/reference/shelf-abis.md.",
        422,
    ),
    C.INPUT_TOO_LARGE: Explained(
        "The input is larger than the ABI's buffer.",
        "Send less input.",
        413,
    ),
    C.DIFF_FAILED: Explained(
        "The diff module reported a failure.",
        "Check the module.",
        502,
    ),
    C.WASM_TRAP: Explained(
        "The module trapped while it ran.",
        "Check the module; the sentence names the trap.",
        502,
    ),
    C.RESOURCE_EXCEEDED: Explained(
        "The module asked for more memory or output than it may have.",
        "Use less memory or write a shorter answer.",
        502,
    ),
    C.SANDBOX_VIOLATION: Explained(
        "The worker process did something that a module must not do, and was killed.",
        "Do not use this module.",
        502,
    ),
    C.WORKER_LOST: Explained(
        "The worker process ended without an answer.",
        "Call again; look at the log if it repeats.",
        502,
    ),
    C.SHELF_BUSY: Explained(
        "Too many shelf calls are waiting.",
        "Call again in a moment.",
        503,
    ),
}
