import asyncio

from tests.fakes.declared import SET_SCORE, tool
from tests.server.conftest import Peer, Relay, StartRelay


async def page_with_tool(relay: Relay) -> tuple[Peer, str]:
    page = await relay.socket("/workspace")
    welcome = await page.next("welcome")
    await page.say(type="register_tools", appId="app_x", title="X", tools=[SET_SCORE])
    await page.next("tools_registered")
    return page, welcome["workspaceId"]


async def test_a_registration_says_what_was_accepted_and_what_refused(relay: Relay) -> None:
    page = await relay.socket("/workspace")
    welcome = await page.next()
    assert (welcome["type"], welcome["room"]) == ("welcome", "main")
    bad = tool("pattern", x={"type": "string", "pattern": "a"})
    await page.say(type="register_tools", appId="app_x", tools=[SET_SCORE, bad, 7])
    told = await page.next()
    assert told["type"] == "tools_registered"
    assert told["accepted"] == [{"name": "set_score", "exposedName": "set_score"}]
    assert [refusal["refused"] for refusal in told["rejected"]] == [
        "invalid-tool-parameters",
        "invalid-tool-declaration",
    ]


async def test_a_second_registration_replaces_the_first(relay: Relay) -> None:
    page, _ = await page_with_tool(relay)
    await page.say(type="register_tools", appId="app_x", tools=[tool("other")])
    await page.next("tools_registered")
    assert await relay.app_tools() == ["other"]


async def test_a_closed_or_stopped_app_has_no_tools(relay: Relay) -> None:
    for farewell in ({"type": "app_closed"}, {"type": "app_state", "state": "stopped"}):
        page, _ = await page_with_tool(relay)
        await page.say(appId="app_x", **farewell)
        await page.say(type="nonsense")
        await page.next("refused")
        assert await relay.app_tools() == []
        await page.socket.close()


async def test_an_app_that_does_not_respond_keeps_its_tools(relay: Relay) -> None:
    page, _ = await page_with_tool(relay)
    await page.say(type="app_state", appId="app_x", state="not-responding")
    await page.say(type="nonsense")
    await page.next("refused")
    assert await relay.app_tools() == ["set_score"]


async def test_a_reconnect_with_the_same_id_keeps_the_tools(relay: Relay) -> None:
    page, workspace_id = await page_with_tool(relay)
    await page.socket.close()
    again = await relay.socket("/workspace", workspaceId=workspace_id)
    assert (await again.next("welcome"))["workspaceId"] == workspace_id
    assert await relay.app_tools() == ["set_score"]


async def test_a_page_that_stays_away_loses_its_tools(start_relay: StartRelay) -> None:
    relay = await start_relay(page_grace_ms=1)
    page, workspace_id = await page_with_tool(relay)
    await page.socket.close()
    while await relay.app_tools():
        pass
    again = await relay.socket("/workspace", workspaceId=workspace_id)
    assert (await again.next("welcome"))["workspaceId"] != workspace_id


async def test_only_the_page_that_was_asked_can_answer(relay: Relay) -> None:
    page, _ = await page_with_tool(relay)
    thief = await relay.socket("/workspace")
    await thief.next("welcome")
    call = {"name": "set_score", "args": {"team": "home", "points": 3}}
    asking = asyncio.create_task(relay.ask("POST", "/api/call", json=call))
    question = await page.next("call_tool")
    forged = {"type": "tool_result", "callId": question["callId"], "ok": True}
    await thief.say(**forged, result={"stolen": True})
    await thief.say(type="nonsense")
    await thief.next("refused")
    await page.say(**forged, result={"stolen": False})
    _, outcome = await asking
    assert outcome["result"] == {"stolen": False}


async def test_a_client_that_hangs_up_cancels_its_call(relay: Relay) -> None:
    page, _ = await page_with_tool(relay)
    watching = await relay.socket("/frames")
    call = {"name": "set_score", "args": {"team": "home", "points": 3}}
    asking = asyncio.create_task(relay.ask("POST", "/api/call", json=call))
    question = await page.next("call_tool")
    asking.cancel()
    told = await page.next("cancel_tool")
    assert told["callId"] == question["callId"]
    frame = await watching.next("tool", state="done")
    assert (frame["callId"], frame["refused"]) == (question["callId"], "cancelled")


async def test_a_late_answer_is_dropped_and_the_page_told_to_stop(start_relay: StartRelay) -> None:
    relay = await start_relay(tool_call_timeout_ms=20)
    page, _ = await page_with_tool(relay)
    call = {"name": "set_score", "args": {"team": "home", "points": 3}}
    _, outcome = await relay.ask("POST", "/api/call", json=call)
    assert outcome["refused"] == "time-exceeded"
    assert outcome["why"] == "tool execution timed out after 20ms"
    question = await page.next("call_tool")
    cancel = await page.next("cancel_tool")
    assert cancel["callId"] == question["callId"]
    await page.say(type="tool_result", callId=question["callId"], ok=True, result=1)
    await page.say(type="nonsense")
    await page.next("refused")


async def test_pages_are_capped(start_relay: StartRelay) -> None:
    relay = await start_relay(sockets_per_room_max=1)
    await page_with_tool(relay)
    second = await relay.socket("/workspace")
    assert (await second.next())["refused"] == "server-full"
    assert await second.closed() == 1008
