import asyncio
import itertools
from typing import Any

import orjson
import pytest
from msgspec import Raw

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools import registry as registry_module
from relay.tools.registry import ToolRegistry
from relay.tools.schema import admit_tool
from relay.tools.tool import AppId, ToolSpec
from tests.fakes.declared import SET_SCORE, tool
from tests.fakes.hosts import FakeHost

APP, OTHER = AppId("app_x"), AppId("app_y")


def names(registry: ToolRegistry) -> list[str]:
    return [told.exposed_name for told in registry.tools()]


def refused(registry: ToolRegistry, name: str) -> RefusalCode:
    with pytest.raises(Refusal) as caught:
        registry.find(name)
    return caught.value.code


def spec(name: str) -> ToolSpec:
    return admit_tool(tool(name))


async def test_a_set_is_admitted_in_order_and_can_be_called() -> None:
    registry, host = ToolRegistry(), FakeHost()
    admission = await registry.replace(host, APP, [SET_SCORE, Raw(orjson.dumps(tool("reset")))])
    assert [told.exposed_name for told in admission.accepted] == ["set_score", "reset"]
    assert admission.rejected == []
    found = registry.find("reset")
    assert (found.host, found.app_id, found.spec.name) == (host, APP, "reset")


async def test_a_bad_tool_is_named_and_removes_no_other() -> None:
    registry = ToolRegistry()
    bad = [tool("bad name"), Raw(b"{"), 5, {"name": "\ud800"}, tool("odd", v={"type": "date"})]
    admission = await registry.replace(FakeHost(), APP, [tool("a"), *bad, tool("b")])
    assert names(registry) == ["a", "b"]
    assert [(name, refusal.code) for name, refusal in admission.rejected] == [
        ("bad name", RefusalCode.INVALID_TOOL_NAME),
        ("", RefusalCode.INVALID_TOOL_DECLARATION),
        ("", RefusalCode.INVALID_TOOL_DECLARATION),
        ("?", RefusalCode.INVALID_TOOL_DECLARATION),
        ("odd", RefusalCode.INVALID_TOOL_PARAMETERS),
    ]


async def test_a_tool_that_is_gone_is_withdrawn_and_one_that_never_was_is_unknown() -> None:
    registry, host = ToolRegistry(limits=Limits(call_log_max=1)), FakeHost()
    assert refused(registry, "a") is RefusalCode.UNKNOWN_TOOL
    await registry.replace(host, APP, [tool("a"), tool("b")])
    await registry.replace(host, APP, [tool("b")])
    assert refused(registry, "a") is RefusalCode.TOOL_WITHDRAWN
    registry.withdraw(host, APP)
    assert refused(registry, "b") is RefusalCode.TOOL_WITHDRAWN
    assert refused(registry, "a") is RefusalCode.UNKNOWN_TOOL, "only so many are remembered"
    await registry.replace(host, APP, [tool("b")])
    assert registry.find("b").app_id == APP


async def test_the_unknown_tools_sentence_names_what_there_is() -> None:
    registry = ToolRegistry()
    await registry.replace(FakeHost(), APP, [tool("lights_on")])
    with pytest.raises(Refusal, match="lights_on"):
        registry.find("light_on")


async def test_a_refused_replacement_keeps_the_earlier_tool() -> None:
    registry, host = ToolRegistry(), FakeHost()
    await registry.replace(host, APP, [tool("a"), tool("b")])
    admission = await registry.replace(
        host, APP, [tool("a", v={"type": "date"}), tool("c"), tool("never", v={})]
    )
    assert names(registry) == ["a", "c"]
    assert [told.exposed_name for told in admission.accepted] == ["c"]
    assert [name for name, _ in admission.rejected] == ["a", "never"]
    assert registry.find("a").spec.parameters["properties"] == {}


