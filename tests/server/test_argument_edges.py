"""The edges of the argument check through the whole relay: model, dispatch, frames and page."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from relay.protocol.limits import LIMITS
from relay.providers.script.model import ScriptModel
from relay.providers.script.script import Call, Script, Step
from relay.server.app import make_app
from relay.settings import Settings
from relay.shelf.host import ShelfHost
from tests.fakes.declared import SET_SCORE
from tests.fakes.models import FakeModel
from tests.server.conftest import TOKEN, Peer, Relay

GOOD = '{"team":"home","points":3,"constructor":{"prototype":1}}'
CLOSED = {
    "name": "closed",
    "description": "Takes nothing but a name",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "additionalProperties": False,
    },
}


def score(extra: str) -> str:
    return f'{{"team":"home","points":3,{extra}}}'


def nested(levels: int) -> str:
    """A value that is `levels` below the arguments."""
    return '"v":' + "[" * (levels - 1) + "1" + "]" * (levels - 1)


def filled_to(size: int) -> str:
    """Arguments of exactly so many bytes."""
    frame = len(score('"v":""'))
    return score(f'"v":"{"x" * (size - frame)}"')


# The root, team, points and the list are 4 nodes of their own
REFUSED = [
    ("set_score", score(f'"v":[{",".join("0" * 2_045)}]'), "invalid-argument-bounds"),
    ("set_score", score(nested(33)), "invalid-argument-bounds"),
    ("set_score", filled_to(65_537), "invalid-tool-arguments"),
    ("set_score", score('"__proto__":{"points":9}'), "invalid-argument"),
    ("set_score", score('"v":{"__proto__":1}'), "invalid-argument"),
    ("set_score", score('"v":"\\ud800"'), "invalid-argument"),
    ("set_score", score('"v":1e400'), "invalid-argument"),
    ("set_score", '{"team":"nobody","points":3}', "invalid-argument-enum"),
    ("set_score", '{"team":"home"}', "missing-argument"),
    ("set_score", '{"team":"home","points":null}', "missing-argument"),
    ("set_score", '{"team":"home","points":true}', "invalid-argument-type"),
    ("set_score", '{"team":"home","points":NaN}', "invalid-tool-arguments"),
    ("set_score", "[]", "invalid-tool-arguments"),
    ("closed", '{"constructor":1}', "invalid-argument"),
    ("closed", '{"name":"x","toString":1}', "invalid-argument"),
    ("no_such_tool", "{}", "unknown-tool"),
]
ACCEPTED = [
    score(f'"v":[{",".join("0" * 2_044)}]'),
    score(nested(32)),
    filled_to(65_536),
    GOOD,
]

AioClient = Callable[..., Awaitable[TestClient[Any, Any]]]


async def start(aiohttp_client: AioClient, folder: Path, calls: list[tuple[str, str]]) -> Relay:
    steps = [Step(call=Call(name=name, args_text=text)) for name, text in calls]
    app = make_app(
        Settings(state_dir=folder / "state", home=folder, provider="script"),
        token=TOKEN,
        models={"script": ScriptModel(lambda: Script(steps=steps))},
        shelf=ShelfHost(folder=folder / "empty", limits=LIMITS, admitted=None),
    )
    return Relay(await aiohttp_client(TestServer(app)), FakeModel())


async def page_of(relay: Relay) -> Peer:
    page = await relay.socket("/workspace")
    await page.say(type="register_tools", appId="app_x", tools=[SET_SCORE, CLOSED])
    assert len((await page.next("tools_registered"))["accepted"]) == 2
    return page


async def test_the_app_never_sees_a_call_with_bad_arguments(
    aiohttp_client: AioClient, tmp_path: Path
) -> None:
    calls = [(name, text) for name, text, _ in REFUSED]
    relay = await start(aiohttp_client, tmp_path, [*calls, ("set_score", GOOD)])
    page = await page_of(relay)
    voice = await relay.socket("/live")
    for name, text, code in REFUSED:
        frame = await voice.next("tool", state="done")
        assert (frame["ok"], frame["refused"]) == (False, code), (name, text[:80])
        assert frame["why"]
    asked = await page.next("call_tool")
    assert asked["args"] == json.loads(GOOD), "the first call that reaches the app is the good one"
    await page.say(type="tool_result", callId=asked["callId"], ok=True, result={"score": 3})
    assert (await voice.next("tool", state="done"))["ok"] is True


async def test_arguments_at_their_bounds_reach_the_app_whole(
    aiohttp_client: AioClient, tmp_path: Path
) -> None:
    relay = await start(aiohttp_client, tmp_path, [("set_score", text) for text in ACCEPTED])
    page = await page_of(relay)
    voice = await relay.socket("/live")
    for text in ACCEPTED:
        asked = await page.next("call_tool")
        assert asked["args"] == json.loads(text)
        await page.say(type="tool_result", callId=asked["callId"], ok=True, result=None)
        assert (await voice.next("tool", state="done"))["ok"] is True
