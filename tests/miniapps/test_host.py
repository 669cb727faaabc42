import asyncio

import msgspec
import pytest

from relay.miniapps.host import MiniAppHost
from relay.protocol.limits import Limits
from relay.protocol.messages import CallTool, CancelTool, Message, ToolResult
from relay.protocol.refusals import Refusal, RefusalCode
from relay.tools.tool import AppId, CallId, ToolCall, ToolName, ToolSpec, Waiting

SPEC = ToolSpec(name=ToolName("set_score"), description="d", parameters={"type": "object"})


class Page:
    """What a browser page would be told."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.host = MiniAppHost(limits=limits or Limits())
        self.told: list[Message] = []
        self.host.attach(self.told.append)

    def ask(self, call_id: str = "call_1") -> asyncio.Task[bytes]:
        call = ToolCall(call_id=CallId(call_id), name="set_score", app_id=AppId("app_x"))
        return asyncio.ensure_future(self.host.call(SPEC, call, {"points": 3}, Waiting()))


def result(call_id: str = "call_1", **facts: object) -> ToolResult:
    facts = {"ok": True, **facts}
    return msgspec.convert({"type": "tool_result", "callId": call_id, **facts}, ToolResult)


def ok(text: bytes, call_id: str = "call_1") -> ToolResult:
    return ToolResult(call_id=call_id, ok=True, result=msgspec.Raw(text))


async def refusal_of(task: asyncio.Task[bytes]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await task
    return caught.value


async def test_a_call_goes_out_and_its_answer_comes_back() -> None:
    page = Page()
    task = page.ask()
    await asyncio.sleep(0)
    (question,) = page.told
    assert isinstance(question, CallTool)
    assert (question.app_id, question.name) == ("app_x", "set_score")
    assert bytes(question.args) == b'{"points":3}'
    assert question.deadline_ms == Limits().tool_call_timeout_ms
    page.host.answer(ok(b'{"ok":true}'))
    assert await task == b'{"ok":true}'


async def test_the_first_answer_wins_and_the_rest_are_counted() -> None:
    page = Page()
    task = page.ask()
    await asyncio.sleep(0)
    page.host.answer(ok(b"1"))
    page.host.answer(ok(b"2"))
    assert await task == b"1"
    page.host.answer(ok(b"3"))
    page.host.answer(ok(b"4", call_id="call_of_somebody_else"))
    assert page.host.dropped_answers == 3


async def test_an_answer_without_a_result_is_null() -> None:
    page = Page()
    task = page.ask()
    await asyncio.sleep(0)
    page.host.answer(result())
    assert await task == b"null"


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        ("output-over-budget", RefusalCode.OUTPUT_OVER_BUDGET),
        ("made-up-by-the-page", RefusalCode.MINI_APP_TOOL_FAILED),
        (None, RefusalCode.MINI_APP_TOOL_FAILED),
    ],
)
async def test_a_refusal_of_the_page_keeps_only_known_codes(
    refused: str | None, code: RefusalCode
) -> None:
    page = Page()
    task = page.ask()
    await asyncio.sleep(0)
    facts = {} if refused is None else {"refused": refused, "why": "because"}
    page.host.answer(result(ok=False, **facts))
    assert (await refusal_of(task)).code is code


async def test_a_result_over_the_budget_is_refused() -> None:
    page = Page(Limits(tool_output_max_bytes=16))
    task = page.ask()
    await asyncio.sleep(0)
    page.host.answer(ok(b'"' + b"x" * 16 + b'"'))
    assert (await refusal_of(task)).code is RefusalCode.OUTPUT_OVER_BUDGET


async def test_a_result_that_is_no_json_is_refused() -> None:
    page = Page()
    task = page.ask()
    await asyncio.sleep(0)
    page.host.answer(ok(b'"\\ud800"'))
    assert (await refusal_of(task)).code is RefusalCode.RESULT_NOT_SERIALISABLE


async def test_the_deadline_refuses_with_the_seeds_sentence_and_cancels_on_the_page() -> None:
    page = Page(Limits(tool_call_timeout_ms=20))
    refusal = await refusal_of(page.ask())
    assert refusal.code is RefusalCode.TIME_EXCEEDED
    assert refusal.why == "tool execution timed out after 20ms"
    assert isinstance(page.told[-1], CancelTool)


async def test_a_cancelled_call_is_cancelled_on_the_page() -> None:
    page = Page()
    task = page.ask()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert page.told[-1] == CancelTool(call_id="call_1", reason="cancelled")


async def test_a_page_that_leaves_refuses_every_pending_call_at_once() -> None:
    page = Page()
    tasks = [page.ask("call_1"), page.ask("call_2")]
    await asyncio.sleep(0)
    page.host.detach()
    codes = {(await refusal_of(task)).code for task in tasks}
    assert codes == {RefusalCode.MINI_APP_UNREACHABLE}
    assert (await refusal_of(page.ask("call_3"))).code is RefusalCode.MINI_APP_UNREACHABLE
    assert not page.host.attached


async def test_a_call_id_can_be_pending_once_only() -> None:
    page = Page()
    first = page.ask()
    await asyncio.sleep(0)
    assert (await refusal_of(page.ask())).code is RefusalCode.BAD_REQUEST
    page.host.answer(ok(b"1"))
    assert await first == b"1"
