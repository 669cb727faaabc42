"""Each rule that can say no, by its name; and the refusal itself. Explains nothing."""

from enum import StrEnum


class RefusalCode(StrEnum):
    """A stable, kebab-case name for each rule that can say no."""

    # Declarations of tools
    INVALID_TOOL_DECLARATION = "invalid-tool-declaration"
    INVALID_TOOL_NAME = "invalid-tool-name"
    INVALID_TOOL_DESCRIPTION = "invalid-tool-description"
    INVALID_TOOL_PARAMETERS = "invalid-tool-parameters"
    TOO_MANY_TOOLS = "too-many-tools"
    # Arguments of calls
    MISSING_ARGUMENT = "missing-argument"
    INVALID_ARGUMENT = "invalid-argument"
    INVALID_ARGUMENT_TYPE = "invalid-argument-type"
    INVALID_ARGUMENT_ENUM = "invalid-argument-enum"
    INVALID_ARGUMENT_RANGE = "invalid-argument-range"
    INVALID_ARGUMENT_LENGTH = "invalid-argument-length"
    INVALID_ARGUMENT_BOUNDS = "invalid-argument-bounds"
    INVALID_TOOL_ARGUMENTS = "invalid-tool-arguments"
    # Calls
    UNKNOWN_TOOL = "unknown-tool"
    TOOL_WITHDRAWN = "tool-withdrawn"
    TIME_EXCEEDED = "time-exceeded"
    OUTPUT_OVER_BUDGET = "output-over-budget"
    RESULT_NOT_SERIALISABLE = "result-not-serialisable"
    MINI_APP_UNREACHABLE = "mini-app-unreachable"
    MINI_APP_TOOL_FAILED = "mini-app-tool-failed"
    CANCELLED = "cancelled"
    BUSY = "busy"
    # The WebAssembly shelf
    SHELF_UNAVAILABLE = "shelf-unavailable"
    SHELF_UNREADABLE = "shelf-unreadable"
    SHELF_ENTRY_INVALID = "shelf-entry-invalid"
    WASM_UNREADABLE = "wasm-unreadable"
    DIGEST_MISMATCH = "digest-mismatch"
    MODULE_TOO_LARGE = "module-too-large"
    WASM_INVALID = "wasm-invalid"
    IMPORT_UNDECLARED = "import-undeclared"
    UNSUPPORTED_ABI = "unsupported-abi"
    INPUT_TOO_LARGE = "input-too-large"
    DIFF_FAILED = "diff-failed"
    WASM_TRAP = "wasm-trap"
    RESOURCE_EXCEEDED = "resource-exceeded"
    SANDBOX_VIOLATION = "sandbox-violation"
    WORKER_LOST = "worker-lost"
    SHELF_BUSY = "shelf-busy"
    # Mini-apps on disk
    MINI_APP_NOT_FOUND = "mini-app-not-found"
    MINI_APP_NAME_TAKEN = "mini-app-name-taken"
    MINI_APP_NAME_INVALID = "mini-app-name-invalid"
    MINI_APP_TOO_LARGE = "mini-app-too-large"
    MINI_APP_READ_ONLY = "mini-app-read-only"
    MISSING_HTML = "missing-html"
    OUTSIDE_ROOT = "outside-root"
    DOTFILE_REFUSED = "dotfile-refused"
    STORE_UNAVAILABLE = "store-unavailable"
    # HTTP and sockets
    UNAUTHENTICATED_CALL = "unauthenticated-call"
    BEARER_REFUSED = "bearer-refused"
    HOST_REFUSED = "host-refused"
    ORIGIN_REFUSED = "origin-refused"
    UNSUPPORTED_CONTENT_TYPE = "unsupported-content-type"
    BODY_TOO_LARGE = "body-too-large"
    BAD_JSON = "bad-json"
    BAD_REQUEST = "bad-request"
    UNKNOWN_MESSAGE = "unknown-message"
    UNKNOWN_PROVIDER = "unknown-provider"
    PROVIDER_UNAVAILABLE = "provider-unavailable"
    RATE_LIMITED = "rate-limited"
    SERVER_FULL = "server-full"
    INTERNAL_ERROR = "internal-error"


class Refusal(Exception):  # noqa: N818 - a refusal is part of the protocol, not an error
    """A rule said no. Raised where the rule lives, caught at the borders only.

    `code` is stable and meant for programs; `why` is one sentence for people.
    """

    def __init__(self, code: RefusalCode, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code
        self.why = why

    def body(self) -> dict[str, object]:
        """The one shape in which a refusal leaves the relay, on HTTP and in results."""
        return {"ok": False, "refused": str(self.code), "why": self.why}
