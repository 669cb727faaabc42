"""How a provider fails, and what the person is told: a code, a scrubbed sentence, no traceback."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import structlog

from relay.protocol import messages as wire
from relay.providers import loss
from relay.providers.model import SessionConfig
from relay.providers.secret import Secret
from tests.fakes.gemini_live import FakeGemini
from tests.fakes.openai_realtime import FakeOpenAI
from tests.fakes.remote import gemini_model, openai_model
from tests.fakes.talks import BRISK, PATIENCE_S, Talk, eventually, talk

Server = FakeOpenAI | FakeGemini
LEAK = re.compile(r"(?i)traceback|canary|sk-|AIza|wss?://|127\.0\.0\.1")


@asynccontextmanager
async def serving(provider: str) -> AsyncIterator[tuple[Server, Any]]:
    if provider == "openai":
        async with FakeOpenAI() as openai:
            yield openai, openai_model(openai)
        assert openai.faults == []
    else:
        async with FakeGemini() as gemini:
            yield gemini, gemini_model(gemini)
        assert gemini.faults == []


def assert_told(talking: Talk, code: str, *words: str) -> None:
    """The client has one fatal error with that code, and the closing reason says why."""
    (error,) = [one for one in talking.errors() if one.fatal]
    assert error.code == code
    assert talking.end is not None or talking.client.states[-1] == "closed"
    (closed,) = [one for one in talking.client.messages if isinstance(one, wire.State) and one.code]
    assert (closed.code, closed.reason) == (1011, error.message)
    for word in words:
        assert word in error.message
    assert LEAK.search(repr(talking.client.told)) is None


PROVIDERS = pytest.mark.parametrize("provider", ["openai", "gemini"])


@PROVIDERS
@pytest.mark.parametrize(
    ("close_code", "reason", "code"),
    [
        (1007, "Request contains an invalid argument.", loss.REFUSED),
        (1007, "API key expired: sk-canary-000000 AIzaCanary000000", loss.REFUSED),
        (1008, "Operation is not implemented, or supported, or enabled.", loss.REFUSED),
        (4000, "invalid_request_error.beta_api_shape_disabled", loss.REFUSED),
    ],
)
async def test_a_close_that_says_no_is_final(
    provider: str, close_code: int, reason: str, code: str
) -> None:
    async with serving(provider) as (server, model), talk(model) as talking:
        peer = await (await server.connection()).ready()
        await peer.close(close_code, reason)
        await talking.client.until("closed")
        assert_told(talking, code, str(close_code), reason[:12])
        assert len(server.connections) == 1
        assert "reconnecting" not in talking.client.states


@PROVIDERS
@pytest.mark.parametrize("close_code", [1001, 1006, 1011, 1012, 1013])
async def test_a_close_that_may_pass_is_answered_by_another_connection(
    provider: str, close_code: int
) -> None:
    async with serving(provider) as (server, model), talk(model) as talking:
        peer = await (await server.connection()).ready()
        if close_code == 1006:
            peer.drop()  # a reset: no close frame at all
        else:
            await peer.close(close_code, "come back later")
        await talking.client.until("resumed")
        assert talking.client.states[-2:] == ["reconnecting", "resumed"]
        assert talking.errors() == []


@PROVIDERS
async def test_a_server_that_ends_the_session_in_order_ends_it(provider: str) -> None:
    async with serving(provider) as (server, model), talk(model) as talking:
        peer = await (await server.connection()).ready()
        await peer.close(1000, "bye")
        await talking.client.until("closed")
        assert talking.errors() == []
        assert len(server.connections) == 1


@PROVIDERS
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, loss.KEY_REFUSED),
        (403, loss.KEY_REFUSED),
        (404, loss.REFUSED),
        (429, loss.BUSY),
        (500, loss.FAILED),
        (503, loss.BUSY),
    ],
)
async def test_an_http_status_at_the_first_upgrade_is_told_at_once(
    provider: str, status: int, code: str
) -> None:
    async with serving(provider) as (server, model):
        server.refuse_with = status
        async with talk(model, until="closed") as talking:
            assert_told(talking, code, f"HTTP {status}")
            assert "reconnecting" not in talking.client.states


@PROVIDERS
@pytest.mark.parametrize(("status", "attempts"), [(401, 1), (429, 5), (503, 5)])
async def test_an_http_status_while_reconnecting_is_tried_again_only_if_it_may_pass(
    provider: str, status: int, attempts: int
) -> None:
    async with serving(provider) as (server, model), talk(model) as talking:
        peer = await (await server.connection()).ready()
        server.refuse_with = status
        peer.drop()
        await talking.client.until("closed")
        assert talking.client.states.count("reconnecting") == attempts
        assert "ready" not in talking.client.states[2:]
        (error,) = talking.errors()
        assert f"HTTP {status}" in error.message


async def test_attempts_that_take_long_are_counted_all_the_same() -> None:
    limits = msgspec.structs.replace(BRISK, provider_steady_ms=1)
    async with (
        FakeOpenAI() as server,
        talk(openai_model(server, limits=limits), limits=limits) as talking,
    ):
        peer = await (await server.connection()).ready()
        server.refuse_with = 503
        peer.drop()
        await talking.client.until("closed")
        assert talking.client.states.count("reconnecting") == 5


async def test_a_connection_that_held_starts_the_count_anew() -> None:
    limits = msgspec.structs.replace(BRISK, provider_steady_ms=0, provider_reconnects_max=1)
    async with (
        FakeOpenAI() as server,
        talk(openai_model(server, limits=limits), limits=limits) as talking,
    ):
        for times in (1, 2, 3):
            peer = await (await server.connection()).ready()
            peer.drop()
            await talking.client.until("resumed", times)


async def test_a_session_that_is_closed_while_it_dials_never_begins() -> None:
    async with FakeOpenAI() as server:
        config = SessionConfig(session_id="session_1", instructions="", tools=[])
        session = await openai_model(server).open(config)
        events = session.events()
        first = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        await session.close()
        with pytest.raises(StopAsyncIteration):
            await first
        await eventually(lambda: not server.open)


@pytest.mark.parametrize("build", [openai_model, gemini_model])
async def test_a_name_that_can_not_be_resolved_is_told_at_once(build: Any) -> None:
    server = FakeOpenAI()
    model = build(server, base_url="wss://nowhere.invalid", key=Secret("sk-canary-000000"))
    async with talk(model, until="closed") as talking:
        assert_told(talking, loss.UNREACHABLE, "can't be reached")


@pytest.mark.parametrize("build", [openai_model, gemini_model])
async def test_a_port_without_a_server_is_told_at_once(build: Any) -> None:
    model = build(FakeOpenAI(), base_url="ws://127.0.0.1:9")
    async with talk(model, until="closed") as talking:
        assert_told(talking, loss.UNREACHABLE, "can't be reached")


async def test_a_bad_key_of_gemini_is_told_without_the_key() -> None:
    async with FakeGemini() as server:
        model = gemini_model(server, key=Secret("my-own-canary-key"))
        async with talk(model, until="closed") as talking:
            assert_told(talking, loss.REFUSED, "API key not valid")


async def test_a_used_up_quota_is_final_although_1013_may_pass() -> None:
    async with serving("openai") as (server, model), talk(model) as talking:
        peer = await (await server.connection()).ready()
        await peer.fail("insufficient_quota", "You exceeded your current quota.")
        await peer.close(1013, "quota")
        await talking.client.until("closed")
        assert_told(talking, loss.BUSY, "quota")
        assert len(server.connections) == 1


async def test_a_key_never_reaches_the_log_or_the_client() -> None:
    async with serving("openai") as (server, model):
        with structlog.testing.capture_logs() as logs:
            async with talk(model) as talking:
                peer = await (await server.connection()).ready()
                await peer.fail("server_error", f"Incorrect key {server.key} at wss://x/?key=abc")
                response = await peer.response()
                await response.done("failed", error={"code": "x", "message": server.key})
                await talking.client.until("turn-complete")
                await peer.close(1008, f"key {server.key}")
                await talking.client.until("closed")
        assert "canary" not in repr(logs) + repr(talking.client.told) + repr(talking.frames)
        assert "canary" not in repr(model) + repr(vars(model)) + repr(vars(talking.live))


@PROVIDERS
async def test_a_dying_provider_stops_the_tools_that_it_asked_for(provider: str) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def hang(_: dict[str, Any]) -> object:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with serving(provider) as (server, model), talk(model, hang) as talking:
        peer: Any = await (await server.connection()).ready()
        if provider == "openai":
            response = await peer.response()
            await response.call("set_score", '{"team":"home","points":3}')
        else:
            await peer.call(("set_score", {"team": "home", "points": 3}))
        await started.wait()
        await peer.close(1008, "no")
        async with asyncio.timeout(PATIENCE_S):
            await talking.client.until("closed")
            await stopped.wait()
