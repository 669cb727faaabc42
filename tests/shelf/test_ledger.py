"""First digests are remembered by themselves, later ones only when a person says so."""

import json
from pathlib import Path

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal
from relay.protocol.refusals import RefusalCode as C
from relay.shelf.abi import DIGEST_ABI
from relay.shelf.ledger import Ledger
from relay.shelf.manifest import Digest, ShelfEntry

LIMITS = Limits()
ONE, TWO = Digest("1" * 64), Digest("2" * 64)


def entry(digest: Digest, tool_id: str = "t") -> ShelfEntry:
    return ShelfEntry(
        id=tool_id, wasm="t.wasm", digest=digest, description="", capability="", abi=DIGEST_ABI
    )


@pytest.fixture(params=["kept", "in memory"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "state" / "admitted.json" if request.param == "kept" else None


def test_a_changed_digest_is_refused_until_it_is_admitted(file: Path | None) -> None:
    ledger, folder = Ledger(file, limits=LIMITS), Path("shelf")
    ledger.check(folder, entry(ONE))
    ledger.check(folder, entry(ONE))
    with pytest.raises(Refusal) as refused:
        ledger.check(folder, entry(TWO))
    assert refused.value.code is C.DIGEST_MISMATCH
    assert ONE[:16] in refused.value.why
    assert TWO[:16] in refused.value.why
    assert ledger.admit(folder, entry(TWO)) == ONE
    ledger.check(folder, entry(TWO))
    with pytest.raises(Refusal):
        ledger.check(folder, entry(ONE))


def test_tools_and_folders_do_not_know_each_other(file: Path | None) -> None:
    ledger = Ledger(file, limits=LIMITS)
    ledger.check(Path("shelf"), entry(ONE))
    ledger.check(Path("other"), entry(TWO))
    ledger.check(Path("shelf"), entry(TWO, "u"))
    assert ledger.admit(Path("third"), entry(ONE)) is None


def test_what_one_process_admits_another_one_knows(tmp_path: Path) -> None:
    relay, person = (Ledger(tmp_path / "admitted.json", limits=LIMITS) for _ in range(2))
    relay.check(Path("shelf"), entry(ONE))
    assert person.admit(Path("shelf"), entry(TWO)) == ONE
    relay.check(Path("shelf"), entry(TWO))
    with pytest.raises(Refusal):
        relay.check(Path("shelf"), entry(ONE))


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    file = tmp_path / "state" / "admitted.json"
    Ledger(file, limits=LIMITS).check(tmp_path / "shelf", entry(ONE))
    assert json.loads(file.read_text()) == {str(tmp_path / "shelf"): {"t": ONE}}
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["admitted.json"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"shelf": 1}', '{"shelf": {"t": 1}}', "[" * 100_000, " " * 1_048_577]
)
def test_a_broken_file_refuses_instead_of_admitting_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "admitted.json").write_text(text)
    with pytest.raises(Refusal) as refused:
        Ledger(tmp_path / "admitted.json", limits=LIMITS).check(Path("shelf"), entry(ONE))
    assert refused.value.code is C.SHELF_UNREADABLE


def test_a_file_that_is_a_folder_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="shelf-unreadable"):
        Ledger(tmp_path, limits=LIMITS).check(Path("shelf"), entry(ONE))


def test_a_folder_that_can_not_be_written_leaves_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ledger = Ledger(tmp_path / "link" / "admitted.json", limits=LIMITS)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "deep")
    ledger.check(Path("shelf"), entry(ONE))
    with pytest.raises(Refusal, match="digest-mismatch"):
        ledger.check(Path("shelf"), entry(TWO))
