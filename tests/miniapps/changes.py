"""Changes of mini-apps that tests interrupt at every step, and a process that is killed there.

As a program: `changes.py CHANGE FOLDER` copies FOLDER/before to FOLDER/1, FOLDER/2 … and makes
the change in each, killed with SIGKILL just before its first, second … step on the disk. The
last copy is the one in which the change was made whole; the program prints its number.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from relay.miniapps.catalog import Catalog
from relay.miniapps.disk import Disk
from relay.miniapps.places import Places
from relay.miniapps.store import Store
from relay.miniapps.target import Wish
from relay.protocol.limits import Limits

NEW = "<title>New</title>" + "n" * 5_000


class Change(NamedTuple):
    """What is there before, by a store and by hand, and what is then done."""

    prepare: Callable[[Store, Path], object]
    make: Callable[[Store], object]


def _app(store: Store, _: Path) -> object:
    return store.save(Wish(html="<title>Old</title>", title="Notes"))


def _page(_: Store, root: Path) -> None:
    (root / "workspace" / "notes.html").write_text("<title>Old</title>", encoding="utf-8")


def _on_shelf(store: Store, root: Path) -> None:
    _app(store, root)
    (root / "workspace" / "notes.html").unlink()


def _legacy(_: Store, root: Path) -> None:
    (root / "extensions" / "notes.html").write_text("<title>Old</title>", encoding="utf-8")


def _nothing(_: Store, __: Path) -> None: ...


def _save(**wish: str) -> Callable[[Store], object]:
    return lambda store: store.save(Wish(**{"html": NEW, **wish}))


CHANGES = {
    "create": Change(_nothing, _save(title="Notes")),
    "update": Change(_app, _save(title="Notes")),
    "rename": Change(_app, _save(html="<title>Old</title>", title="Renamed", app_id="app_notes")),
    "promote": Change(_page, _save(file_name="notes.html", html="<title>Old</title>")),
    "promote anew": Change(_page, _save(file_name="notes.html")),
    "update on the shelf": Change(_on_shelf, _save(app_id="app_notes")),
    "give a record": Change(_legacy, _save(file_name="notes.html")),
    "delete": Change(_app, lambda store: store.delete("app_notes")),
    "delete a page": Change(_page, lambda store: store.delete("page_notes")),
}


def catalog_of(root: Path) -> Catalog:
    places = Places(
        workspace=root / "workspace",
        shelf=root / "extensions",
        sandbox_homes=root / "none",
        examples=root / "none",
    )
    return Catalog(places=places, limits=Limits())


def store_of(root: Path, before: Callable[[str], None] = lambda _: None) -> Store:
    disk = Disk(before=before, sync=_no_power_is_lost)
    return Store(catalog=catalog_of(root), limits=Limits(), disk=disk)


def _no_power_is_lost(_: int) -> None:
    """A killed process loses nothing that was written."""


def prepare(change: Change, root: Path) -> None:
    for name in ("workspace", "extensions"):
        (root / name).mkdir(parents=True)
    change.prepare(store_of(root), root)


def at_step(number: int, then: Callable[[], None]) -> Callable[[str], None]:
    """A listener of a disk's steps that does `then` at the step of that number."""
    steps = iter(range(1, 1_000))

    def before(_: str) -> None:
        if next(steps) == number:
            then()

    return before


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _killed_copies(name: str, folder: Path) -> int:
    change = CHANGES[name]
    prepare(change, folder / "before")
    for number in range(1, 1_000):
        root = folder / str(number)
        shutil.copytree(folder / "before", root)
        child = os.fork()
        if child == 0:
            change.make(store_of(root, at_step(number, _die)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return number
    raise AssertionError(name)


if __name__ == "__main__":
    sys.stdout.write(f"{_killed_copies(sys.argv[1], Path(sys.argv[2]))}\n")
