"""Classification, proof, identity and lookup: a test per sentence of the seed document."""

import os
from pathlib import Path

import msgspec
import pytest

from relay.miniapps.catalog import Catalog
from relay.protocol.limits import Limits
from relay.protocol.refusals import RefusalCode
from tests.miniapps.conftest import Folders, Refused, put

# ---- classification -------------------------------------------------------------------------


def test_a_file_on_the_shelf_is_an_app(folders: Folders) -> None:
    folders.shelf_app("timer.html")
    assert folders.kinds() == {"app_timer": "app"}


def test_a_file_in_a_sandbox_is_a_page(folders: Folders) -> None:
    put(folders.sandboxes / "box" / "index.html", "hi")
    put(folders.sandboxes / "other" / "index.html", "hi")
    assert folders.kinds() == {
        "sandbox:box:index.html": "page",
        "sandbox:other:index.html": "page",
    }


def test_a_file_in_the_workspace_is_a_page(folders: Folders) -> None:
    folders.page("notes.html")
    assert folders.kinds() == {"page_notes": "page"}


def test_a_file_in_the_workspace_is_an_app_once_a_record_proves_it(folders: Folders) -> None:
    folders.page("notes.html")
    folders.shelf_app("notes.html", workspacePath="notes.html", title="My notes")
    (entry,) = folders.look().entries
    assert (entry.artifact.app_id, entry.artifact.kind) == ("app_notes", "app")
    assert (entry.artifact.source, entry.artifact.title) == ("workspace", "My notes")


def test_apps_that_ship_with_the_product_are_apps(folders: Folders) -> None:
    put(folders.examples / "scoreboard.html", "<title>Scoreboard</title>")
    (artifact,) = folders.look().artifacts
    assert (artifact.app_id, artifact.kind, artifact.source) == (
        "app_scoreboard",
        "app",
        "examples",
    )


def test_an_app_of_ones_own_takes_the_place_of_a_shipped_one(folders: Folders) -> None:
    put(folders.examples / "scoreboard.html", "<title>Shipped</title>")
    folders.shelf_app("scoreboard.html", "<title>Mine</title>")
    assert [each.title for each in folders.look().artifacts] == ["Mine"]


# ---- proof ----------------------------------------------------------------------------------


def test_a_record_proves_only_the_file_of_its_own_relative_path(folders: Folders) -> None:
    folders.page("notes.html")
    folders.page("sub/notes.html")
    folders.shelf_app("notes.html", workspacePath="sub/notes.html")
    kinds = {each.file_name: each.kind for each in folders.look().artifacts}
    assert kinds == {"notes.html": "page", "sub/notes.html": "app"}


@pytest.mark.parametrize("same_bytes", [True, False])
def test_a_record_without_a_path_proves_nothing_even_with_equal_bytes(
    folders: Folders, *, same_bytes: bool
) -> None:
    html = "<title>Collision</title>"
    folders.page("collision.html", html)
    folders.shelf_app("collision.html", html if same_bytes else "other", title="The app")
    assert folders.kinds() == {"page_collision": "page", "app_collision": "app"}


def test_an_unproven_page_takes_none_of_the_records_facts(folders: Folders) -> None:
    folders.page("collision.html", "<title>Its own title</title>")
    folders.shelf_app("collision.html", title="The app", createdAt="2020-01-01T00:00:00Z")
    page = folders.look().resolve("page_collision").artifact
    assert (page.title, page.source) == ("Its own title", "workspace")
    assert not isinstance(page.created_at, str)


def test_an_unproven_page_does_not_claim_the_slug(folders: Folders) -> None:
    folders.page("collision.html")
    folders.shelf_app("collision.html", title="The app")
    app = folders.look().resolve("app_collision").artifact
    assert (app.source, app.title) == ("host", "The app")


def test_a_shared_slug_proves_nothing(folders: Folders) -> None:
    folders.page("score board.html")
    folders.shelf_app("score-board.html", appId="app_score-board")
    assert folders.kinds() == {"page_score-board": "page", "app_score-board": "app"}


