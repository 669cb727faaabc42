import json

import pytest

from relay.providers import model as upstream
from relay.tools.tool import CallId
from tests.fakes.declared import SET_SCORE
from tests.fakes.models import FakeSession
from tests.server.conftest import PATIENCE_S, Peer, Relay, StartRelay, until

FRAME = b"\0\1" * 480
BOUND = 1_048_576


async def opened(relay: Relay, **hello: object) -> tuple[Peer, FakeSession]:
    """A ready conversation; every message up to `ready` has been read."""
    peer = await relay.socket("/live", **hello)
    assert (await peer.next())["type"] == "rate"
    live = await relay.model.opened.get()
    live.play(upstream.Ready())
    await peer.next("state", state="ready")
    return peer, live


async def test_the_rates_come_first_and_name_the_model(relay: Relay) -> None:
    peer = await relay.socket("/live")
    rate = await peer.next()
    session_id = rate.pop("sessionId")
    assert session_id.startswith("session_")
    assert rate == {
        "type": "rate",
        "inputRate": 24_000,
        "outputRate": 24_000,
        "provider": "fake",
        "model": "fake-1",
        "room": "main",
    }


async def test_sound_reaches_the_model_in_whole_samples(relay: Relay) -> None:
    peer, live = await opened(relay)
    for piece in (b"\1", b"\2\3", b"\4"):
        await peer.socket.send_bytes(piece)
    await peer.say(type="text", text="done")
    await until(lambda: live.texts)
    assert b"".join(live.heard) == b"\1\2\3\4"
    assert all(len(pcm) % 2 == 0 for pcm in live.heard)


@pytest.mark.parametrize("size", [0, BOUND + 1])
async def test_empty_and_oversized_sound_costs_itself_only(relay: Relay, size: int) -> None:
    peer, live = await opened(relay)
    await peer.socket.send_bytes(bytes(size))
    assert (await peer.next("error"))["fatal"] is False
    await peer.socket.send_bytes(bytes(BOUND))
    await peer.say(type="text", text="still here")
    await until(lambda: live.texts)
    assert [len(pcm) for pcm in live.heard] == [BOUND]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "bad-json"),
        ('{"type":"launch"}', "unknown-message"),
        ('{"type":"text"}', "bad-request"),
        ('{"type":"stop","now":true}', "bad-request"),
        ('{"type":"tool_result","callId":"c","ok":true}', "unknown-message"),
        ("[" * 100_000, "bad-json"),
    ],
)
async def test_a_bad_message_costs_itself_only(relay: Relay, text: str, code: str) -> None:
    peer, live = await opened(relay)
    await peer.socket.send_str(text)
    told = await peer.next("refused")
    assert told["refused"] in {code, "bad-request"}
    await peer.say(type="text", text="still here")
    live.play(upstream.SpeechStopped())
    await peer.next("state", state="thinking")
    assert live.texts == ["still here"]


async def test_stop_closes_with_1000_after_one_closed_state(relay: Relay) -> None:
    peer, live = await opened(relay)
    await peer.say(type="stop")
    closed = await peer.next("state", state="closed")
    assert closed["code"] == 1000
    assert await peer.closed() == 1000
    assert live.closed


async def test_a_client_that_leaves_ends_its_session(relay: Relay) -> None:
    peer, live = await opened(relay)
    await peer.socket.close()
    while not live.closed:
        _, health = await relay.ask("GET", "/api/health")
    assert health["live"]["created"] == 1
    _, health = await relay.ask("GET", "/api/health")
    assert health["live"]["open"] == 0


async def test_a_lost_model_closes_with_1011(relay: Relay) -> None:
    peer, live = await opened(relay)
    live.play(upstream.SessionLost("the engine is gone"))
    assert (await peer.next("error"))["code"] == "session-lost"
    await peer.next("state", state="closed", code=1011)
    assert await peer.closed() == 1011


async def test_an_unknown_provider_is_refused_with_the_list(relay: Relay) -> None:
    peer = await relay.socket("/live", provider="nobody")
    told = await peer.next()
    assert told["refused"] == "unknown-provider"
    assert "fake" in told["why"]
    assert await peer.closed() == 1008
    assert relay.model.opened.empty()


