"""Saving and deleting by ownership: a test per sentence of the seed document's rules."""

import json
import os
from pathlib import Path

import pytest

from relay.miniapps.target import Wish
from relay.protocol.refusals import RefusalCode
from tests.miniapps.conftest import Folders, Refused, put
from tests.miniapps.test_names import CLIMBING

# ---- saving ---------------------------------------------------------------------------------


def test_a_new_app_is_on_the_shelf_with_its_record_and_in_the_workspace(folders: Folders) -> None:
    saved = folders.save("<title>Notes</title>", title="My notes")
    assert (saved.created, saved.updated) == (True, False)
    assert (saved.artifact.app_id, saved.artifact.kind) == ("app_my-notes", "app")
    assert (saved.artifact.title, saved.artifact.source) == ("My notes", "workspace")
    record = json.loads((folders.shelf / "my-notes.meta.json").read_text())
    assert record["appId"] == "app_my-notes"
    assert record["workspacePath"] == "my-notes.html"
    assert record["fileName"] == "my-notes.html"
    assert "replaces" not in record
    assert folders.everything().keys() == {
        "extensions/mini-apps/my-notes.html",
        "extensions/mini-apps/my-notes.meta.json",
        "workspace/my-notes.html",
    }


@pytest.mark.parametrize(
    ("names", "app_id"),
    [
        ({"file_name": "a.html", "title": "B", "app_id": "app_c"}, "app_a"),
        ({"title": "B", "app_id": "app_c"}, "app_b"),
        ({"app_id": "app_c"}, "app_c"),
        ({}, "app_own-title"),
    ],
)
def test_the_name_comes_from_file_name_title_id_and_html_in_this_order(
    folders: Folders, names: dict[str, str], app_id: str
) -> None:
    assert folders.save("<title>Own title</title>", **names).artifact.app_id == app_id


@pytest.mark.parametrize(
    "names", [{"app_id": "app_notes"}, {"file_name": "Notes.HTML"}, {"title": "NOTES"}]
)
def test_saving_again_keeps_id_slug_file_and_birthday(
    folders: Folders, names: dict[str, str]
) -> None:
    first = folders.save("one", title="Notes").artifact
    saved = folders.save("two", **names)
    assert (saved.created, saved.updated) == (False, True)
    again = saved.artifact
    assert (again.app_id, again.slug, again.file_name, again.created_at) == (
        first.app_id,
        first.slug,
        first.file_name,
        first.created_at,
    )
    assert len(folders.kinds()) == 1
    assert (folders.workspace / "notes.html").read_text() == "two"
    assert (folders.shelf / "notes.html").read_text() == "two"


def test_a_page_whose_name_is_free_is_promoted_under_the_canonical_id(folders: Folders) -> None:
    folders.page("sub/notes.html", "<title>Notes</title>")
    saved = folders.save("<title>Notes</title>", app_id="page_notes")
    assert (saved.created, saved.artifact.app_id) == (True, "app_notes")
    assert folders.kinds() == {"app_notes": "app"}
    assert saved.artifact.file_name == "sub/notes.html"
    assert json.loads((folders.shelf / "notes.meta.json").read_text())["workspacePath"] == (
        "sub/notes.html"
    )


def test_a_page_of_a_sandbox_becomes_an_app_on_the_shelf_and_stays_a_page(
    folders: Folders,
) -> None:
    put(folders.sandboxes / "box" / "tool.html", "<title>Tool</title>")
    saved = folders.save("<title>Tool</title>", app_id="sandbox:box:tool.html")
    assert (saved.artifact.app_id, saved.artifact.source) == ("app_tool", "host")
    assert folders.kinds() == {"app_tool": "app", "sandbox:box:tool.html": "page"}
    assert not (folders.workspace / "tool.html").exists()


def test_a_workspace_file_that_the_caller_names_wins_over_the_shelf(
    folders: Folders, refused: Refused
) -> None:
    folders.page("collision.html", "page")
    folders.shelf_app("collision.html", "app", title="The app")
    before = folders.everything()
    refusal = refused(folders.save, "new", file_name="collision.html")
    assert refusal.code is RefusalCode.MINI_APP_NAME_TAKEN
    assert "The app" in refusal.why
    assert "app_collision" in refusal.why
    assert folders.everything() == before


def test_an_app_named_by_its_id_is_saved_beside_the_page_of_the_same_name(
    folders: Folders,
) -> None:
    folders.page("collision.html", "page")
    folders.shelf_app("collision.html", "app", title="The app")
    saved = folders.save("new", app_id="app_collision")
    assert (saved.updated, saved.artifact.source) == (True, "host")
    assert (folders.workspace / "collision.html").read_text() == "page"
    assert (folders.shelf / "collision.html").read_text() == "new"


def test_a_copy_that_somebody_removed_comes_back_if_its_folder_is_there(folders: Folders) -> None:
    for path in ("notes.html", "sub/list.html"):
        folders.page(path)
        folders.save("app", app_id=f"page_{Path(path).stem}")
        (folders.workspace / path).unlink()
    (folders.workspace / "sub").rmdir()
    assert folders.save("new", app_id="app_notes").artifact.source == "workspace"
    assert folders.save("new", app_id="app_list").artifact.source == "host"
    assert not (folders.workspace / "sub").exists()


