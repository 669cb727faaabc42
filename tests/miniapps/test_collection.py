import asyncio
from collections.abc import Callable

import pytest

from relay.miniapps.collection import MiniApps
from relay.miniapps.target import Wish
from relay.protocol.limits import Limits
from relay.protocol.messages import MiniApp, MiniAppDeleted, MiniAppNews, MiniAppsChanged
from relay.protocol.refusals import Refusal, RefusalCode
from tests.miniapps.conftest import Folders, put

Make = Callable[..., tuple[MiniApps, list[MiniAppNews]]]


@pytest.fixture
def library(folders: Folders) -> Make:
    """Make a library and the list of what it tells."""

    def make(**bounds: int) -> tuple[MiniApps, list[MiniAppNews]]:
        made = MiniApps(places=folders.places, limits=Limits(**bounds))
        told: list[MiniAppNews] = []
        made.subscribe(told.append)
        return made, told

    return make


async def test_twenty_savers_of_one_name_leave_one_consistent_winner(
    folders: Folders, library: Make
) -> None:
    mini_apps, _ = library()
    wishes = [
        Wish(html=f"<title>Title {n}</title>" + str(n) * 2_000, title=f"Title {n}", file_name="a")
        for n in range(20)
    ]
    saved = await asyncio.gather(*(mini_apps.save(wish) for wish in wishes))
    assert sorted(each.created for each in saved) == [False] * 19 + [True]
    (artifact,) = await mini_apps.look(lambda listing: listing.artifacts)
    html = (folders.workspace / "a.html").read_text(encoding="utf-8")
    assert (folders.shelf / "a.html").read_text(encoding="utf-8") == html
    winner = next(wish for wish in wishes if wish.html == html)
    assert artifact.title == winner.title
    assert artifact.app_id == "app_a"


async def test_twenty_savers_of_one_slug_under_many_file_names_mix_nothing(
    folders: Folders, library: Make
) -> None:
    mini_apps, _ = library()
    names = [f"a{' ' * (n % 3)}-{'_' * n}b.html" for n in range(20)]
    outcomes = await asyncio.gather(
        *(mini_apps.save(Wish(html=name, file_name=name)) for name in names),
        return_exceptions=True,
    )
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    assert {refusal.code for refusal in refusals} == {RefusalCode.MINI_APP_NAME_TAKEN}
    assert len(refusals) == 19
    (artifact,) = await mini_apps.look(lambda listing: listing.artifacts)
    assert (folders.workspace / artifact.file_name).read_text("utf-8") == artifact.file_name


async def test_two_relays_on_one_folder_do_not_mix_their_saves(
    folders: Folders, library: Make
) -> None:
    relays = [library()[0] for _ in range(2)]
    wishes = [Wish(html=f"html {n}", title="Notes") for n in range(10)]
    await asyncio.gather(*(relays[n % 2].save(wish) for n, wish in enumerate(wishes)))
    html = (folders.workspace / "notes.html").read_text(encoding="utf-8")
    assert (folders.shelf / "notes.html").read_text(encoding="utf-8") == html


async def test_a_folder_that_another_relay_holds_for_too_long_is_unavailable(
    folders: Folders, library: Make
) -> None:
    from relay.miniapps.disk import held

    mini_apps, _ = library(mini_app_store_wait_ms=20)
    holding = held(folders.shelf, wait_ms=20)
    await asyncio.to_thread(holding.__enter__)
    with pytest.raises(Refusal) as caught:
        await mini_apps.save(Wish(html="html", title="Notes"))
    await asyncio.to_thread(holding.__exit__, None, None, None)
    assert caught.value.code is RefusalCode.STORE_UNAVAILABLE
    assert (await mini_apps.save(Wish(html="html", title="Notes"))).created


async def test_a_save_and_a_deletion_are_told_once(library: Make) -> None:
    mini_apps, told = library()
    await mini_apps.save(Wish(html="one", title="Notes"))
    await mini_apps.save(Wish(html="another", title="Notes"))
    await mini_apps.delete("notes")
    await mini_apps.compare()
    kinds = [(each.created, each.updated) for each in told if isinstance(each, MiniApp)]
    assert kinds == [(True, False), (False, True)]
    assert told[2:] == [MiniAppDeleted(app_id="app_notes")]


async def test_what_somebody_drops_is_told_at_the_next_look(
    folders: Folders, library: Make
) -> None:
    mini_apps, told = library()
    folders.page("before.html")
    await mini_apps.compare()
    assert told == []
    folders.page("after.html")
    await mini_apps.compare()
    assert [each.mini_app.app_id for each in told if isinstance(each, MiniApp)] == ["page_after"]


async def test_a_promotion_is_a_page_that_goes_and_an_app_that_comes(
    folders: Folders, library: Make
) -> None:
    mini_apps, told = library()
    folders.page("notes.html")
    await mini_apps.save(Wish(html="app", app_id="page_notes"))
    assert told[0] == MiniAppDeleted(app_id="page_notes")
    assert isinstance(told[1], MiniApp)
    assert told[1].mini_app.app_id == "app_notes"


async def test_many_changes_at_once_are_told_as_one(folders: Folders, library: Make) -> None:
    mini_apps, told = library(mini_app_news_max=3)
    await mini_apps.compare()
    for number in range(4):
        folders.page(f"{number}.html")
    await mini_apps.compare()
    assert told == [MiniAppsChanged(count=4)]


async def test_a_listener_that_leaves_hears_nothing_more(folders: Folders, library: Make) -> None:
    mini_apps, told = library()
    heard: list[MiniAppNews] = []
    leave = mini_apps.subscribe(heard.append)
    leave()
    await mini_apps.save(Wish(html="one", title="Notes"))
    assert (len(told), heard) == (1, [])


async def test_one_artifact_is_found_with_its_html(folders: Folders, library: Make) -> None:
    mini_apps, _ = library()
    put(folders.examples / "scoreboard.html", "<p>score</p>")
    assert (await mini_apps.find("scoreboard")).html == "<p>score</p>"


async def test_a_folder_that_can_not_be_recovered_does_not_stop_the_relay(
    folders: Folders, library: Make
) -> None:
    folders.shelf.rmdir()
    folders.shelf.write_text("a file", encoding="utf-8")
    mini_apps, _ = library()
    await mini_apps.recover()
    assert await mini_apps.look(lambda listing: listing.entries) == []