async def test_the_seventeenth_is_refused_and_no_earlier_tool_is_kept_over_the_cap() -> None:
    registry, host = ToolRegistry(), FakeHost()
    await registry.replace(host, APP, [tool("old")])
    sixteen = [tool(f"t{number}") for number in range(16)]
    admission = await registry.replace(
        host, APP, [*sixteen, tool("t16"), tool("old", v={"type": "date"}), tool("t3")]
    )
    assert [(name, refusal.code) for name, refusal in admission.rejected] == [
        ("t16", RefusalCode.TOO_MANY_TOOLS),
        ("old", RefusalCode.INVALID_TOOL_PARAMETERS),
    ]
    assert names(registry) == [f"t{number}" for number in range(16)]


async def test_one_name_declared_twice_is_one_tool_the_later_one() -> None:
    registry = ToolRegistry()
    later = tool("a", v={"type": "string"})
    admission = await registry.replace(FakeHost(), APP, [tool("a"), tool("b"), later])
    assert names(registry) == ["a", "b"]
    assert len(admission.accepted) == 2
    assert "v" in registry.find("a").spec.parameters["properties"]


async def test_two_apps_and_two_pages_with_one_name_are_all_callable() -> None:
    registry, pages = ToolRegistry(), [FakeHost(), FakeHost()]
    for host in pages:
        for app in (APP, OTHER):
            await registry.replace(host, app, [SET_SCORE])
    assert names(registry) == ["set_score", "set_score_2", "set_score_3", "set_score_4"]
    assert {(registry.find(name).host, registry.find(name).app_id) for name in names(registry)} == {
        (host, app) for host in pages for app in (APP, OTHER)
    }


async def test_a_name_is_stable_while_its_tool_is_registered() -> None:
    registry, host = ToolRegistry(), FakeHost()
    await registry.replace(host, APP, [tool("a")])
    await registry.replace(host, OTHER, [tool("a"), tool("b")])
    registry.withdraw(host, APP)
    changed = tool("a", v={"type": "string"})
    await registry.replace(host, OTHER, [tool("b"), changed])
    assert names(registry) == ["b", "a_2"]
    await registry.replace(host, APP, [tool("a")])
    assert names(registry) == ["b", "a_2", "a"]


@pytest.mark.parametrize(
    ("declared", "exposed"),
    [
        ("1up", "_1up"),
        ("-x", "_-x"),
        ("_x", "_x"),
        ("9" * 64, "_" + "9" * 63),
        ("hash", "hash_2"),
        ("HASH", "HASH_2"),
        ("call-extension", "call-extension_2"),
        ("Call_Extension", "Call_Extension_2"),
    ],
)
async def test_exposed_names_suit_every_provider_and_spare_the_relays_own(
    declared: str, exposed: str
) -> None:
    registry = ToolRegistry()
    registry.reserve(FakeHost(kind="built-in"), [spec("call_extension")])
    registry.reserve(FakeHost(kind="wasm"), [spec("hash")])
    await registry.replace(FakeHost(), APP, [tool(declared)])
    assert names(registry) == ["call_extension", "hash", exposed]
    assert registry.find(exposed).spec.name == declared


async def test_long_names_stay_unique_and_within_64_characters() -> None:
    registry, long = ToolRegistry(), "n" * 64
    for number in range(12):
        await registry.replace(FakeHost(), AppId(f"app_{number}"), [tool(long)])
    assert len(set(names(registry))) == 12
    assert all(len(name) <= 64 for name in names(registry))


async def test_a_suffix_that_an_app_uses_itself_is_passed_over() -> None:
    registry = ToolRegistry()
    await registry.replace(FakeHost(), APP, [tool("set_2"), tool("set")])
    await registry.replace(FakeHost(), OTHER, [tool("set")])
    assert names(registry) == ["set_2", "set", "set_3"]


async def test_a_tool_that_the_relay_gets_later_takes_its_name_back() -> None:
    registry, shelf = ToolRegistry(), FakeHost(kind="wasm")
    await registry.replace(FakeHost(), APP, [tool("hash"), tool("other")])
    registry.reserve(shelf, [spec("hash")])
    assert names(registry) == ["hash", "hash_2", "other"]
    assert registry.find("hash").host is shelf
    assert registry.find("hash_2").app_id == APP
    registry.reserve(shelf, [])
    assert names(registry) == ["hash_2", "other"]


