"""The shelf end to end: real modules in real confined workers."""

import asyncio
import hashlib
import json
from pathlib import Path

import pytest

from relay.protocol.limits import Limits
from relay.protocol.refusals import Refusal, RefusalCode
from relay.shelf.abi import DIFF_ABI
from relay.shelf.host import ShelfHost, make_source, result
from relay.shelf.manifest import Digest, ShelfEntry
from relay.tools.tool import Waiting
from tests.shelf.shelves import LIMITS, SHIPPED, Shelf, ask, refusal_of, serving, until

LOOP = """
(module (memory (export "memory") 1)
  (func (export "sha256") (param i32) (result i32) (loop $on (br $on)) (i32.const 32)))
"""


@pytest.mark.parametrize("fork", [True, False], ids=["forked", "spawned"])
async def test_the_known_answers(*, fork: bool) -> None:
    source = make_source(limits=LIMITS, fork=fork)
    async with serving(SHIPPED, source=source) as host:
        hashed = await ask(host, "hash", input="abc")
        diffed = await ask(host, "diff", a="alpha\nbeta\n", b="alpha\ngamma\nbeta\n")
    digests = {tool["id"]: tool["digest"] for tool in json.loads(_manifest())["tools"]}
    assert hashed == {
        "ok": True,
        "tool": "hash",
        "returned": 32,
        "output": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "digest": digests["hash"],
        "inputBytes": 3,
    }
    assert diffed == {
        "ok": True,
        "tool": "diff",
        "returned": 52,
        "blocks": [
            {"op": "equal", "aLine": 0, "aCount": 1, "bLine": 0, "bCount": 1},
            {"op": "insert", "aLine": 0, "aCount": 0, "bLine": 1, "bCount": 1},
            {"op": "equal", "aLine": 1, "aCount": 1, "bLine": 2, "bCount": 1},
        ],
        "digest": digests["diff"],
        "inputBytes": 28,
    }


def _manifest() -> str:
    return (SHIPPED / "manifest.json").read_text()


async def test_each_call_has_a_worker_of_its_own_and_the_same_answer(shelf: Shelf) -> None:
    # The module counts its calls where the digest is read; a second call would say 2.
    shelf.put(
        "count",
        """(module (memory (export "memory") 1)
             (func (export "sha256") (param i32) (result i32)
               (i32.store (i32.const 0x2400)
                 (i32.add (i32.load (i32.const 0x2400)) (i32.const 1)))
               (i32.const 32)))""",
    )
    async with serving(shelf.folder) as host:
        outputs = {(await ask(host, "count", input=""))["output"] for _ in range(5)}
        outputs |= {
            answer["output"]
            for answer in await asyncio.gather(*(ask(host, "count", input="") for _ in range(20)))
        }
    assert outputs == {"01" + "00" * 31}


async def test_a_start_function_runs_once_before_the_call(shelf: Shelf) -> None:
    shelf.put(
        "starts",
        """(module (memory (export "memory") 1)
             (func $start (i32.store8 (i32.const 0x2400) (i32.const 7))) (start $start)
             (func (export "sha256") (param i32) (result i32) (i32.const 32)))""",
    )
    async with serving(shelf.folder) as host:
        outputs = [(await ask(host, "starts", input=""))["output"] for _ in range(3)]
    assert outputs == ["07" + "00" * 31] * 3


async def test_a_flipped_byte_is_refused_at_the_next_call_and_mended_at_the_one_after(
    shelf: Shelf,
) -> None:
    shelf.put_shipped("hash")
    before = shelf.entries[0]["digest"]
    async with serving(shelf.folder) as host:
        assert (await ask(host, "hash", input="abc"))["ok"]
        shelf.flip("hash", 200)
        spec = host.specs()[0]
        with pytest.raises(Refusal) as refused:
            await ask(host, "hash", input="abc")
        now = hashlib.sha256((shelf.folder / "hash.wasm").read_bytes()).hexdigest()
        assert refused.value.code is RefusalCode.DIGEST_MISMATCH
        assert before[:16] in refused.value.why
        assert now[:16] in refused.value.why
        await until(lambda: not host.specs())  # withdrawn without anybody asking
        shelf.flip("hash", 200)
        await host.status()
        assert host.specs() == (spec,)
        assert (await ask(host, "hash", input="abc"))["ok"]