@pytest.mark.parametrize("path", ["../notes.html", "/notes.html", "sub/../notes.html", "", "."])
def test_a_path_that_leads_elsewhere_proves_nothing(folders: Folders, path: str) -> None:
    folders.page("notes.html")
    folders.shelf_app("notes.html", workspacePath=path)
    assert folders.kinds() == {"page_notes": "page", "app_notes": "app"}


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"appId": 7}', "\ud800", "[" * 100_000])
def test_a_record_that_can_not_be_read_is_none(folders: Folders, text: str) -> None:
    folders.shelf_app("notes.html")
    (folders.shelf / "notes.meta.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    folders.page("notes.html")
    assert folders.kinds() == {"page_notes": "page", "app_notes": "app"}


def test_a_record_can_not_name_a_file_elsewhere_or_an_id_of_a_page(folders: Folders) -> None:
    put(folders.root / "extensions" / "secret.html", "secret")
    folders.shelf_app("a.html", appId="page_notes")
    folders.shelf_app("b.html", fileName="../secret.html", title="B")
    assert folders.kinds() == {"app_a": "app", "app_b": "app"}
    assert folders.look().resolve("app_b").artifact.title == "App b.html"


def test_a_record_without_its_app_proves_nothing(folders: Folders) -> None:
    folders.page("notes.html")
    folders.shelf_app("notes.html", workspacePath="notes.html").unlink()
    assert folders.kinds() == {"page_notes": "page"}


# ---- identity and lookup --------------------------------------------------------------------


def test_two_entries_never_share_an_id(folders: Folders) -> None:
    for path in ("a b.html", "a-b.html", "A B.htm", "sub/a-b.html", "sub/a b.html"):
        folders.page(path)
    for name in ("a b.html", "a-b.html"):
        folders.shelf_app(name)
    folders.shelf_app("c.html", appId="app_same")
    folders.shelf_app("d.html", appId="app_same")
    listing = folders.look()
    assert len(listing.entries) == 9
    assert len(folders.kinds()) == 9
    for entry in listing.entries:
        assert listing.resolve(entry.artifact.app_id) is entry


def test_ids_stay_the_same_from_look_to_look(folders: Folders) -> None:
    folders.page("a b.html")
    folders.page("sub/a-b.html")
    assert folders.kinds() == folders.kinds()


@pytest.mark.parametrize(
    "name", ["collision.html", "collision", "COLLISION.HTML", "app_collision", "Same title"]
)
def test_within_a_step_an_app_outranks_a_page(folders: Folders, name: str) -> None:
    folders.page("collision.html", "<title>Same title</title>")
    folders.shelf_app("collision.html", "<title>Same title</title>")
    assert folders.find(name) == "app_collision"


def test_the_first_step_that_matches_decides(folders: Folders) -> None:
    folders.page("timer.html", "<title>A page</title>")
    folders.shelf_app("other.html", title="timer.html")
    assert folders.find("timer.html") == "page_timer"
    folders.shelf_app("third.html", appId="app_timer")
    assert folders.find("timer.html") == "app_timer"


@pytest.mark.parametrize("name", ["page_collision", "its own", "sub/collision.html"])
def test_a_page_is_found_by_what_only_it_answers_to(folders: Folders, name: str) -> None:
    folders.page("sub/collision.html", "<title>Its own</title>")
    folders.shelf_app("collision.html")
    assert folders.find(name) == "page_collision"


def test_of_names_that_differ_in_case_the_very_one_is_meant(folders: Folders) -> None:
    for name in ("A.html", "a.html"):
        put(folders.sandboxes / "box" / name, name)
        folders.page(f"sub/{name}")
    listing = folders.look()
    for wanted in ("sandbox:box:a.html", "sandbox:box:A.html"):
        assert folders.find(wanted) == wanted
    for wanted in ("sub/a.html", "sub/A.html"):
        assert listing.resolve(wanted).artifact.file_name == wanted
    assert listing.resolve("SUB/a.HTML").artifact.slug.startswith("a")


def test_a_name_of_nothing_is_not_found(folders: Folders, refused: Refused) -> None:
    folders.page("notes.html")
    for name in ("nothing", "", "   ", "../workspace/notes.html/..", "page_", "app_"):
        assert refused(folders.look().resolve, name).code is RefusalCode.MINI_APP_NOT_FOUND


def test_html_is_told_of_one_artifact_only(folders: Folders) -> None:
    folders.page("notes.html", "<p>whole</p>")
    assert not any(isinstance(each.html, str) for each in folders.look().artifacts)
    assert folders.catalog().read("notes.html").html == "<p>whole</p>"


def test_a_record_says_all_that_the_seed_names(folders: Folders) -> None:
    folders.save("<title>Notes</title>")
    (artifact,) = folders.look().artifacts
    assert artifact.slug == "notes"
    assert artifact.file_name == "notes.html"
    assert artifact.storage_path == str(folders.workspace / "notes.html")
    assert artifact.size_bytes == len("<title>Notes</title>")
    assert isinstance(artifact.created_at, str)
    assert artifact.updated_at.endswith("Z")


# ---- the walk -------------------------------------------------------------------------------


def test_the_workspace_is_walked_one_folder_deep_and_sandboxes_two(folders: Folders) -> None:
    for path in ("a.html", "in/b.html", "in/in/c.html"):
        folders.page(path)
    for path in ("d.html", "in/e.html", "in/in/f.html", "in/in/in/g.html"):
        put(folders.sandboxes / "box" / path, "hi")
    found = {each.file_name for each in folders.look().artifacts}
    assert found == {"a.html", "in/b.html", "d.html", "in/e.html", "in/in/f.html"}


def test_hidden_and_project_folders_and_other_files_are_not_seen(folders: Folders) -> None:
    for path in (".a.html", ".git/b.html", "node_modules/c.html", "docs/d.html", "e.txt", "f"):
        folders.page(path)
    put(folders.sandboxes / ".hidden" / "a.html", "hi")
    put(folders.sandboxes / "loose.html", "hi")
    assert folders.kinds() == {}


def test_links_are_neither_followed_nor_listed(folders: Folders, refused: Refused) -> None:
    secret = put(folders.root / "secret" / "secret.html", "secret")
    (folders.workspace / "link.html").symlink_to(secret)
    (folders.workspace / "folder").symlink_to(secret.parent)
    (folders.shelf / "link.html").symlink_to(secret)
    (folders.shelf / "link.meta.json").symlink_to(secret)
    (folders.sandboxes / "box").symlink_to(secret.parent)
    assert folders.kinds() == {}
    assert refused(folders.catalog().read, "link.html").code is RefusalCode.MINI_APP_NOT_FOUND


def test_a_folder_or_a_pipe_that_is_named_as_a_document_is_none(folders: Folders) -> None:
    (folders.workspace / "folder.html").mkdir()
    os.mkfifo(folders.workspace / "pipe.html")
    assert folders.kinds() == {}


def test_a_name_that_is_no_text_is_not_listed(folders: Folders) -> None:
    for root in (folders.workspace, folders.shelf, folders.sandboxes / "box"):
        root.mkdir(exist_ok=True)
        (Path(os.fsdecode(os.fsencode(root) + b"/\xff.html"))).touch()
    Path(os.fsdecode(os.fsencode(folders.sandboxes) + b"/\xff")).mkdir()
    assert folders.kinds() == {}


def test_what_a_record_says_can_always_be_told(folders: Folders) -> None:
    folders.shelf_app("notes.html", title="a\x07\u202eb", createdAt="x" * 1_000, appId="app_\n")
    folders.shelf_app("other.html", title="half a pair: \ud800")
    notes, other = folders.look().artifacts
    assert (notes.title, notes.app_id) == ("ab", "app_notes")
    assert not isinstance(notes.created_at, str)
    assert other.title == "App other.html"
    assert msgspec.json.encode([notes, other])


def test_missing_folders_are_empty(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    for folder in (folders.workspace, folders.shelf, folders.sandboxes, folders.examples):
        folder.rmdir()
    assert folders.look().entries == []


def test_folders_that_lie_in_one_another_do_not_mix_their_paths(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    places = msgspec.structs.replace(folders.places, sandbox_homes=folders.root)
    catalog = Catalog(places=places, limits=Limits())
    folders.page("a.html", "a")
    for _ in range(2):
        listing = catalog.look()
        assert listing.resolve("page_a").parts == ("a.html",)
        assert listing.resolve("sandbox:workspace:a.html").parts == ("workspace", "a.html")


def test_a_file_that_changes_is_read_anew(folders: Folders) -> None:
    catalog = folders.catalog()
    for title in ("First", "Second title"):
        folders.page("a.html", f"<title>{title}</title>")
        assert [each.title for each in catalog.look().artifacts] == [title]


# ---- bounds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds",
    [
        {"mini_app_files_max": 3},
        {"mini_app_entries_max": 4},
        {"mini_app_scan_max_bytes": 20},
        {"mini_app_max_bytes": 10},
    ],
)
def test_bounds_leave_files_out_and_say_so(folders: Folders, bounds: dict[str, int]) -> None:
    for number in range(6):
        folders.page(f"{number}.html", "x" * (5 + number * 2))
    listing = folders.look(**bounds)
    assert listing.truncated
    assert 0 < len(listing.entries) < 6
    assert not folders.look().truncated


def test_a_full_workspace_crowds_out_no_app(folders: Folders) -> None:
    for number in range(6):
        folders.page(f"{number}.html")
    folders.shelf_app("timer.html")
    put(folders.examples / "scoreboard.html", "hi")
    ids = {each.app_id for each in folders.look(mini_app_files_max=3).artifacts}
    assert {"app_timer", "app_scoreboard"} < ids


def test_a_file_that_grew_over_the_bound_is_not_read_whole(
    folders: Folders, refused: Refused
) -> None:
    catalog = folders.catalog(mini_app_max_bytes=10)
    folders.page("a.html", "x" * 10)
    assert catalog.read("a.html").size_bytes == 10
    folders.page("a.html", "x" * 11)
    assert refused(catalog.read, "a.html").code is RefusalCode.MINI_APP_NOT_FOUND
