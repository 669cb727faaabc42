from io import BytesIO
from typing import Any

import pytest

from relay.protocol.refusals import RefusalCode
from tests.fakes.declared import SET_SCORE, tool
from tests.server.conftest import Relay, StartRelay

REGISTER = "/api/mini-app/tools"


async def test_health_needs_no_token_and_tells_no_secret(relay: Relay) -> None:
    async with relay.client.get("/api/health") as response:
        body = await response.json()
    assert body["ok"] is True
    assert body["provider"] == {"name": "fake", "ready": True}
    assert body["live"] == {"created": 0, "open": 0}
    assert "vbx_" not in str(body)


async def test_an_unknown_route_is_a_structured_404(relay: Relay, assert_refused: Any) -> None:
    for method, path, status in [
        ("GET", "/api/nothing", 404),
        ("POST", "/api/health", 405),
        ("GET", "/static/../pyproject.toml", 404),
        ("GET", "/static/%2e%2e/pyproject.toml", 404),
        ("GET", "/static/.hidden.js", 404),
        ("GET", "/static/sandbox", 404),
        ("GET", "/static/a%00.js", 404),
    ]:
        found, body = await relay.ask(method, path)
        assert found == status, path
        assert_refused(body, RefusalCode.BAD_REQUEST)


async def test_mini_apps_are_listed_without_and_found_with_their_html(relay: Relay) -> None:
    status, body = await relay.ask("GET", "/api/mini-apps")
    assert status == 200
    ids = {app["appId"] for app in body["miniApps"]}
    assert {"app_scoreboard", "app_timer", "app_lights"} <= ids
    assert body["count"] == len(body["miniApps"])
    assert all("html" not in app for app in body["miniApps"])
    status, body = await relay.ask("GET", "/api/mini-apps?id=app_scoreboard")
    assert status == 200
    assert "set_score" in body["miniApp"]["html"]


async def test_an_unknown_mini_app_is_not_found(relay: Relay, assert_refused: Any) -> None:
    status, body = await relay.ask("GET", "/api/mini-apps?id=app_nothing")
    assert status == 404
    assert_refused(body, RefusalCode.MINI_APP_NOT_FOUND)


async def test_tools_registered_by_http_are_listed_and_their_page_is_unreachable(
    relay: Relay,
) -> None:
    body = {"appId": "app_x", "tools": [SET_SCORE, tool("bad name")]}
    status, told = await relay.ask("POST", REGISTER, json=body)
    assert status == 200
    assert told["accepted"] == [{"name": "set_score", "exposedName": "set_score"}]
    assert [(t["name"], t["refused"]) for t in told["rejected"]] == [
        ("bad name", "invalid-tool-name")
    ]
    _, listed = await relay.ask("GET", "/api/tools")
    assert await relay.app_tools() == ["set_score"]
    assert listed["declarations"]["openai"][-1]["name"] == "set_score"
    assert listed["declarations"]["gemini"][-1]["name"] == "set_score"
    call = {"name": "set_score", "args": {"team": "home", "points": 3}}
    status, outcome = await relay.ask("POST", "/api/call", json=call)
    assert status == 200
    assert (outcome["ok"], outcome["refused"]) == (False, "mini-app-unreachable")
    assert outcome["durationMs"] >= 0


async def test_a_call_is_checked_before_anything_runs(relay: Relay) -> None:
    await relay.ask("POST", REGISTER, json={"appId": "app_x", "tools": [SET_SCORE]})
    for args, code in [
        ({"team": "home"}, "missing-argument"),
        ({"team": "nobody", "points": 1}, "invalid-argument-enum"),
        ([1], "invalid-tool-arguments"),
    ]:
        call = {"name": "set_score", "args": args}
        _, outcome = await relay.ask("POST", "/api/call", json=call)
        assert outcome["refused"] == code
    _, outcome = await relay.ask("POST", "/api/call", json={"name": "nothing"})
    assert outcome["refused"] == "unknown-tool"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, RefusalCode.BAD_JSON),
        (b"\xff", 400, RefusalCode.BAD_JSON),
        (b"[" * 100_000, 400, RefusalCode.BAD_REQUEST),
        (b'{"name":1}', 400, RefusalCode.BAD_REQUEST),
        (b'{"name":"x","zz":1}', 400, RefusalCode.BAD_REQUEST),
        (b'{"name":"' + b"x" * 1_048_577 + b'"}', 413, RefusalCode.BODY_TOO_LARGE),
    ],
)
async def test_bad_bodies_are_refused_in_one_shape(
    relay: Relay, body: bytes, status: int, code: RefusalCode, assert_refused: Any
) -> None:
    found, told = await relay.ask(
        "POST", "/api/call", data=BytesIO(body), headers={"Content-Type": "application/json"}
    )
    assert found == status
    assert_refused(told, code)


async def test_another_media_type_is_refused(relay: Relay, assert_refused: Any) -> None:
    status, told = await relay.ask("POST", "/api/call", data=b"{}")
    assert status == 415
    assert_refused(told, RefusalCode.UNSUPPORTED_CONTENT_TYPE)


async def test_a_registration_has_its_own_bound_and_status(
    relay: Relay, assert_refused: Any
) -> None:
    empty = b'{"appId":"app_x","tools":[]}'
    for size, expected in [(65_536, 200), (65_537, 400)]:
        status, told = await relay.ask(
            "POST",
            REGISTER,
            data=empty + b" " * (size - len(empty)),
            headers={"Content-Type": "application/json"},
        )
        assert status == expected
    assert_refused(told, RefusalCode.BODY_TOO_LARGE)


async def test_recent_frames_are_told_as_json(relay: Relay, assert_refused: Any) -> None:
    await relay.ask("POST", "/api/call", json={"name": "nothing"})
    status, told = await relay.ask("GET", "/api/frames?last=1")
    assert status == 200
    assert [(f["state"], f["refused"]) for f in told["frames"]] == [("done", "unknown-tool")]
    for last in ("-1", "1001", "x", "٣", "9" * 5_000):
        status, told = await relay.ask("GET", f"/api/frames?last={last}")
        assert status == 400
        assert_refused(told, RefusalCode.BAD_REQUEST)


async def test_metrics_count_calls_under_bounded_names(relay: Relay) -> None:
    for number in range(3):
        await relay.ask("POST", "/api/call", json={"name": f"made_up_{number}"})
    async with relay.client.get("/metrics", headers=relay.bearer) as response:
        text = await response.text()
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "made_up" not in text
    assert 'outcome="unknown-tool"' in text
    assert "voicebox_tool_seconds_count" in text


async def test_rooms_are_apart_and_badly_named_ones_refused(relay: Relay) -> None:
    await relay.ask("POST", REGISTER, json={"appId": "a", "tools": [SET_SCORE], "room": "other"})
    assert await relay.app_tools() == []
    assert await relay.app_tools("other") == ["set_score"]
    status, _ = await relay.ask("GET", "/api/tools?room=..%2Fx")
    assert status == 400


async def test_the_rooms_cap_is_a_refusal(start_relay: StartRelay, assert_refused: Any) -> None:
    relay = await start_relay(rooms_max=1)
    page = await relay.socket("/workspace")
    await page.next("welcome")
    status, told = await relay.ask("GET", "/api/tools?room=two")
    assert status == 503
    assert_refused(told, RefusalCode.SERVER_FULL)
