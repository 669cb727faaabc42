"""The remote models as a person sets them up, and over real sockets on both sides."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from relay.cli.serve import _tell_when_ready
from relay.protocol.limits import LIMITS
from relay.server.app import make_app
from relay.server.remote_models import remote_models
from relay.settings import Settings, SettingsError, read_settings
from tests.fakes.openai_realtime import FakeOpenAI
from tests.server.conftest import PATIENCE_S, TOKEN, Peer, Relay, until

FRAME = b"\1\0" * 480
SECOND = b"\1\0" * 24_000


def settings_of(tmp_path: Path, **environ: str) -> Settings:
    return read_settings({"HOME": str(tmp_path), **environ})


def test_keys_are_read_and_never_shown(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, OPENAI_API_KEY="sk-canary-1", GEMINI_API_KEY="AIzaCanary2")
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.reveal() == "sk-canary-1"
    assert "anary" not in repr(settings)
    assert settings_of(tmp_path, OPENAI_API_KEY="").openai_api_key is None


@pytest.mark.parametrize("name", ["VOICEBOX_OPENAI_VAD", "VOICEBOX_GEMINI_VAD"])
def test_an_unknown_way_to_find_the_end_of_speech_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError):
        settings_of(tmp_path, **{name: "sometimes"})


@pytest.mark.parametrize("key", ["two words", "new\nline", "\u201cquoted\u201d"])
def test_what_can_not_be_a_key_is_refused_without_showing_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_of(tmp_path, OPENAI_API_KEY=key)
    assert key not in str(caught.value)


def test_settings_reach_the_models(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        VOICEBOX_OPENAI_MODEL="gpt-realtime-mini",
        VOICEBOX_GEMINI_MODEL="models/gemini-3.1-flash-live-preview",
    )
    models = remote_models(settings, LIMITS)
    assert models["openai"].model == "gpt-realtime-mini"
    assert models["gemini"].model == "gemini-3.1-flash-live-preview"
    assert models["gemini"].capabilities.audio_during_tool is False
    assert remote_models(settings_of(tmp_path), LIMITS)["openai"].model == "gpt-realtime-2.1"


def test_what_is_missing_is_known_before_a_session_is_asked_for(tmp_path: Path) -> None:
    models = remote_models(settings_of(tmp_path, OPENAI_API_KEY="sk-canary-1"), LIMITS)
    assert models["openai"].ready
    assert models["openai"].trouble is None
    assert not models["gemini"].ready
    assert models["gemini"].trouble == "GEMINI_API_KEY is not set"
    unsafe = settings_of(tmp_path, VOICEBOX_OPENAI_BASE_URL="ws://example.com/v1")
    trouble = remote_models(unsafe, LIMITS)["openai"].trouble
    assert trouble is not None
    assert trouble.startswith("VOICEBOX_OPENAI_BASE_URL ")


async def test_whoever_starts_the_relay_is_told_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = {"VOICEBOX_WASM_SHELF_DIR": str(tmp_path / "empty")}
    settings = settings_of(tmp_path, VOICEBOX_LIVE_PROVIDER="openai", **folders)
    await _tell_when_ready(make_app(settings, token=TOKEN), asyncio.Event())
    said = capsys.readouterr().out
    assert said == "The page works, but not the voice: OPENAI_API_KEY is not set.\n"


@pytest.fixture
async def relay(aiohttp_client: Any, tmp_path: Path) -> Any:
    """Start the real relay, with its real models, pointed at a server."""

    async def start(**environ: str) -> Relay:
        folders = {"VOICEBOX_WASM_SHELF_DIR": str(tmp_path / "empty")}
        settings = settings_of(tmp_path, VOICEBOX_LIVE_PROVIDER="openai", **folders, **environ)
        client: TestClient[Any, Any] = await aiohttp_client(
            TestServer(make_app(settings, token=TOKEN))
        )
        return Relay(client, None)  # type: ignore[arg-type]  # the models are the real ones

    return start


async def ready(relay: Relay, **hello: Any) -> Peer:
    peer = await relay.socket("/live", **hello)
    await peer.next("state", state="ready")
    return peer


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")]
)
async def test_a_missing_key_is_refused_by_its_name(
    relay: Any, provider: str, variable: str
) -> None:
    peer = await (await relay()).socket("/live", provider=provider)
    refused = await peer.next("refused")
    assert refused["refused"] == "provider-unavailable"
    assert variable in refused["why"]
    assert await peer.closed() == 1008


async def test_a_provider_is_chosen_by_the_client(relay: Any) -> None:
    peer = await (await relay()).socket("/live", provider="script")
    assert (await peer.next("rate"))["provider"] == "script"


@pytest.mark.parametrize("how", ["stop", "close", "lost"])
async def test_a_client_that_leaves_leaves_no_socket_at_the_provider(relay: Any, how: str) -> None:
    async with FakeOpenAI() as server:
        started = await relay(OPENAI_API_KEY=server.key, VOICEBOX_OPENAI_BASE_URL=server.base_url)
        peer = await ready(started)
        upstream = await server.connection()
        response = await upstream.response()
        await response.call("list_extensions", "{}")
        item = await response.message()
        await response.audio(item, SECOND)
        if how == "stop":
            await peer.say(type="stop")
        elif how == "close":
            await peer.socket.close()
        else:  # no close frame, as when a laptop's lid is shut
            peer.socket._conn.transport.abort()  # type: ignore[union-attr]  # no public way
        async with asyncio.timeout(PATIENCE_S):
            await upstream.closed.wait()
        assert server.open == []
    assert server.faults == []


async def test_after_an_interruption_a_slow_reader_gets_little_of_the_old_answer(
    relay: Any,
) -> None:
    async with FakeOpenAI() as server:
        started = await relay(OPENAI_API_KEY=server.key, VOICEBOX_OPENAI_BASE_URL=server.base_url)
        peer = await ready(started)
        upstream = await server.connection()
        response = await upstream.response()
        item = await response.message()
        await response.audio(item, SECOND * 20)
        await peer.next("state", state="speaking")
        await asyncio.sleep(1.5)  # the client reads nothing meanwhile
        await peer.say(type="interrupt", playedMs=100)
        heard = 0
        while True:
            message = await peer.socket.receive(timeout=PATIENCE_S)
            if isinstance(message.data, bytes):
                heard += len(message.data)
            elif '"flush"' in message.data:
                break
        assert heard <= 48 * 2 * LIMITS.playout_lead_ms  # and not what 1.5 s would have brought
        await until(lambda: upstream.truncations)
        assert upstream.truncations[0]["audio_end_ms"] == 100
        assert len(upstream.of("response.cancel")) == 1


async def test_many_sessions_at_once_do_not_mix_and_leave_nothing(relay: Any) -> None:
    async with FakeOpenAI() as server:
        started = await relay(OPENAI_API_KEY=server.key, VOICEBOX_OPENAI_BASE_URL=server.base_url)
        before = len(asyncio.all_tasks())

        async def converse(number: int) -> None:
            peer = await ready(started, room=f"room_{number % 4}")
            await peer.say(type="text", text=f"I am {number}")
            while True:
                message = await peer.socket.receive(timeout=PATIENCE_S)
                if isinstance(message.data, str) and '"role":"assistant"' in message.data:
                    assert f"you are {number}." in message.data
                    break
            await peer.say(type="stop")
            await peer.closed()

        async def answer() -> None:
            upstream = await (await server.connection()).ready()
            response = await upstream.asked()
            (item,) = upstream.of("conversation.item.create")
            said = item["item"]["content"][0]["text"]
            await response.speak(FRAME, said.replace("I am", "you are") + ".")
            await response.done()

        async with asyncio.TaskGroup() as group:
            for number in range(30):
                group.create_task(converse(number))
                group.create_task(answer())
        await until(lambda: not server.open)
        await until(lambda: len(asyncio.all_tasks()) <= before)
    assert server.faults == []