def test_a_name_that_is_built_in_is_not_the_shelfs_to_take() -> None:
    registry, built_in, shelf = ToolRegistry(), FakeHost(kind="built-in"), FakeHost(kind="wasm")
    registry.reserve(built_in, [spec("list_extensions")])
    registry.reserve(shelf, [spec("list_extensions"), spec("hash")])
    assert names(registry) == ["list_extensions", "hash"]
    assert registry.find("list_extensions").host is built_in


async def test_a_change_is_told_once_and_no_change_is_not_told() -> None:
    registry, host = ToolRegistry(), FakeHost()
    told: list[int] = []
    unsubscribe = registry.subscribe(lambda: told.append(registry.revision))
    own = FakeHost(kind="built-in")
    for _ in range(2):
        registry.reserve(own, [spec("list_extensions")])
        await registry.replace(host, APP, [SET_SCORE])
    assert told == [1, 2]
    await registry.replace(host, APP, [tool("bad name")])
    assert told == [1, 2, 3]
    registry.withdraw(host, APP)
    registry.withdraw(host, OTHER)
    assert told == [1, 2, 3]
    unsubscribe()
    await registry.replace(host, APP, [SET_SCORE])
    assert told == [1, 2, 3]
    assert registry.revision == 4


async def test_one_tool_is_added_or_replaced_and_a_refused_one_changes_nothing() -> None:
    registry, host = ToolRegistry(), FakeHost()
    await registry.register(host, APP, tool("a"))
    added = await registry.register(host, APP, tool("b"))
    assert added.exposed_name == "b"
    with pytest.raises(Refusal) as caught:
        await registry.register(host, APP, tool("a", v={"type": "date"}))
    assert caught.value.code is RefusalCode.INVALID_TOOL_PARAMETERS
    assert names(registry) == ["a", "b"]


async def test_registrations_of_one_app_end_in_the_order_in_which_they_began() -> None:
    registry, host = ToolRegistry(), FakeHost()
    many = [tool(f"t{number}", v={"type": "string"}) for number in range(16)]
    await asyncio.gather(
        registry.replace(host, APP, many), registry.replace(host, APP, [tool("last")])
    )
    assert names(registry) == ["last"]


async def test_a_registration_gives_the_loop_a_turn_after_each_piece_of_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Structure, not time: what a piece costs at most is measured by scripts/bench/contract.py."""
    log: list[str] = []
    clock = itertools.count()  # every piece takes long
    monkeypatch.setattr(registry_module, "perf_counter", lambda: next(clock))
    for work in ("open_declaration", "read_declaration", "check_of"):
        done = getattr(registry_module, work)

        def noted(*args: Any, _done: Any = done, _work: str = work, **more: Any) -> Any:
            log.append(_work)
            return _done(*args, **more)

        monkeypatch.setattr(registry_module, work, noted)

    async def tick() -> None:
        while True:
            log.append("turn")
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    wide = {f"p{number}": {"type": "number", "minimum": 1} for number in range(500)}
    declared = [tool(f"t{number}", **wide) for number in range(14)]
    bad = [tool("bad name"), tool("odd", v={"type": "date"})]
    await ToolRegistry().replace(FakeHost(), APP, [*declared, *bad])
    ticking.cancel()
    assert log.count("check_of") == 14
    assert log.count("open_declaration") == 16
    pieces = [pair for pair in itertools.pairwise(log) if "turn" not in pair]
    assert pieces == []


async def test_small_tools_share_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "perf_counter", lambda: 0.0)  # no piece takes any time
    registry, host = ToolRegistry(), FakeHost()
    registering = asyncio.ensure_future(registry.replace(host, APP, [SET_SCORE, tool("reset")]))
    await asyncio.sleep(0)
    assert names(registry) == ["set_score", "reset"]
    await registering
