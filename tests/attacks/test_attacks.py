"""Each attack in a real Chromium against the real relay: nothing gets out, the room lives on."""

from pathlib import Path
from typing import Any

import pytest

from scripts.attack_lab.lab import Lab
from scripts.attack_lab.room_tab import RoomTab
from scripts.attack_lab.uncontained import Uncontained
from scripts.browser_lab.witness import Witness
from tests.attacks.acts import until
from tests.attacks.cases import ANYTHING, CASES, Case

APPS = Path(__file__).parent / "apps"
# What the same file sends where nothing contains it: the witness sees it, so the attack is real
UNCONTAINED = {
    "fetch": "GET /?fetch",
    "xhr-and-beacon": "POST /?xhr",
    "websocket": "GET /",
    "event-source": "GET /?events",
    "subresources": "GET /?css",
    "worker": "GET /?worker",
    "forms": "GET /?",
    "own-policies": "GET /relative.png",
    "navigate-location": "GET /?secret=42",
    "navigate-meta-refresh": "GET /?secret=42",
    "navigate-anchor": "GET /?anchor",
    "navigate-javascript": "GET /?javascript",
    "popups": "GET /?top-location",
}

pytestmark = pytest.mark.browser


def name_of(case: Case) -> str:
    tool = case.call[0] if case.call and case.app == "bad-results" else ""
    return f"{case.app}-{tool}".rstrip("-")


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_it_is_contained_and_the_room_lives_on(lab: Lab, case: Case) -> None:
    html = (APPS / f"{case.app}.html").read_bytes()
    report = lab.run(html, settle_ms=case.settle_ms, tools=case.tools, call=case.call, act=case.act)
    assert report.contained(), report.as_json()
    assert report.app_state == case.state
    assert set(case.tools) <= set(report.tools)
    assert case.tools or not report.tools or case.app == "bad-results"
    assert case.toast in " | ".join(report.toasts)
    check_result(case, report.result)


def check_result(case: Case, result: Any) -> None:
    if case.refused:
        assert result["refused"] == case.refused
        return
    told = result["result"] if case.call else result
    if isinstance(case.result, dict):
        assert {key: told.get(key) for key in case.result} == case.result
    elif case.result is not ANYTHING:
        assert told == case.result


@pytest.mark.parametrize("app", UNCONTAINED)
def test_the_same_file_gets_out_where_nothing_contains_it(
    uncontained: Uncontained, app: str
) -> None:
    def reached(witness: Witness) -> bool:
        return any(request.startswith(UNCONTAINED[app]) for request in witness.requests)

    html = (APPS / f"{app}.html").read_bytes()
    assert uncontained.gets_out(html, reached), uncontained.witness.requests


def test_webrtc_sends_datagrams_where_nothing_contains_it(uncontained: Uncontained) -> None:
    html = (APPS / "webrtc.html").read_bytes()
    assert uncontained.gets_out(html, lambda witness: witness.datagrams > 0)


def test_a_late_answer_is_dropped_and_the_tool_was_told(lab: Lab) -> None:
    seen: list[Any] = []

    def call_and_look(room: RoomTab) -> None:
        room.wait_for(lambda: "report" in lab.relay.tools())
        seen.append(lab.relay.call("never", {}))
        seen.append(lab.relay.call("report", {}))

    report = lab.run((APPS / "slow-tool.html").read_bytes(), act=call_and_look)
    assert report.contained()
    assert seen[0]["why"] == "tool execution timed out after 5000ms"
    assert seen[1]["result"] == {"aborted": "AbortError: timeout"}


def test_no_tool_of_a_frame_that_navigated_is_ever_offered(lab: Lab) -> None:
    html = (APPS / "navigate-to-another-app.html").read_bytes()
    report = lab.run(html, settle_ms=5_000, act=until("lost"))
    assert "stolen" not in lab.relay.tools()
    assert report.app_state == "lost"


def test_a_five_megabyte_app_runs(lab: Lab) -> None:
    script = (
        b"<script>webMcp.registerTool({name:'report',description:'x',execute:()=>"
        b"document.body.textContent.length})</script><p>"
    )
    html = script + b"x" * (5 * 1024 * 1024 - len(script))
    report = lab.run(html, call=("report", {}))
    assert report.contained()
    assert report.result["result"] > 5_000_000


def test_every_file_has_its_row() -> None:
    assert {case.app for case in CASES} == {file.stem for file in APPS.glob("*.html")}
