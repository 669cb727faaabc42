"""The mini-apps over HTTP, by tool call, and as news on the workspace sockets."""

import asyncio
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from relay.protocol.refusals import RefusalCode
from tests.miniapps.conftest import put
from tests.miniapps.test_names import CLIMBING
from tests.server.conftest import Relay, StartRelay

ROUTE = "/api/mini-apps"


async def save(relay: Relay, method: str = "POST", **body: Any) -> tuple[int, Any]:
    return await relay.ask(method, ROUTE, json=body)


async def test_an_app_is_saved_found_saved_anew_and_deleted(relay: Relay) -> None:
    status, told = await save(relay, html="<title>Dice</title>", fileName="dice.html")
    assert (status, told["ok"], told["created"], told["updated"]) == (200, True, True, False)
    assert (told["miniApp"]["appId"], told["miniApp"]["kind"]) == ("app_dice", "app")
    assert "html" not in told["miniApp"]
    _, told = await save(relay, "PUT", html="<p>two</p>", appId="app_dice")
    assert (told["created"], told["updated"]) == (False, True)
    _, told = await relay.ask("GET", ROUTE + "?id=dice.html")
    assert told["miniApp"]["html"] == "<p>two</p>"
    status, told = await relay.ask("DELETE", ROUTE + "?id=app_dice")
    assert (status, told["deleted"], told["miniApp"]["appId"]) == (200, True, "app_dice")
    status, _ = await relay.ask("GET", ROUTE + "?id=app_dice")
    assert status == 404


async def test_the_list_says_whether_it_is_whole(relay: Relay) -> None:
    _, told = await relay.ask("GET", ROUTE)
    assert told["truncated"] is False
    assert told["count"] == len(told["miniApps"])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, RefusalCode.MISSING_HTML),
        ({"html": " "}, 400, RefusalCode.MISSING_HTML),
        ({"html": 7}, 400, RefusalCode.MISSING_HTML),
        ({"html": "x", "hostDir": "/tmp"}, 400, RefusalCode.BAD_REQUEST),
        ({"html": "x", "title": 7}, 400, RefusalCode.BAD_REQUEST),
        ({"html": "x", "fileName": ".a.html"}, 400, RefusalCode.DOTFILE_REFUSED),
        ({"html": "x", "fileName": "con.html"}, 400, RefusalCode.MINI_APP_NAME_INVALID),
        ([], 400, RefusalCode.BAD_REQUEST),
    ],
)
async def test_a_bad_body_is_refused_in_one_shape(
    relay: Relay, body: Any, status: int, code: RefusalCode, assert_refused: Any
) -> None:
    found, told = await relay.ask("POST", ROUTE, json=body)
    assert found == status
    assert_refused(told, code)


async def test_a_body_over_one_mebibyte_is_too_large(relay: Relay, assert_refused: Any) -> None:
    body = io.BytesIO(b'{"html":"' + b"x" * 1_048_576 + b'"}')
    media_type = {"Content-Type": "application/json"}
    status, told = await relay.ask("POST", ROUTE, data=body, headers=media_type)
    assert status == 413
    assert_refused(told, RefusalCode.BODY_TOO_LARGE)


async def test_climbing_names_write_nothing_anywhere(
    relay: Relay, tmp_path: Path, assert_refused: Any
) -> None:
    await save(relay, html="kept", fileName="escape.html")
    before = html_files(tmp_path)
    for name in CLIMBING:
        status, told = await save(relay, html="new", fileName=name)
        assert status == 400
        assert_refused(told, RefusalCode.OUTSIDE_ROOT)
    assert html_files(tmp_path) == before


def html_files(root: Path) -> dict[str, str]:
    return {str(file): file.read_text(encoding="utf-8") for file in root.rglob("*.htm*")}


async def test_a_taken_name_is_a_conflict_that_names_its_owner(
    relay: Relay, assert_refused: Any
) -> None:
    await save(relay, html="one", fileName="a b.html", title="Owner")
    status, told = await save(relay, html="two", fileName="a-b.html")
    assert status == 409
    assert_refused(told, RefusalCode.MINI_APP_NAME_TAKEN)
    assert "Owner" in told["why"]


async def test_deleting_needs_a_name_of_something_that_may_go(
    relay: Relay, assert_refused: Any
) -> None:
    for query, status, code in [
        ("", 400, RefusalCode.BAD_REQUEST),
        ("?id=", 400, RefusalCode.BAD_REQUEST),
        ("?id=nothing", 404, RefusalCode.MINI_APP_NOT_FOUND),
        ("?id=app_scoreboard", 403, RefusalCode.MINI_APP_READ_ONLY),
    ]:
        found, told = await relay.ask("DELETE", ROUTE + query)
        assert found == status
        assert_refused(told, code)


async def test_changes_need_the_token_and_json(relay: Relay) -> None:
    for method in ("POST", "PUT", "DELETE"):
        async with relay.client.request(method, ROUTE) as answer:
            assert answer.status == 401
    status, _ = await relay.ask("POST", ROUTE, data=b"{}", headers={"Content-Type": "text/plain"})
    assert status == 415


