"""Whatever lies on disk and whatever is asked: nobody's files change but those of the one meant."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from relay.miniapps.disk import Disk
from relay.miniapps.listing import Entry
from relay.miniapps.store import Store
from relay.miniapps.target import Wish
from relay.protocol.refusals import Refusal
from tests.miniapps.conftest import Folders, put

NAMES = st.sampled_from(["a.html", "A.html", "a b.html", "a-b.html", "app_a.html", "b.htm"])
FOLDERS = st.sampled_from(["", "sub/", "Sub/"])
TITLES = st.sampled_from(["a", "A", "a b", "B", "New"])
PATHS = st.builds(lambda folder, name: folder + name, FOLDERS, NAMES)
RECORDS = st.none() | st.fixed_dictionaries(
    {"title": TITLES}, optional={"workspacePath": PATHS, "appId": st.sampled_from(["app_a", "x"])}
)
DISKS = st.fixed_dictionaries(
    {
        "pages": st.sets(PATHS, max_size=5),
        "boxed": st.sets(NAMES, max_size=2),
        "apps": st.dictionaries(NAMES, RECORDS, max_size=4),
        "examples": st.sets(st.sampled_from(["a.html", "b.html"]), max_size=2),
    }
)
IDS = ["app_a", "page_a", "page_a-b", "sandbox:box:a.html"]
ASKED = st.sampled_from([*IDS, "a", "A", "a b", "a-b", "a.html", "sub/a.html", "b", "../a.html"])


@contextmanager
def disk(there: dict[str, Any]) -> Iterator[Folders]:
    with tempfile.TemporaryDirectory() as root:
        folders = Folders(Path(root))
        for path in there["pages"]:
            folders.page(path, f"<title>{path}</title>")
        for name in there["boxed"]:
            put(folders.sandboxes / "box" / name, name)
        for name in there["examples"]:
            put(folders.examples / name, name)
        for name, record in there["apps"].items():
            folders.shelf_app(name, **(record or {}))
        yield folders


def store_of(folders: Folders) -> Store:
    return folders.store(Disk(sync=lambda _: None))


def changed(folders: Folders, before: dict[str, bytes]) -> set[str]:
    after = folders.everything()
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def own_files(folders: Folders, entry: Entry) -> set[str]:
    own = {str(entry.root.joinpath(*entry.parts).relative_to(folders.root))}
    if entry.record is not None:
        shelf = folders.shelf.relative_to(folders.root)
        own |= {f"{shelf}/{entry.record.file_name}", f"{shelf}/{entry.record.slug}.meta.json"}
    return own


@settings(max_examples=30)
@given(DISKS)
def test_ids_are_unique_and_mean_their_own_entry(there: dict[str, Any]) -> None:
    with disk(there) as folders:
        listing = folders.look()
        ids = [entry.artifact.app_id for entry in listing.entries]
        assert len(set(ids)) == len(ids)
        for entry in listing.entries:
            assert listing.resolve(entry.artifact.app_id) is entry


@settings(max_examples=30)
@given(DISKS, ASKED)
def test_a_deletion_removes_what_is_owned_and_touches_nothing_else(
    there: dict[str, Any], name: str
) -> None:
    with disk(there) as folders:
        before, listing = folders.everything(), folders.look()
        try:
            store_of(folders).delete(name)
        except Refusal:
            assert changed(folders, before) == set()
            return
        entry = listing.resolve(name)
        assert entry.artifact.source != "examples"
        gone = changed(folders, before)
        assert gone <= own_files(folders, entry)
        assert not (folders.root / next(iter(gone))).exists()
        assert {e.artifact.storage_path for e in listing.entries} - {
            entry.artifact.storage_path
        } <= {e.artifact.storage_path for e in folders.look().entries}


@settings(max_examples=40)
@given(
    DISKS,
    st.fixed_dictionaries({}, optional={"title": TITLES, "file_name": NAMES, "app_id": ASKED}),
)
def test_a_save_writes_what_was_meant_and_touches_nothing_else(
    there: dict[str, Any], names: dict[str, str]
) -> None:
    with disk(there) as folders:
        before, listing = folders.everything(), folders.look()
        try:
            saved = store_of(folders).save(Wish(html="<p>saved</p>", **names))
        except Refusal:
            assert changed(folders, before) == set()
            return
        after = folders.look()
        entry = after.resolve(saved.artifact.app_id)
        written = changed(folders, before)
        assert written <= own_files(folders, entry)
        assert len({each.artifact.app_id for each in after.entries}) == len(after.entries)
        meant = listing.by_id(names.get("app_id", ""))
        for path in written & before.keys():
            owners = [e for e in listing.entries if path in own_files(folders, e)]
            for owner in owners:
                by_name = owner.base_name.casefold() == names.get("file_name", "").casefold()
                by_title = (
                    owner.is_app
                    and owner.artifact.title.casefold() == names.get("title", "").casefold()
                )
                assert owner is meant or by_name or by_title
