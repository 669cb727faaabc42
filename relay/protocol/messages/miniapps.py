"""Mini-apps on disk, as they are told: the record of one, and the news of them on /workspace."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from relay.protocol.messages.message import Ident, Message


class Artifact(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A mini-app or a page on disk; `html` only where it was asked for by its id."""

    app_id: Ident
    slug: str
    title: str
    file_name: Annotated[str, Meta(description="path inside its folder, with /")]
    kind: Literal["app", "page"]
    source: Literal["workspace", "host", "sandbox", "examples"]
    sandbox: Annotated[str, Meta(description="the sandbox's name")] | UnsetType = UNSET
    storage_path: Annotated[str, Meta(description="where the file lies on the relay's disk")]
    size_bytes: int
    created_at: str | UnsetType = UNSET
    updated_at: str
    html: str | UnsetType = UNSET


class LaunchApp(Message, frozen=True, kw_only=True):
    """Launch this app or page here; its html is had by its id."""

    mini_app: Artifact


class CloseApp(Message, frozen=True, kw_only=True):
    """Close the app, if it runs here."""

    app_id: Ident


class MiniApp(Message, frozen=True, kw_only=True):
    """A mini-app or page is new on disk (`created`), or another than before (`updated`)."""

    mini_app: Artifact
    created: bool
    updated: bool


class MiniAppDeleted(Message, frozen=True, kw_only=True):
    """A mini-app or page is gone from disk."""

    app_id: Ident


class MiniAppsChanged(Message, frozen=True, kw_only=True):
    """So many mini-apps and pages changed at once that the list is better read again."""

    count: int


class ConfirmDelete(Message, frozen=True, kw_only=True):
    """A model wants this deleted: only the person's click or spoken yes does it."""

    mini_app: Artifact


MiniAppNews = MiniApp | MiniAppDeleted | MiniAppsChanged
