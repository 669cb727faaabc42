import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relay.miniapp_tools import MiniAppTools
from relay.miniapps.collection import MiniApps
from relay.protocol.limits import Limits
from relay.protocol.messages import CloseApp, ConfirmDelete, LaunchApp, Message
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.arguments import check_arguments
from relay.tools.schema import read_tool
from relay.tools.tool import CallId, ToolCall, Waiting
from tests.miniapps.conftest import Folders, put


class Room:
    """The tools of a room with one page, or none, and a clock in the test's hands."""

    def __init__(self, root: Path, **bounds: int) -> None:
        self.folders = Folders(root)
        self.told: list[Message] = []
        self.page_is_there = True
        self.now_s = 100.0
        put(self.folders.examples / "scoreboard.html", "<title>Scoreboard</title>")
        limits = Limits(**bounds)
        self.tools = MiniAppTools(
            mini_apps=MiniApps(places=self.folders.places, limits=limits),
            tell_one=self._tell_one,
            tell_all=self._tell_all,
            limits=limits,
            clock=lambda: self.now_s,
        )

    async def call(self, tool: str, /, session: str | None = "s1", **args: Any) -> dict[str, Any]:
        """Call as dispatch does: arguments are checked by the declaration first."""
        spec = next(spec for spec in self.tools.specs() if spec.name == tool)
        checked = check_arguments(spec, args, limits=Limits())
        call = ToolCall(call_id=CallId("call_1"), name=tool, session_id=session)
        told: dict[str, Any] = json.loads(await self.tools.call(spec, call, checked, Waiting()))
        return told

    async def refusal(self, tool: str, /, **args: Any) -> RefusalCode:
        with pytest.raises(Refusal) as caught:
            await self.call(tool, **args)
        return caught.value.code

    def _tell_one(self, _: str, message: Message) -> None:
        if not self._tell_all(message):
            raise Refusal(RefusalCode.MINI_APP_UNREACHABLE, "no page")

    def _tell_all(self, message: Message) -> int:
        if self.page_is_there:
            self.told.append(message)
        return int(self.page_is_there)


Make = Callable[..., Room]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda **bounds: Room(tmp_path, **bounds)


@pytest.fixture
def room(make: Make) -> Room:
    return make()


def test_every_declaration_is_one_that_an_app_could_register(room: Room) -> None:
    for spec in room.tools.specs():
        declared = {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        }
        assert read_tool(declared, limits=Limits()) == spec


async def test_apps_and_pages_are_listed_without_paths_of_the_disk(room: Room) -> None:
    room.folders.page("notes.html")
    told = await room.call("list_mini_apps")
    assert [(each["appId"], each["kind"]) for each in told["miniApps"]] == [
        ("app_scoreboard", "app"),
        ("page_notes", "page"),
    ]
    assert str(room.folders.root) not in json.dumps(told)
    assert told["truncated"] is False
    pages = await room.call("list_mini_apps", kind="page")
    assert [each["appId"] for each in pages["miniApps"]] == ["page_notes"]
    (room.folders.workspace / "notes.html").unlink()
    nothing = await room.call("list_mini_apps", kind="page")
    assert (nothing["miniApps"], nothing["say"]) == ([], "There is nothing to launch yet.")


async def test_a_list_stays_within_what_a_tool_may_answer(room: Room) -> None:
    for number in range(900):
        room.folders.page(f"{'x' * 60}{number}.html")
    told = await room.call("list_mini_apps")
    assert told["truncated"] is True
    assert told["miniApps"][0]["appId"] == "app_scoreboard"
    assert told["say"].startswith("Scoreboard, ")
    assert told["say"].endswith(", and 893 more.")
    assert len(json.dumps(told)) < Limits().tool_output_max_bytes


@pytest.mark.parametrize(
    "name",
    [
        "app_scoreboard",
        "scoreboard.html",
        "scoreboard",
        "Scoreboard",
        "the scoreboard",
        "My Scoreboard app",
        "the score board mini-app",
        "score-board",
    ],
)
async def test_an_app_is_launched_by_whatever_people_call_it(room: Room, name: str) -> None:
    told = await room.call("launch_mini_app", name=name)
    assert (told["ok"], told["launched"]) == (True, "Scoreboard")
    assert told["say"] == "Scoreboard is open."
    (message,) = room.told
    assert isinstance(message, LaunchApp)
    assert message.mini_app.app_id == "app_scoreboard"
    assert not isinstance(message.mini_app.html, str)