async def test_an_answer_is_heard_and_completed(relay: Relay) -> None:
    peer, live = await opened(relay)
    live.play(
        upstream.TurnStarted(turn_id="t1"),
        upstream.AudioOut(turn_id="t1", pcm=FRAME),
        upstream.TurnEnded(turn_id="t1"),
    )
    await peer.next("state", state="speaking", turnId="t1")
    assert await peer.socket.receive_bytes(timeout=PATIENCE_S) == FRAME
    done = await peer.next()
    assert done == {
        "type": "state",
        "state": "turn-complete",
        "turnId": "t1",
        "reason": "completed",
    }


async def test_captions_can_be_switched_off(relay: Relay) -> None:
    peer, live = await opened(relay, captions=False)
    live.play(
        upstream.TranscriptDelta(role="user", text="hi", final=True, turn_id="t1"),
        upstream.SpeechStopped(),
    )
    await peer.next("tools")
    assert (await peer.next())["state"] == "thinking"


async def test_a_client_sees_the_frames_of_its_own_session_only(relay: Relay) -> None:
    peer, live = await opened(relay)
    await relay.ask("POST", "/api/call", json={"name": "of_another"})
    live.play(upstream.ToolCallRequested(call_id=CallId("c1"), name="of_mine"))
    called = await peer.next("tool")
    assert (called["name"], called["state"], called["callId"]) == ("of_mine", "called", "c1")
    done = await peer.next("tool")
    assert (done["refused"], done["delivered"]) == ("unknown-tool", True)


async def test_a_client_that_does_not_read_is_let_go(start_relay: StartRelay) -> None:
    relay = await start_relay(send_queue_max_messages=8, stuck_client_ms=300)
    peer, live = await opened(relay)
    caption = upstream.TranscriptDelta(role="user", text="x" * 60_000, final=True, turn_id="t")
    for _ in range(400):
        live.play(caption)
    while not live.closed:
        await relay.ask("GET", "/api/health")
    assert await peer.closed() in {1006, 1013}


async def test_a_client_that_stops_reading_the_answer_is_let_go(start_relay: StartRelay) -> None:
    relay = await start_relay(stuck_client_ms=300, ping_interval_ms=3_600_000)
    peer, live = await opened(relay)  # reads, so it has answered the first ping
    live.play(upstream.TurnStarted(turn_id="t1"), upstream.AudioOut(turn_id="t1", pcm=FRAME * 100))
    while not live.closed:
        await relay.ask("GET", "/api/health")
    assert await peer.closed() in {1006, 1013}


async def test_a_spoken_call_moves_the_app_on_the_page(relay: Relay) -> None:
    page = await relay.socket("/workspace")
    await page.next("welcome")
    await page.say(type="register_tools", appId="app_scoreboard", tools=[SET_SCORE])
    await page.next("tools_registered")
    peer, live = await opened(relay)
    dashboard = await relay.socket("/frames")
    await dashboard.say(type="nonsense")
    await dashboard.next("refused")  # so it is listening by now
    args = {"team": "home", "points": 3}
    live.play(upstream.ToolCallRequested(call_id=CallId("c1"), name="set_score", args=args))
    await page.next("tool", state="called")
    question = await page.next("call_tool")
    assert (question["appId"], question["name"]) == ("app_scoreboard", "set_score")
    assert question["args"] == args
    await page.say(type="tool_result", callId="c1", ok=True, result={"currentScore": 3})
    await peer.next("tool", state="called")
    await dashboard.next("tool", state="called")
    for watcher in (peer, page, dashboard):
        done = await watcher.next("tool", state="done")
        assert done["ok"] is True
        assert json.loads(done["output"]) == {"currentScore": 3}
        assert done["durationMs"] >= 0
        assert done["queuedMs"] == 0


async def test_a_page_that_dies_during_a_call_costs_the_call_only(relay: Relay) -> None:
    page = await relay.socket("/workspace")
    await page.say(type="register_tools", appId="app_scoreboard", tools=[SET_SCORE])
    await page.next("tools_registered")
    peer, live = await opened(relay)
    args = {"team": "home", "points": 3}
    live.play(upstream.ToolCallRequested(call_id=CallId("c1"), name="set_score", args=args))
    await page.next("call_tool")
    await page.socket.close()
    done = await peer.next("tool", state="done")
    assert done["refused"] == "mini-app-unreachable"
    await peer.say(type="text", text="still here?")
    live.play(upstream.SpeechStopped())
    await peer.next("state", state="thinking")
    assert live.texts == ["still here?"]
