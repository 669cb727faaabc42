"""Pages and apps on disk, as the room's page shows them: dropped, opened, saved, deleted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from scripts.browser_lab.room_page import RoomPage

pytestmark = pytest.mark.browser

NOTES = """<!doctype html>
<title>Notes</title>
<script>
const execute = () => ({ ok: true });
webMcp.registerTool({ name: "add_note", description: "Adds a note", execute });
</script>
"""


@pytest.fixture
def workspace(apps: Path) -> Iterator[Path]:
    """The person's workspace; what a test leaves there goes with it."""
    folder = apps.parent / "workspace"
    kept = {*folder.iterdir(), *apps.iterdir()}
    yield folder
    for file in {*folder.iterdir(), *apps.iterdir()} - kept:
        file.unlink()


def drop(workspace: Path, room: RoomPage) -> Locator:
    (workspace / "notes.html").write_text(NOTES, encoding="utf-8")
    row = room.page.locator('#page-list > [data-app-id="page_notes"]')
    row.wait_for(state="attached")
    room.page.locator("#pages > summary").click()
    return row


def test_a_page_that_is_dropped_is_listed_and_not_in_the_tray(
    room: RoomPage, workspace: Path
) -> None:
    row = drop(workspace, room)
    assert row.locator(".page-title").inner_text() == "Notes"
    assert room.page.locator("#pages-count").inner_text() == "1"
    assert room.card("page_notes").count() == 0
    (workspace / "notes.html").unlink()
    row.wait_for(state="detached")
    assert room.page.locator("#pages").is_hidden()
    assert room.errors == []


def test_a_page_is_opened_as_a_mini_app_and_works(room: RoomPage, workspace: Path) -> None:
    drop(workspace, room).get_by_role("button", name="Open as mini-app").click()
    room.wait_for_state("page_notes", "running")
    room.wait_for(lambda: room.relay.app_tools("page_notes") == ["add_note"])
    assert room.relay.call("add_note", {})["result"] == {"ok": True}
    room.stop("page_notes")


def test_a_page_is_saved_as_an_app_and_goes_to_the_tray(
    room: RoomPage, workspace: Path, apps: Path
) -> None:
    row = drop(workspace, room)
    row.get_by_role("button", name="Save as app").click()
    room.card("app_notes").wait_for()
    row.wait_for(state="detached")
    assert (apps / "notes.meta.json").is_file()
    room.wait_for(lambda: "Notes is an app now." in room.toasts())
    room.card("app_notes").get_by_role("button", name="Delete").click()
    room.page.locator(".toast").get_by_role("button", name="Delete Notes").click()
    room.card("app_notes").wait_for(state="detached")
    assert not (workspace / "notes.html").exists()
    assert not (apps / "notes.meta.json").exists()


def test_deleting_a_page_asks_and_leaves_the_app_of_its_name(
    room: RoomPage, workspace: Path, apps: Path
) -> None:
    (apps / "notes.html").write_text(NOTES.replace("Notes", "The app"), encoding="utf-8")
    row = drop(workspace, room)
    row.get_by_role("button", name="Delete").click()
    assert (workspace / "notes.html").exists()
    room.page.locator(".toast").get_by_role("button", name="Delete Notes").click()
    row.wait_for(state="detached")
    assert (apps / "notes.html").exists()
    assert room.card("app_notes").count() == 1


def test_a_save_that_is_refused_says_why(room: RoomPage, workspace: Path, apps: Path) -> None:
    (apps / "notes.html").write_text(NOTES.replace("Notes", "The app"), encoding="utf-8")
    drop(workspace, room).get_by_role("button", name="Save as app").click()
    room.wait_for(lambda: any("mini-app-name-taken" in toast for toast in room.toasts()))


def test_an_example_has_no_delete_button(room: RoomPage) -> None:
    assert room.card("app_scoreboard").get_by_role("button", name="Delete").count() == 0


def test_a_tool_call_launches_and_closes_an_app_on_the_page(room: RoomPage) -> None:
    room.relay.call("launch_mini_app", {"name": "the scoreboard"})
    room.wait_for_state("app_scoreboard", "running")
    room.relay.call("launch_mini_app", {"name": "scoreboard"})
    room.wait_for(lambda: "Scoreboard is open already." in room.toasts())
    assert room.panel("app_scoreboard").count() == 1
    room.relay.call("close_mini_app", {"name": "scoreboard"})
    room.panel("app_scoreboard").wait_for(state="detached")