async def test_a_module_that_changed_with_its_manifest_waits_for_a_person(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put_shipped("hash")
    admitted = tmp_path / "state" / "admitted.json"
    async with serving(shelf.folder, admitted=admitted) as host:
        assert (await ask(host, "hash", input="abc"))["ok"]
    shelf.put("other", (SHIPPED / "hash.wasm").read_bytes() + b"\0\2\1x")
    shelf.entries[0]["wasm"] = "other.wasm"
    shelf.repin("hash")
    async with serving(shelf.folder, admitted=admitted) as host:
        code, why = refusal_of(await host.status(), "hash")
        assert code is RefusalCode.DIGEST_MISMATCH
        assert "admit it again" in why
        assert [spec.name for spec in host.specs()] == ["other"]


async def test_status_says_what_confines_a_worker_and_what_each_entry_is(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    shelf.entries.append({"id": "bad", "wasm": "bad.wasm"})
    shelf.write()
    async with serving(shelf.folder) as host:
        await ask(host, "hash", input="")
        status = await host.status()
        assert host.ok
    assert status["ok"] is True
    assert status["dir"] == str(shelf.folder)
    assert status["worker"]["engine"][0].isdigit()
    assert "resource-limits" in status["worker"]["hardening"]
    assert [(tool["id"], tool["ok"]) for tool in status["tools"]] == [
        ("hash", True),
        ("bad", False),
    ]
    assert status["tools"][0]["abi"] == "buffer-abi/1"
    assert status["tools"][1]["refused"] == RefusalCode.SHELF_ENTRY_INVALID


async def test_a_shelf_without_manifest_is_unavailable_until_it_has_one(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    async with serving(folder) as host:
        status = await host.status()
        assert (status["ok"], status["refused"]) == (False, RefusalCode.SHELF_UNAVAILABLE)
        assert not host.ok
        Shelf(folder).put_shipped("hash")
        await host.status()
        assert host.ok
        assert (await ask(host, "hash", input="abc"))["returned"] == 32


async def test_subscribers_hear_of_each_change_and_no_longer_once_they_left(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    heard: list[list[str]] = []
    limits = Limits(wasm_watch_interval_ms=20)
    async with serving(shelf.folder, limits=limits) as host:
        leave = host.subscribe(lambda: heard.append([spec.name for spec in host.specs()]))
        shelf.put_shipped("diff")
        await until(lambda: heard == [["hash", "diff"]])  # by the watch alone
        leave()
        leave()
        shelf.entries.pop()
        shelf.write()
        await until(lambda: len(host.specs()) == 1)
    assert heard == [["hash", "diff"]]


async def test_a_module_that_does_not_compile_is_withdrawn_and_says_so(shelf: Shelf) -> None:
    shelf.put("broken", _without_result())
    async with serving(shelf.folder) as host:
        status = await host.prove()
        assert refusal_of(status, "broken")[0] is RefusalCode.WASM_INVALID
        assert host.specs() == ()


def _without_result() -> bytes:
    """A function that leaves nothing on the stack: the static look does not see that."""
    head = bytes.fromhex("0061736d0100000001060160017f017f03020100")
    rest = bytes.fromhex("0503010001" + "071302066d656d6f727902000673686132353600" + "00")
    return head + rest + bytes.fromhex("0a040102000b")


async def test_a_cancelled_call_kills_its_worker_and_frees_its_place(shelf: Shelf) -> None:
    shelf.put("loop", LOOP)
    shelf.put_shipped("hash")
    limits = Limits(wasm_running_max=1, wasm_call_deadline_ms=60_000)
    async with serving(shelf.folder, limits=limits) as host:
        await host.prove()
        waiting = Waiting()
        call = asyncio.create_task(ask(host, "loop", waiting, input=""))
        await until(lambda: waiting.queued_ms > 0)
        assert (await host.status())["worker"]["running"] == 1
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await host.status())["worker"]["running"] == 0
        assert (await ask(host, "hash", input="abc"))["returned"] == 32


async def test_one_call_more_than_may_wait_is_refused_at_once(shelf: Shelf) -> None:
    shelf.put("loop", LOOP)
    limits = Limits(wasm_running_max=1, wasm_waiting_max=1, wasm_call_deadline_ms=500)
    async with serving(shelf.folder, limits=limits) as host:
        await host.prove()
        calls = [asyncio.create_task(ask(host, "loop", input="")) for _ in range(3)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
    codes = [answer.code for answer in answers if isinstance(answer, Refusal)]
    assert sorted(codes) == [
        RefusalCode.SHELF_BUSY,
        RefusalCode.TIME_EXCEEDED,
        RefusalCode.TIME_EXCEEDED,
    ]


async def test_the_time_that_a_call_waits_is_reported(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    async with serving(shelf.folder, limits=Limits(wasm_running_max=1)) as host:
        await host.prove()
        waited = [Waiting() for _ in range(3)]
        await asyncio.gather(*(ask(host, "hash", one, input="") for one in waited))
    first, second, third = (one.queued_ms for one in waited)
    assert 0 < first < second < third


async def test_a_call_waits_for_the_compiler_no_longer_than_its_deadline(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    limits = Limits(wasm_call_deadline_ms=1)
    async with serving(shelf.folder, limits=limits) as host:
        with pytest.raises(Refusal) as refused:
            await ask(host, "hash", input="")
    assert refused.value.code is RefusalCode.TIME_EXCEEDED
    assert "compiling" in refused.value.why


async def test_arguments_are_refused_by_name_even_past_the_contract(shelf: Shelf) -> None:
    shelf.put_shipped("hash", "diff")
    async with serving(shelf.folder) as host:
        for args, code in (
            ({}, RefusalCode.MISSING_ARGUMENT),
            ({"input": 3}, RefusalCode.INVALID_ARGUMENT_TYPE),
            ({"input": "\ud800"}, RefusalCode.INVALID_ARGUMENT),
            ({"input": "x" * 8_193}, RefusalCode.INPUT_TOO_LARGE),
        ):
            with pytest.raises(Refusal) as refused:
                await ask(host, "hash", **args)
            assert refused.value.code is code
        assert (await ask(host, "hash", input="x" * 8_192))["inputBytes"] == 8_192


async def test_a_long_diff_is_cut_at_the_bound_of_a_result_and_says_so(shelf: Shelf) -> None:
    shelf.put_shipped("diff")
    old = "".join(f"{number}\n" for number in range(4_000))
    new = "".join(f"{number + number % 2 * 10_000}\n" for number in range(4_000))
    async with serving(shelf.folder) as host:
        answer = await ask(host, "diff", a=old, b=new)
    assert answer["truncated"] is True
    assert answer["blocksTotal"] == 6_000
    assert 0 < len(answer["blocks"]) < 6_000
    assert len(json.dumps(answer, separators=(",", ":"))) <= Limits().tool_output_max_bytes


def test_a_result_may_be_cut_to_nothing() -> None:
    entry = ShelfEntry(
        id="diff", wasm="", digest=Digest("0"), description="", capability="", abi=DIFF_ABI
    )
    output = bytes.fromhex("01" + "00000000" + "01000000" + "00" * 8 + "ff")
    limits = Limits(tool_output_max_bytes=64)
    answer = json.loads(result(entry, 18, output, [b"x", b""], limits=limits))
    assert (answer["blocks"], answer["blocksTotal"]) == ([], 1)


async def test_an_unknown_tool_is_refused(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    async with serving(shelf.folder) as host:
        shelf.entries.clear()
        shelf.write()
        with pytest.raises(Refusal) as refused:
            await ask(host, "hash", input="")
    assert refused.value.code is RefusalCode.UNKNOWN_TOOL


async def test_a_host_that_was_never_started_can_be_asked_and_stopped(shelf: Shelf) -> None:
    shelf.put_shipped("hash")
    host = ShelfHost(folder=shelf.folder, limits=LIMITS, admitted=None)
    assert (await host.status())["worker"]["hardening"] is None
    await host.stop()