async def test_a_page_is_launched_by_its_title(room: Room) -> None:
    room.folders.page("notes.html", "<title>Shopping list</title>")
    told = await room.call("launch_mini_app", name="the shopping list")
    assert told["appId"] == "page_notes"


async def test_an_unknown_name_or_no_page_to_launch_it_in_is_refused(room: Room) -> None:
    for name in ("nothing", "", "the", "app"):
        assert await room.refusal("launch_mini_app", name=name) is RefusalCode.MINI_APP_NOT_FOUND
    room.page_is_there = False
    for tool in ("launch_mini_app", "close_mini_app"):
        assert await room.refusal(tool, name="scoreboard") is RefusalCode.MINI_APP_UNREACHABLE


async def test_an_app_is_closed_on_every_page(room: Room) -> None:
    told = await room.call("close_mini_app", name="the scoreboard")
    assert told["closed"] == "Scoreboard"
    assert room.told == [CloseApp(app_id="app_scoreboard")]


async def test_html_that_a_model_wrote_is_saved_by_the_same_rules(room: Room) -> None:
    told = await room.call("save_mini_app", title="Dice", html="<p>6</p>")
    assert (told["created"], told["appId"]) == (True, "app_dice")
    assert (room.folders.workspace / "dice.html").read_text(encoding="utf-8") == "<p>6</p>"
    again = await room.call("save_mini_app", title="Dice", html="<p>1</p>")
    assert (again["created"], again["updated"]) == (False, True)
    room.folders.page("notes.html", "mine")
    refused = await room.refusal("save_mini_app", title="Notes", html="<p>theirs</p>")
    assert refused is RefusalCode.MINI_APP_NAME_TAKEN


async def test_a_deletion_first_asks_and_deletes_nothing(room: Room) -> None:
    room.folders.page("notes.html", "<title>Notes</title>")
    for args in ({}, {"confirmed": False}, {"confirmed": True}):
        told = await room.call("delete_mini_app", name="notes", **args)
        assert (told["deleted"], told["say"]) == (False, "Delete Notes for good?")
    assert all(isinstance(message, ConfirmDelete) for message in room.told)
    assert len(room.told) == 3
    assert (room.folders.workspace / "notes.html").exists()


async def test_a_yes_after_a_persons_time_deletes(room: Room) -> None:
    room.folders.page("notes.html", "<title>Notes</title>")
    await room.call("delete_mini_app", name="notes")
    room.now_s += 1.5
    told = await room.call("delete_mini_app", name="page_notes", confirmed=True)
    assert (told["ok"], told["deleted"]) == (True, "Notes")
    assert not (room.folders.workspace / "notes.html").exists()


@pytest.mark.parametrize("waited_s", [0.0, 0.9, 60.1])
async def test_a_yes_too_soon_or_too_late_only_asks_again(room: Room, waited_s: float) -> None:
    room.folders.page("notes.html")
    await room.call("delete_mini_app", name="notes")
    room.now_s += waited_s
    told = await room.call("delete_mini_app", name="notes", confirmed=True)
    assert told["deleted"] is False
    room.now_s += 0.9
    told = await room.call("delete_mini_app", name="notes", confirmed=True)
    assert told["deleted"] is False


async def test_a_yes_counts_only_for_its_question_its_session_and_once(room: Room) -> None:
    for name in ("a.html", "b.html"):
        room.folders.page(name)
    await room.call("delete_mini_app", name="a.html")
    room.now_s += 2
    assert not (await room.call("delete_mini_app", name="b.html", confirmed=True))["deleted"]
    other = await room.call("delete_mini_app", session="s2", name="a.html", confirmed=True)
    assert not other["deleted"]
    assert (await room.call("delete_mini_app", name="a.html", confirmed=True))["deleted"]
    room.folders.page("a.html")
    assert not (await room.call("delete_mini_app", name="a.html", confirmed=True))["deleted"]


async def test_a_shipped_app_is_not_even_asked_about(room: Room) -> None:
    code = await room.refusal("delete_mini_app", name="scoreboard")
    assert (code, room.told) == (RefusalCode.MINI_APP_READ_ONLY, [])
