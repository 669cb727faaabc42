"""What a page with mini-apps and the relay say to each other on /workspace."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from relay.protocol.messages.frames import ToolFrame
from relay.protocol.messages.message import Ident, Json, Message, Milliseconds, Refused, Sentence
from relay.protocol.messages.miniapps import (
    CloseApp,
    ConfirmDelete,
    LaunchApp,
    MiniApp,
    MiniAppDeleted,
    MiniAppsChanged,
)

# ---- client to relay ------------------------------------------------------------


class RegisterTools(Message, frozen=True, kw_only=True):
    """An app's whole set of tools; it replaces what the app had before."""

    app_id: Ident
    title: Annotated[str, Meta(max_length=256)] = ""
    tools: Annotated[list[Json], Meta(max_length=1024)]


class AppClosed(Message, frozen=True, kw_only=True):
    """The app is gone; its tools leave the registry."""

    app_id: Ident


class ToolResult(Message, frozen=True, kw_only=True):
    """The answer to one `call_tool`: `result` when ok, else `refused` and `why`."""

    call_id: Ident
    ok: bool
    result: Json | UnsetType = UNSET
    refused: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    why: Sentence | UnsetType = UNSET


class AppState(Message, frozen=True, kw_only=True):
    """How the app is doing, as the page's watchdog sees it."""

    app_id: Ident
    state: Literal["running", "not-responding", "stopped"]


WorkspaceClientMessage = RegisterTools | AppClosed | ToolResult | AppState


# ---- relay to client ------------------------------------------------------------


class Welcome(Message, frozen=True, kw_only=True):
    """The page is attached; a reconnect sends the same `workspaceId` in its hello."""

    room: str
    workspace_id: Ident


class AcceptedTool(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool that was admitted, and the name under which models see it."""

    name: str
    exposed_name: str


class RejectedTool(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool that was refused; `name` is what it called itself, cut to 64 characters."""

    name: str
    refused: str
    why: str


class ToolsRegistered(Message, frozen=True, kw_only=True):
    """What became of a `register_tools`."""

    app_id: Ident
    accepted: list[AcceptedTool]
    rejected: list[RejectedTool]


class CallTool(Message, frozen=True, kw_only=True):
    """Run a tool of one of this page's apps; only this page can answer."""

    call_id: Ident
    app_id: Ident
    name: str
    args: Json
    deadline_ms: Milliseconds


class CancelTool(Message, frozen=True, kw_only=True):
    """The answer to this call is no longer wanted."""

    call_id: Ident
    reason: Sentence


WorkspaceServerMessage = (
    Welcome
    | ToolsRegistered
    | CallTool
    | CancelTool
    | LaunchApp
    | CloseApp
    | MiniApp
    | MiniAppDeleted
    | MiniAppsChanged
    | ConfirmDelete
    | ToolFrame
    | Refused
)
