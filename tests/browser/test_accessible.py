"""axe-core finds nothing against the rules of WCAG 2.2 AA: light, dark, and 320 pixels wide."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from scripts.browser_lab.relay_process import ROOT
from tests.browser.conftest import OpenRoom

pytestmark = pytest.mark.browser

AXE = ROOT / "tests/js/node_modules/axe-core/axe.min.js"
RUN = """async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations, passes } = await axe.run({ exclude: [["iframe"]] }, { runOnly: tags });
  const wrong = violations.map(({ id, nodes }) =>
    `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" | ")}`);
  return { wrong, passed: passes.length };
}"""
CALL_REST = """fetch("/api/call", {method: "POST", headers: {"Content-Type": "application/json",
  Authorization: `Bearer ${localStorage.getItem("voicebox.token")}`},
  body: JSON.stringify({name: "rest", args: {}})}); null"""
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 320, "height": 700}, "color_scheme": "light"},
}


def assert_accessible(page: Page, *, rules: int = 20) -> None:
    """The page as it stands breaks no rule of axe-core, and more than so many were looked at."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed on this machine: npm ci --prefix tests/js")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(RUN)
    assert found["wrong"] == []
    assert found["passed"] > rules


@pytest.mark.parametrize("look", LOOKS)
def test_the_room_and_the_dashboard_break_no_rule(open_room: OpenRoom, look: str) -> None:
    room = open_room(bypass_csp=True, reduced_motion="reduce", **LOOKS[look])
    assert_accessible(room.page)

    room.start("app_scoreboard", "set_score")
    room.relay.call("set_score", {"team": "home", "points": 3})
    room.relay.call("set_score", {"team": "nobody", "points": 3})
    room.page.locator("#tool-log .log-code").first.wait_for()
    for summary in ("Sound", "Try hash", "Try diff", "Notices"):
        room.page.locator("summary", has_text=summary).click()
    assert_accessible(room.page)

    room.page.get_by_role("button", name="Shortcuts").click()
    assert_accessible(room.page)

    room.page.goto(f"{room.relay.url}/dashboard")
    room.page.wait_for_selector("#refusals-rows > tr")
    assert_accessible(room.page)


NOISY = """<title>Noisy</title>
<script>
webMcp.registerTool({ name: "rest", description: "Rest", execute: () => new Promise(() => {}) });
console.error("a line");
console.warn("another");
</script>
"""


@pytest.mark.parametrize("look", LOOKS)
def test_what_opens_over_the_page_breaks_no_rule(
    open_room: OpenRoom, look: str, apps: Path
) -> None:
    (apps / "noisy.html").write_text(NOISY)
    room = open_room(bypass_csp=True, reduced_motion="reduce", **LOOKS[look])
    page = room.page
    assert_accessible(page)  # a narrow room begins with its sheet closed
    room.start("app_noisy", "rest")
    panel = room.panel("app_noisy")
    panel.locator("summary").click()
    panel.get_by_role("listitem").nth(1).wait_for()
    page.evaluate(CALL_REST)
    page.get_by_role("button", name="Cancel: rest").wait_for()
    assert_accessible(page)  # its console, a call that runs; a narrow room's sheet is open

    panel.get_by_role("button", name="Full").click()
    assert_accessible(page)
    panel.get_by_role("button", name="Full").click()

    room.card("app_noisy").get_by_role("button", name="View source").click()
    page.get_by_role("dialog", name="Source of Noisy").wait_for()
    assert_accessible(page, rules=15)  # the page behind it does not count
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Cancel: rest").click()
    page.get_by_role("button", name="Run again: rest").click()
    page.get_by_role("dialog", name="Run rest again").wait_for()
    assert_accessible(page, rules=15)
