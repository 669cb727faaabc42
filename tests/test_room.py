import asyncio

import pytest

from relay.protocol.limits import Limits
from relay.protocol.messages import CloseApp, Message
from relay.protocol.refusals import Refusal, RefusalCode
from relay.room import Room, Rooms
from tests.fakes.declared import SET_SCORE


def room(**bounds: int) -> Room:
    return Room(name="main", limits=Limits(**bounds))


def ignore(_: Message) -> None: ...


async def test_a_pages_tools_can_be_called_by_their_exposed_names() -> None:
    place = room()
    page = place.attach_page(ignore).page
    admission = await place.register(page, "app_x", [SET_SCORE])
    assert [tool.exposed_name for tool in admission.accepted] == ["set_score"]
    assert place.registry.find("set_score").host is page.host


async def test_two_pages_with_the_same_app_are_both_callable() -> None:
    place = room()
    pages = [place.attach_page(ignore).page for _ in range(2)]
    for page in pages:
        await place.register(page, "app_x", [SET_SCORE])
    assert {tool.host for tool in place.registry.tools()} == {page.host for page in pages}
    place.close_app(pages[0], "app_x")
    assert [tool.host for tool in place.registry.tools()] == [pages[1].host]


async def test_a_page_that_comes_back_in_time_keeps_its_tools() -> None:
    place = room(page_grace_ms=10_000)
    first = place.attach_page(ignore)
    await place.register(first.page, "app_x", [SET_SCORE])
    place.detach_page(first)
    assert not first.page.host.attached
    again = place.attach_page(ignore, first.page.workspace_id)
    assert again.page is first.page
    assert again.page.host.attached
    assert len(place.registry.tools()) == 1
    place.close()


async def test_a_page_that_stays_away_loses_its_tools() -> None:
    place = room(page_grace_ms=1)
    hold = place.attach_page(ignore)
    await place.register(hold.page, "app_x", [SET_SCORE])
    withdrawn = asyncio.Event()
    place.registry.subscribe(withdrawn.set)
    place.detach_page(hold)
    await withdrawn.wait()
    assert place.registry.tools() == []
    assert place.attach_page(ignore, hold.page.workspace_id).page is not hold.page


async def test_an_old_sockets_end_does_not_detach_the_newer_one() -> None:
    place = room()
    old = place.attach_page(ignore)
    new = place.attach_page(ignore, old.page.workspace_id)
    place.detach_page(old)
    assert new.page.host.attached


async def test_an_unknown_workspace_id_is_not_adopted() -> None:
    hold = room().attach_page(ignore, "ws_of_my_own")
    assert hold.page.workspace_id != "ws_of_my_own"


async def test_pages_and_apps_are_capped() -> None:
    place = room(sockets_per_room_max=1, apps_per_page_max=1)
    page = place.attach_page(ignore).page
    with pytest.raises(Refusal) as caught:
        place.attach_page(ignore)
    assert caught.value.code is RefusalCode.SERVER_FULL
    await place.register(page, "app_x", [SET_SCORE])
    await place.register(page, "app_x", [SET_SCORE])
    with pytest.raises(Refusal) as caught:
        await place.register(page, "app_y", [SET_SCORE])
    assert caught.value.code is RefusalCode.BAD_REQUEST


async def test_an_app_without_a_page_is_listed_and_unreachable() -> None:
    place = room()
    nowhere = place.page_of("app_x")
    await place.register(nowhere, "app_x", [SET_SCORE])
    assert place.page_of("app_x") is nowhere
    assert not place.registry.find("set_score").host.attached  # type: ignore[attr-defined]


async def test_a_page_takes_over_what_was_registered_before_it_came() -> None:
    place = room()
    await place.register(place.page_of("app_x"), "app_x", [SET_SCORE])
    page = place.attach_page(ignore).page
    admission = await place.register(page, "app_x", [SET_SCORE])
    assert [tool.exposed_name for tool in admission.accepted] == ["set_score"]
    assert [tool.host for tool in place.registry.tools()] == [page.host]


def test_every_page_that_is_there_is_told() -> None:
    place = room()
    told: list[list[Message]] = [[], []]
    holds = [place.attach_page(each.append) for each in told]
    assert place.tell_pages(CloseApp(app_id="app_x")) == 2
    place.close()
    assert place.tell_pages(CloseApp(app_id="app_x")) == 0
    assert told == [[CloseApp(app_id="app_x")]] * 2
    assert holds[0].page is not holds[1].page


async def test_one_page_is_told_the_one_that_runs_the_app_else_the_last() -> None:
    place = room()
    told: list[list[Message]] = [[], []]
    first = place.attach_page(told[0].append)
    place.attach_page(told[1].append)
    message = CloseApp(app_id="app_x")
    place.tell_one_page("app_x", message)
    assert told == [[], [message]]
    await place.register(first.page, "app_x", [SET_SCORE])
    place.tell_one_page("app_x", message)
    assert told == [[message], [message]]
    place.detach_page(first)
    place.tell_one_page("app_x", message)
    assert told == [[message], [message, message]]
    place.close()


def test_without_a_page_nobody_can_be_told() -> None:
    with pytest.raises(Refusal) as caught:
        room().tell_one_page("app_x", CloseApp(app_id="app_x"))
    assert caught.value.code is RefusalCode.MINI_APP_UNREACHABLE


def test_rooms_are_made_once_prepared_and_capped() -> None:
    prepared: list[str] = []
    rooms = Rooms(
        limits=Limits(rooms_max=2), show_args=False, prepare=lambda made: prepared.append(made.name)
    )
    assert rooms.get("a") is rooms.get("a")
    with rooms.get("a").visited("live"), rooms.get("b").visited("frames"):
        with pytest.raises(Refusal) as caught:
            rooms.get("c")
        assert caught.value.code is RefusalCode.SERVER_FULL
    assert prepared == ["a", "b"] == [made.name for made in rooms.all()]
    rooms.close()


def test_the_oldest_idle_room_makes_way_for_a_new_one() -> None:
    closed: list[str] = []
    rooms = Rooms(
        limits=Limits(rooms_max=2),
        show_args=False,
        prepare=lambda made: made.when_closed(lambda: closed.append(made.name)),
    )
    with rooms.get("a").visited("live"):
        rooms.get("b")
        rooms.get("c")
        assert [made.name for made in rooms.all()] == ["a", "c"]
    assert closed == ["b"]
    rooms.close()
    assert closed == ["b", "a", "c"]


def test_a_room_with_a_page_or_a_visitor_is_not_idle() -> None:
    place = room()
    assert place.idle
    with place.visited("frames"):
        assert not place.idle
    place.attach_page(ignore)
    assert not place.idle
    place.close()
    assert place.idle


def test_visitors_of_each_kind_are_capped() -> None:
    place = room(sockets_per_room_max=1)
    with place.visited("live"), place.visited("frames"):
        with pytest.raises(Refusal) as caught, place.visited("live"):
            pass
        assert caught.value.code is RefusalCode.SERVER_FULL
    with place.visited("live"):
        pass


async def test_of_apps_without_a_page_the_oldest_makes_way() -> None:
    place = room(apps_per_page_max=1)
    for app_id in ("app_x", "app_y"):
        await place.register(place.page_of(app_id), app_id, [SET_SCORE])
    assert [tool.app_id for tool in place.registry.tools()] == ["app_y"]