def test_a_file_on_the_shelf_without_a_record_gets_one(folders: Folders) -> None:
    folders.shelf_app("timer.html", "old")
    saved = folders.save("<title>Timer</title>", file_name="timer.html")
    assert (saved.updated, saved.artifact.app_id) == (True, "app_timer")
    assert (folders.shelf / "timer.meta.json").exists()
    assert not (folders.workspace / "timer.html").exists()


@pytest.mark.parametrize(
    "names",
    [{"file_name": "a-b.html"}, {"file_name": "A_B.html"}, {"title": "a b"}, {"app_id": "app_a-b"}],
)
def test_a_shelf_name_of_another_app_is_refused_and_nothing_written(
    folders: Folders, refused: Refused, names: dict[str, str]
) -> None:
    folders.save("one", file_name="a b.html", title="Owner")
    before = folders.everything()
    if names == {"app_id": "app_a-b"}:
        folders.page("a_b.html")
        before = folders.everything()
        names = {"app_id": "page_a-b"}
    refusal = refused(folders.save, "two", **names)
    assert refusal.code is RefusalCode.MINI_APP_NAME_TAKEN
    assert "Owner" in refusal.why
    assert folders.everything() == before


def test_a_page_that_the_caller_did_not_name_is_never_written_over(
    folders: Folders, refused: Refused
) -> None:
    folders.page("Notes.html", "mine")
    before = folders.everything()
    refusal = refused(folders.save, "theirs", title="Notes")
    assert refusal.code is RefusalCode.MINI_APP_NAME_TAKEN
    assert folders.everything() == before


def test_a_title_never_means_a_page(folders: Folders) -> None:
    folders.page("diary.html", "<title>Notes</title>")
    folders.save("new", title="Notes")
    assert (folders.workspace / "diary.html").read_text() == "<title>Notes</title>"


def test_a_file_that_the_catalogue_does_not_see_is_not_written_over(
    folders: Folders, refused: Refused
) -> None:
    big = folders.page("notes.html", "x" * 100)
    saver = folders.store(mini_app_max_bytes=50)
    refusal = refused(saver.save, Wish(html="new", file_name="notes.html"))
    assert refusal.code is RefusalCode.MINI_APP_NAME_TAKEN
    assert big.read_text() == "x" * 100


def test_a_shipped_app_can_be_saved_as_ones_own(folders: Folders) -> None:
    put(folders.examples / "scoreboard.html", "<title>Scoreboard</title>")
    saved = folders.save("mine", app_id="app_scoreboard", title="Scoreboard")
    assert saved.artifact.app_id == "app_scoreboard"
    assert saved.artifact.source == "workspace"
    assert (folders.examples / "scoreboard.html").read_text() == "<title>Scoreboard</title>"


@pytest.mark.parametrize("html", ["", "   ", "\n"])
def test_blank_html_is_missing(folders: Folders, refused: Refused, html: str) -> None:
    assert refused(folders.save, html, title="A").code is RefusalCode.MISSING_HTML
    assert folders.everything() == {}


def test_html_over_the_bound_is_too_large(folders: Folders, refused: Refused) -> None:
    store = folders.store(mini_app_max_bytes=6)
    assert store.save(Wish(html="äää", title="A")).created
    refusal = refused(store.save, Wish(html="ääää", title="B"))
    assert refusal.code is RefusalCode.MINI_APP_TOO_LARGE


def test_half_a_surrogate_pair_is_no_html(folders: Folders, refused: Refused) -> None:
    assert refused(folders.save, "\ud800", title="A").code is RefusalCode.BAD_REQUEST


@pytest.mark.parametrize("name", CLIMBING)
def test_a_climbing_name_is_outside_root_and_nothing_is_written(
    folders: Folders, refused: Refused, name: str
) -> None:
    folders.save("one", file_name="escape.html")
    before = folders.everything()
    for names in ({"file_name": name}, {"file_name": name, "app_id": "app_escape"}):
        assert refused(folders.save, "two", **names).code is RefusalCode.OUTSIDE_ROOT
    assert refused(folders.save, "two", app_id=name).code is RefusalCode.OUTSIDE_ROOT
    assert folders.everything() == before


def test_a_climbing_title_is_only_a_title(folders: Folders) -> None:
    saved = folders.save("one", title="../../etc/passwd")
    assert saved.artifact.file_name == "passwd.html"
    assert saved.artifact.title == "../../etc/passwd"


def test_titles_of_other_scripts_make_apps_of_their_own(folders: Folders) -> None:
    for title in ("計算機", "時計", "किताब", "🎲", "🎯"):
        folders.save(title, title=title)
    assert len(folders.kinds()) == 5


# ---- links ----------------------------------------------------------------------------------


