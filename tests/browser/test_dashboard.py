"""The dashboard: figures of each tool, refusals, the slowest calls; live, filtered, lasting."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Locator, Page

from scripts.browser_lab.relay_process import RelayProcess

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def relay() -> Iterator[RelayProcess]:
    with RelayProcess.by_cli("--provider", "script") as started:
        for text in ("one", "two", "three"):
            assert started.call("hash", {"input": text})["ok"]
        assert started.call("hash", {})["ok"] is False
        assert started.call("nowhere", {})["refused"] == "unknown-tool"
        yield started


@pytest.fixture
def board(browser: Browser, relay: RelayProcess) -> Iterator[Page]:
    with closing(browser.new_context(viewport={"width": 1280, "height": 900})) as context:
        page = context.new_page()
        page.goto(relay.link.replace("/#", "/dashboard#"))
        page.wait_for_selector("#connection[data-state=open]")
        page.wait_for_selector("#figures-rows > tr")
        yield page


def figures(board: Page, tool: str) -> Locator:
    """The cells of a tool's row, without its name."""
    return board.locator("#figures-rows > tr").filter(has_text=tool).locator("td")


def wait_for_calls(board: Page, tool: str, count: int) -> None:
    """Until the tool's row counts that many."""
    figures(board, tool).nth(1).filter(has_text=str(count)).wait_for()


def test_each_tool_has_its_calls_and_their_spread(board: Page) -> None:
    wait_for_calls(board, "hash", 4)
    host, calls, refused, *times = figures(board, "hash").all_text_contents()
    assert (host, calls, refused) == ("wasm", "4", "1")
    p50, p95, p99, slowest, _ = map(float, times)
    assert 0 < p50 <= p95 <= p99 == slowest
    codes = board.locator("#refusals-rows > tr").all_text_contents()
    assert sorted(codes) == ["missing-argument1", "unknown-tool1"]
    longest = board.locator("#slowest-rows td.number").all_text_contents()
    assert sorted(map(float, longest), reverse=True) == [float(ms) for ms in longest]
    assert "5 calls in the last 5 minutes, 2 of them refused" in board.locator("main").inner_text()
    assert board.locator(".series rect").count() >= 1


def test_the_filter_is_in_the_address_and_holds_for_every_part(board: Page) -> None:
    board.get_by_label("Filter").fill("wasm missing")
    wait_for_calls(board, "hash", 1)
    assert board.url.endswith("?filter=wasm+missing")
    assert board.locator("#figures-rows > tr").count() == 1
    assert board.locator("#tool-log > li:visible").count() == 1
    board.reload()
    wait_for_calls(board, "hash", 1)
    board.get_by_label("Filter").fill("no such tool")
    board.get_by_text("none that matches").wait_for()
    board.get_by_label("Filter").fill("")
    wait_for_calls(board, "hash", 4)
    assert board.url.endswith("/dashboard")


def test_figures_outlast_a_restart_of_the_relay(browser: Browser) -> None:
    with RelayProcess.by_cli("--provider", "script") as relay:
        relay.call("hash", {"input": "before"})
        with closing(browser.new_context()) as context:
            page = context.new_page()
            page.goto(relay.link.replace("/#", "/dashboard#"))
            wait_for_calls(page, "hash", 1)
            relay.stop()
            page.wait_for_selector("#connection[data-state=waiting]")
            relay.start()
            page.wait_for_selector("#connection[data-state=open]")
            relay.call("hash", {"input": "after"})
            wait_for_calls(page, "hash", 2)


def test_a_hundred_thousand_calls_are_held(board: Page) -> None:
    board.evaluate(FLOOD)
    board.evaluate("window.__board.count({...window.__frame, callId: 'again', name: 'last'})")
    board.wait_for_function("() => window.__drawn?.at(-1)?.name === 'last'")
    assert 90_000 <= int(board.evaluate("window.__drawn.length")) <= 100_000


FLOOD = """
(async () => {
  const { Board } = await import("/static/ui/board.js");
  window.__board = new Board((calls) => { window.__drawn = [...calls]; });
  window.__frame = {type: "tool", state: "done", name: "flood", host: "wasm", ok: true};
  for (let i = 0; i < 120_000; i += 1) {
    window.__board.count({...window.__frame, callId: `call_${i}`, durationMs: i % 1000});
    window.__board.count({...window.__frame, callId: `call_${i}`, durationMs: i % 1000});
  }
})()
"""
