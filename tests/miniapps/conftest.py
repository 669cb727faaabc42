"""Folders of mini-apps on a real disk, with what tests put there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relay.miniapps.artifact import Artifact
from relay.miniapps.catalog import Catalog
from relay.miniapps.disk import Disk
from relay.miniapps.listing import Listing
from relay.miniapps.places import Places
from relay.miniapps.store import Saved, Store
from relay.miniapps.target import Wish
from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal


class Folders:
    """Four folders, and a catalog and a store of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = root / "workspace"
        self.shelf = root / "extensions" / "mini-apps"
        self.sandboxes = root / "sandbox-homes"
        self.examples = root / "examples"
        for folder in (self.workspace, self.shelf, self.sandboxes, self.examples):
            folder.mkdir(parents=True, exist_ok=True)
        self.places = Places(
            workspace=self.workspace,
            shelf=self.shelf,
            sandbox_homes=self.sandboxes,
            examples=self.examples,
        )

    def catalog(self, **bounds: int) -> Catalog:
        return Catalog(places=self.places, limits=Limits(**bounds))

    def look(self, **bounds: int) -> Listing:
        return self.catalog(**bounds).look()

    def store(self, disk: Disk | None = None, **bounds: int) -> Store:
        return Store(catalog=self.catalog(**bounds), limits=Limits(**bounds), disk=disk)

    def save(self, html: str = "<title>New</title>", **names: str) -> Saved:
        return self.store().save(Wish(html=html, **names))

    def delete(self, name: str) -> Artifact:
        return self.store().delete(name)

    def page(self, path: str, html: str = "") -> Path:
        """Put a file into the workspace."""
        return put(self.workspace / path, html or f"<title>Page {path}</title>")

    def shelf_app(self, name: str, html: str = "", **record: Any) -> Path:
        """Put a file on the shelf, with a record if any of its facts are given."""
        slug = name.removesuffix(".html")
        if record:
            facts = {"appId": f"app_{slug}", "slug": slug, "fileName": name, **record}
            put(self.shelf / f"{slug}.meta.json", json.dumps(facts))
        return put(self.shelf / name, html or f"<title>App {name}</title>")

    def kinds(self) -> dict[str, str]:
        """Each id with its kind."""
        return {each.app_id: each.kind for each in self.look().artifacts}

    def find(self, name: str) -> str:
        """The id of what a name means."""
        return self.look().resolve(name).artifact.app_id

    def everything(self) -> dict[str, bytes]:
        """Each file below the root but the lock, with its bytes; links as where they lead."""
        return {
            str(file.relative_to(self.root)): (
                str(file.readlink()).encode() if file.is_symlink() else file.read_bytes()
            )
            for file in self.root.rglob("*")
            if (file.is_symlink() or file.is_file()) and file.name != ".voicebox-lock"
        }


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


Refused = Callable[..., Refusal]


@pytest.fixture
def refused() -> Refused:
    """Call something that must be refused; the refusal."""

    def call(function: Callable[..., object], *args: Any, **named: Any) -> Refusal:
        with pytest.raises(Refusal) as caught:
            function(*args, **named)
        return caught.value

    return call
