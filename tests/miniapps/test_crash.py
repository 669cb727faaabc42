"""A crash, or a full disk, at every step of a change: what is there is whole, old or new."""

import errno
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay.miniapps.store import Store
from relay.miniapps.target import Wish
from relay.protocol.refusals import Refusal, RefusalCode
from tests.miniapps.changes import CHANGES, at_step, catalog_of, prepare, store_of

Whole = tuple[str, str, str, str]
ROOT = Path(__file__).resolve().parents[2]


def seen(root: Path) -> set[Whole]:
    """Every artifact as (id, kind, title, html)."""
    catalog = catalog_of(root)
    return {
        (each.app_id, each.kind, each.title, str(catalog.read(each.app_id).html))
        for each in catalog.look().artifacts
    }


def before_and_after(change: str, root: Path) -> tuple[set[Whole], set[Whole]]:
    prepare(CHANGES[change], root)
    before = seen(root)
    CHANGES[change].make(store_of(root))
    return before, seen(root)


def leftovers(root: Path) -> list[str]:
    """Temporary files, and records that still speak of what they replace."""
    records = root.rglob("*.meta.json")
    begun = [file for file in records if "replaces" in json.loads(file.read_text("utf-8"))]
    return [file.name for file in (*root.rglob(".voicebox-*.tmp"), *begun)]


def copies_killed_at_each_step(change: str, folder: Path) -> Iterator[Path]:
    command = [sys.executable, "-m", "tests.miniapps.changes", change, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    steps = int(done.stdout)
    assert steps > 1
    yield from (folder / str(number) for number in range(1, steps + 1))


@pytest.mark.parametrize("change", CHANGES)
def test_a_kill_at_any_step_leaves_whole_artifacts_and_is_recovered(
    change: str, tmp_path: Path
) -> None:
    old, new = before_and_after(change, tmp_path / "expected")
    for root in copies_killed_at_each_step(change, tmp_path):
        assert seen(root) <= old | new, root.name
        store_of(root).recover()
        assert seen(root) in (old, new), root.name
        assert leftovers(root) == [], root.name
        assert store_of(root).save(Wish(html="later", file_name="notes.html"))
        assert "later" in {html for *_, html in seen(root)}
    assert seen(root) != old


@pytest.mark.parametrize("for_good", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_disk_that_fails_at_any_step_leaves_whole_artifacts(
    change: str, tmp_path: Path, *, for_good: bool
) -> None:
    old, new = before_and_after(change, tmp_path / "expected")
    for number in range(1, 1_000):
        root = tmp_path / str(number)
        prepare(CHANGES[change], root)
        disk = FullDisk(number, for_good=for_good)
        refusal = refusal_of(change, store_of(root, disk.before))
        assert (refusal is not None) == disk.failed
        if refusal is not None:
            assert refusal.code is RefusalCode.STORE_UNAVAILABLE
            assert "No space left" in refusal.why
        assert seen(root) <= old | new, number
        store_of(root).recover()
        assert seen(root) in (old, new), number
        assert leftovers(root) == []
        if not disk.failed:
            return


def refusal_of(change: str, store: Store) -> Refusal | None:
    try:
        CHANGES[change].make(store)
    except Refusal as refusal:
        return refusal
    return None


class FullDisk:
    """Fails at one step, or from there on."""

    def __init__(self, number: int, *, for_good: bool) -> None:
        self.failed = False
        self._for_good = for_good
        self._at_step = at_step(number, self._fail)

    def before(self, step: str) -> None:
        if self.failed and self._for_good:
            self._fail()
        self._at_step(step)

    def _fail(self) -> None:
        self.failed = True
        raise OSError(errno.ENOSPC, "No space left on device")


def test_the_next_save_needs_no_recovery_before_it(tmp_path: Path) -> None:
    for root in copies_killed_at_each_step("update", tmp_path):
        store_of(root).save(Wish(html="later", file_name="notes.html"))
        assert {html for *_, html in seen(root)} == {"later"}
        assert not [left for left in leftovers(root) if left.endswith(".json")]


def test_what_somebody_wrote_after_the_crash_is_kept(tmp_path: Path) -> None:
    for root in copies_killed_at_each_step("update", tmp_path):
        (root / "workspace" / "notes.html").write_text("by hand", encoding="utf-8")
        store_of(root).recover()
        assert (root / "workspace" / "notes.html").read_text(encoding="utf-8") == "by hand"
        assert leftovers(root) == []


def test_recovery_leaves_other_peoples_hidden_files_and_records_alone(tmp_path: Path) -> None:
    prepare(CHANGES["create"], tmp_path)
    kept = [tmp_path / "extensions" / name for name in (".a.tmp", "b.meta.json", ".voicebox-x")]
    for file in kept:
        file.write_text("{}", encoding="utf-8")
    store_of(tmp_path).recover()
    assert all(file.exists() for file in kept)
