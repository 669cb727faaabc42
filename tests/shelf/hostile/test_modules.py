"""Each hostile module is refused with its code, and the next honest call is answered."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.host import ShelfHost
from relay.tools.tool import CallId, ToolCall, ToolName, ToolSpec, Waiting
from tests.shelf.hostile.modules import EVERY, OK, Hostile, jump_tables, straight_line
from tests.shelf.shelves import LIMITS, Shelf, ask, refusal_of, serving

IDS = [hostile.name for hostile in EVERY]
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
GIVEN_UP = {RefusalCode.TIME_EXCEEDED, RefusalCode.RESOURCE_EXCEEDED}
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ShelfHost]:
    """One host for them all: what one module does must not harm the next."""
    shelf = Shelf(tmp_path_factory.mktemp("hostile"))
    shelf.put_shipped("hash")
    limits = Limits(
        wasm_call_deadline_ms=LIMITS.wasm_call_deadline_ms, wasm_tools_max=len(EVERY) + 1
    )
    for number, hostile in enumerate(EVERY):
        shelf.put(f"t{number}", hostile.module, abi=hostile.abi)
    async with serving(shelf.folder, limits=limits) as host:
        yield host


@pytest.mark.parametrize(("number", "hostile"), [*enumerate(EVERY)], ids=IDS)
async def test_a_hostile_module_is_refused_by_its_code_and_harms_nobody(
    host: ShelfHost, number: int, hostile: Hostile
) -> None:
    code, why = await outcome(host, f"t{number}", hostile.abi)
    assert code is hostile.code, why
    assert hostile.why in why
    assert (await ask(host, "hash", input="abc"))["output"] == ABC


async def outcome(host: ShelfHost, tool_id: str, abi: str) -> tuple[RefusalCode | None, str]:
    """Call as somebody would who kept a declaration from before the module was found bad."""
    spec = ToolSpec(name=ToolName(tool_id), description="", parameters={})
    args = {"a": "x\n", "b": "y\n"} if abi == "buffer-abi/diff" else {"input": "abc"}
    call = ToolCall(call_id=CallId("call_test"), name=tool_id, args=args)
    try:
        await host.call(spec, call, args, Waiting())
    except Refusal as refusal:
        return refusal.code, refusal.why
    return OK, ""


async def test_a_module_that_is_refused_before_it_runs_is_not_declared(host: ShelfHost) -> None:
    status = await host.prove()
    declared = {spec.name for spec in host.specs()}
    for number, hostile in enumerate(EVERY):
        code, _ = refusal_of(status, f"t{number}")
        assert (code is None) == (f"t{number}" in declared), hostile.name
    assert {f"t{n}" for n, h in enumerate(EVERY) if h.code is RefusalCode.IMPORT_UNDECLARED} & (
        declared
    ) == set()


@pytest.mark.parametrize(
    ("bomb", "size"),
    [(straight_line, (6_000_000,)), (jump_tables, (20, 60_000))],
    ids=["code", "jump tables"],
)
async def test_a_module_that_is_slow_to_compile_is_given_up_once(
    tmp_path: Path, bomb: Callable[..., bytes], size: tuple[int, ...]
) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("bomb", bomb(*size))
    shelf.put_shipped("hash")
    limits = Limits(wasm_compile_deadline_ms=1_000, wasm_call_deadline_ms=15_000)
    async with serving(shelf.folder, limits=limits) as host:
        assert (await ask(host, "hash", input="abc"))["output"] == ABC
        code, _ = await outcome(host, "bomb", "buffer-abi/1")
        assert code in GIVEN_UP  # a fast machine may run out of memory first
        assert (await outcome(host, "bomb", "buffer-abi/1"))[0] is code
        status = await host.status()
        assert refusal_of(status, "bomb")[0] is code
        assert (await ask(host, "hash", input="abc"))["output"] == ABC


async def test_a_module_that_takes_the_compilers_memory_is_given_up(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("bomb", jump_tables(20, 60_000))
    shelf.put_shipped("hash")
    limits = Limits(wasm_compile_memory_max_bytes=128 * 1024 * 1024, wasm_call_deadline_ms=15_000)
    async with serving(shelf.folder, limits=limits) as host:
        code, why = await outcome(host, "bomb", "buffer-abi/1")
        assert code is RefusalCode.RESOURCE_EXCEEDED, why
        assert (await ask(host, "hash", input="abc"))["output"] == ABC


async def test_a_module_over_its_size_is_refused_without_being_read(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put_shipped("hash")
    shelf.put("large", b"")
    with (shelf.folder / "large.wasm").open("r+b") as file:
        file.truncate(Limits().wasm_module_max_bytes + 1)  # a hole: 16 MiB that are nowhere
    async with serving(shelf.folder) as host:
        assert (await outcome(host, "large", "buffer-abi/1"))[0] is RefusalCode.MODULE_TOO_LARGE
        (shelf.folder / "large.wasm").unlink()
        assert (await outcome(host, "large", "buffer-abi/1"))[0] is RefusalCode.WASM_UNREADABLE