async def test_every_page_is_told_of_what_is_saved_and_deleted(relay: Relay) -> None:
    pages = [await relay.socket("/workspace", room=room) for room in ("main", "main", "other")]
    for page in pages:
        await page.next("welcome")
    await save(relay, html="one", title="Dice")
    await save(relay, html="two!", title="Dice")
    await relay.ask("DELETE", ROUTE + "?id=app_dice")
    for page in pages:
        told = await page.next("mini_app")
        assert (told["miniApp"]["appId"], told["created"]) == ("app_dice", True)
        assert "html" not in told["miniApp"]
        assert (await page.next("mini_app"))["updated"] is True
        assert (await page.next("mini_app_deleted"))["appId"] == "app_dice"


async def test_a_file_that_somebody_drops_into_the_workspace_is_news(
    relay: Relay, tmp_path: Path
) -> None:
    page = await relay.socket("/workspace")
    await page.next("welcome")
    await relay.ask("GET", ROUTE)
    folder = tmp_path / ".local" / "share" / "voicebox" / "workspace"
    (folder / "notes.html").write_text("<title>Notes</title>", encoding="utf-8")
    told = await page.next("mini_app")
    assert (told["miniApp"]["appId"], told["miniApp"]["kind"]) == ("page_notes", "page")


async def test_a_save_that_was_killed_is_finished_at_the_next_start(
    start_relay: StartRelay, tmp_path: Path
) -> None:
    data = tmp_path / ".local" / "share" / "voicebox"
    shelf, workspace = data / "extensions" / "mini-apps", data / "workspace"
    old, new = "<title>Old</title>", "<title>New</title>"
    put(workspace / "notes.html", old)
    put(shelf / "notes.html", new)
    put(shelf / ".voicebox-0123456789abcdef.tmp", "half of")
    record = {"appId": "app_notes", "title": "New", "workspacePath": "notes.html"}
    replaces = {"workspaceSha256": hashlib.sha256(old.encode()).hexdigest()}
    record["sha256"] = hashlib.sha256(new.encode()).hexdigest()
    put(shelf / "notes.meta.json", json.dumps({**record, "replaces": replaces}))
    relay = await start_relay()
    _, told = await relay.ask("GET", ROUTE + "?id=app_notes")
    assert (told["miniApp"]["html"], told["miniApp"]["title"]) == (new, "New")
    assert (workspace / "notes.html").read_text("utf-8") == new
    assert sorted(file.name for file in shelf.iterdir()) == [
        ".voicebox-lock",
        "notes.html",
        "notes.meta.json",
    ]


async def test_an_app_is_launched_and_closed_by_a_tool_call(relay: Relay) -> None:
    launch = {"name": "launch_mini_app", "args": {"name": "the scoreboard"}}
    _, outcome = await relay.ask("POST", "/api/call", json=launch)
    assert outcome["refused"] == "mini-app-unreachable"
    page = await relay.socket("/workspace")
    await page.next("welcome")
    _, outcome = await relay.ask("POST", "/api/call", json=launch)
    assert outcome["result"]["launched"] == "Scoreboard"
    assert (await page.next("launch_app"))["miniApp"]["appId"] == "app_scoreboard"
    close = {"name": "close_mini_app", "args": {"name": "scoreboard"}}
    await relay.ask("POST", "/api/call", json=close)
    assert (await page.next("close_app"))["appId"] == "app_scoreboard"


async def test_a_launch_goes_to_one_page_the_last_that_came(relay: Relay) -> None:
    first, last = [await relay.socket("/workspace") for _ in range(2)]
    for page in (first, last):
        await page.next("welcome")
    launch = {"name": "launch_mini_app", "args": {"name": "scoreboard"}}
    await relay.ask("POST", "/api/call", json=launch)
    await last.next("launch_app")
    await first.say(type="nonsense")
    kinds = []
    while not kinds or kinds[-1] != "refused":
        kinds.append((await first.next())["type"])
    assert "launch_app" not in kinds


async def test_a_deletion_by_a_model_asks_the_page_first(relay: Relay) -> None:
    await save(relay, html="one", title="Dice")
    page = await relay.socket("/workspace")
    await page.next("welcome")
    delete = {"name": "delete_mini_app", "args": {"name": "dice", "confirmed": True}}
    _, outcome = await relay.ask("POST", "/api/call", json=delete)
    assert outcome["result"]["deleted"] is False
    assert (await page.next("confirm_delete"))["miniApp"]["appId"] == "app_dice"
    status, _ = await relay.ask("GET", ROUTE + "?id=app_dice")
    assert status == 200


async def test_twenty_clients_save_one_name_at_once(start_relay: StartRelay) -> None:
    relay = await start_relay()
    bodies = [{"html": f"html {n}", "title": f"T{n}", "fileName": "a.html"} for n in range(20)]
    answers = await asyncio.gather(*(relay.ask("POST", ROUTE, json=body) for body in bodies))
    assert [status for status, _ in answers] == [200] * 20
    assert sum(told["created"] for _, told in answers) == 1
    _, told = await relay.ask("GET", ROUTE + "?id=app_a")
    winner = told["miniApp"]
    assert {"html": winner["html"], "title": winner["title"], "fileName": "a.html"} in bodies