def test_nothing_is_written_through_a_link(folders: Folders, refused: Refused) -> None:
    secret = put(folders.root / "secret" / "secret.html", "secret")
    (folders.workspace / "a.html").symlink_to(secret)
    (folders.shelf / "b.html").symlink_to(secret)
    (folders.shelf / "c.meta.json").symlink_to(secret)
    before = folders.everything()
    refused(folders.save, "new", file_name="a.html")
    for name in ("b", "c"):
        refusal = refused(folders.save, "new", file_name=f"{name}.html")
        assert refusal.code is RefusalCode.OUTSIDE_ROOT
    assert folders.everything() == before


def test_a_hard_link_is_replaced_not_written_through(folders: Folders) -> None:
    outside = put(folders.root / "outside.html", "outside")
    os.link(outside, folders.workspace / "a.html")
    folders.save("new", file_name="a.html")
    assert outside.read_text() == "outside"
    assert (folders.workspace / "a.html").read_text() == "new"


def test_a_folder_that_became_a_link_is_not_followed(folders: Folders, refused: Refused) -> None:
    folders.page("sub/a.html")
    folders.save("app", app_id="page_a")
    (folders.workspace / "sub").rename(folders.root / "moved")
    (folders.workspace / "sub").symlink_to(folders.root / "moved")
    assert refused(folders.save, "new", app_id="app_a").code is RefusalCode.OUTSIDE_ROOT
    assert (folders.root / "moved" / "a.html").read_text() == "app"


def test_a_workspace_may_itself_be_a_link(folders: Folders) -> None:
    folders.workspace.rename(folders.root / "elsewhere")
    folders.workspace.symlink_to(folders.root / "elsewhere")
    assert folders.save("app", title="Notes").artifact.source == "workspace"
    assert (folders.root / "elsewhere" / "notes.html").read_text() == "app"


# ---- deletion -------------------------------------------------------------------------------


def test_a_page_deletes_its_own_file_and_nothing_else(folders: Folders) -> None:
    folders.page("collision.html")
    folders.shelf_app("collision.html", title="The app")
    gone = folders.delete("page_collision")
    assert gone.app_id == "page_collision"
    assert folders.kinds() == {"app_collision": "app"}
    assert (folders.shelf / "collision.meta.json").exists()


def test_a_shelf_app_deletes_its_files_and_leaves_the_page_of_its_name(folders: Folders) -> None:
    page = folders.page("collision.html", "page")
    folders.shelf_app("collision.html", title="The app")
    gone = folders.delete("collision.html")
    assert gone.app_id == "app_collision"
    assert folders.everything() == {"workspace/collision.html": b"page"}
    assert page.read_text() == "page"


def test_a_legacy_app_without_a_record_owes_the_workspace_nothing(folders: Folders) -> None:
    folders.page("collision.html", "page")
    folders.shelf_app("collision.html", "page")
    folders.delete("app_collision")
    assert folders.everything() == {"workspace/collision.html": b"page"}


def test_a_proven_app_deletes_all_of_its_files(folders: Folders) -> None:
    folders.save("app", title="Notes")
    folders.page("sub/notes.html", "other")
    folders.delete("app_notes")
    assert folders.everything() == {"workspace/sub/notes.html": b"other"}


def test_a_page_of_a_sandbox_can_be_deleted(folders: Folders) -> None:
    put(folders.sandboxes / "box" / "a.html", "a")
    folders.shelf_app("a.html", title="A")
    folders.delete("sandbox:box:a.html")
    assert folders.kinds() == {"app_a": "app"}


def test_what_is_gone_can_not_be_deleted_again(folders: Folders, refused: Refused) -> None:
    folders.save("app", title="Notes")
    folders.delete("Notes")
    assert refused(folders.delete, "Notes").code is RefusalCode.MINI_APP_NOT_FOUND


def test_a_shipped_app_stays(folders: Folders, refused: Refused) -> None:
    put(folders.examples / "scoreboard.html", "hi")
    assert refused(folders.delete, "scoreboard").code is RefusalCode.MINI_APP_READ_ONLY
    folders.save("mine", title="Scoreboard")
    folders.delete("scoreboard")
    assert folders.kinds() == {"app_scoreboard": "app"}


def test_a_path_deletes_nothing_that_is_called_alike(folders: Folders, refused: Refused) -> None:
    folders.save("app", title="Notes")
    for name in CLIMBING[:6]:
        spelled = name.replace("escape", "notes")
        assert refused(folders.delete, spelled).code is RefusalCode.MINI_APP_NOT_FOUND


# ---- folders that can't be used -------------------------------------------------------------


def test_folders_are_made_where_they_are_missing(folders: Folders) -> None:
    folders.workspace.rmdir()
    folders.shelf.rmdir()
    assert folders.save("app", title="Notes").created


def test_a_shelf_that_is_no_folder_is_unavailable(folders: Folders, refused: Refused) -> None:
    folders.shelf.rmdir()
    folders.shelf.write_text("a file")
    for function, argument in ((folders.save, "html"), (folders.delete, "notes")):
        assert refused(function, argument).code is RefusalCode.STORE_UNAVAILABLE


def test_the_permissions_of_a_file_stay(folders: Folders) -> None:
    page = folders.page("notes.html")
    page.chmod(0o600)
    folders.save("app", file_name="notes.html")
    assert page.stat().st_mode & 0o777 == 0o600
