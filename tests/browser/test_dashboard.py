"""The dashboard: figures of each tool, refusals, the slowest calls; live, filtered, lasting."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Locator, Page

from scripts.browser_lab.relay_process import RelayProcess
from tests.browser.test_accessible import LOOKS, assert_accessible

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
        errors: list[str] = []
        page.on("console", lambda said: said.type == "error" and errors.append(said.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(relay.link.replace("/#", "/dashboard#"))
        page.wait_for_selector("#connection[data-state=open]")
        page.locator("#tile-calls", has_text="5").wait_for()
        yield page
        assert errors == []


def figures(board: Page, tool: str) -> Locator:
    """The cells of a tool's row, without its name."""
    return board.locator("#figures-rows > tr").filter(has_text=tool).locator("td")


def wait_for_calls(board: Page, tool: str, count: int) -> None:
    """Until the tool's row counts that many."""
    figures(board, tool).nth(1).filter(has_text=str(count)).wait_for()


def test_each_tool_has_its_calls_and_their_spread(board: Page) -> None:
    wait_for_calls(board, "hash", 4)
    host, calls, _rate, refused, *times = figures(board, "hash").all_text_contents()
    assert (host, calls, refused) == ("wasm", "4", "1")
    p50, p95, p99, slowest, _ = map(float, times)
    assert 0 < p50 <= p95 <= p99 == slowest
    codes = board.locator("#refusals-rows > tr").all_text_contents()
    assert sorted(codes) == ["missing-argument1", "unknown-tool1"]
    longest = board.locator("#slowest-rows td:last-child").all_text_contents()
    assert sorted(map(float, longest), reverse=True) == [float(ms) for ms in longest]
    assert "5 calls in the last 5 minutes, 2 of them refused" in board.locator("main").inner_text()
    assert board.locator("#tile-calls").inner_text() == "5"
    assert board.locator("#tile-refused").inner_text() == "40.0 %"
    assert board.locator(".chart canvas").count() == 3


def test_each_chart_says_the_same_as_a_table(board: Page) -> None:
    assert board.locator("#histogram-rows > tr").count() == 0
    board.get_by_text("The same as a table").click()
    board.get_by_text("as a table").last.click()
    board.locator("#over-time-rows > tr").first.wait_for()
    board.locator("#histogram-rows > tr").first.wait_for()
    bars = board.locator("#histogram-rows > tr").all_inner_texts()
    counts = [[int(number) for number in bar.split("\t")[1:]] for bar in bars]
    assert [sum(column) for column in zip(*counts, strict=True)] == [5, 2]


def test_what_is_chosen_is_in_the_address_and_a_link_shows_the_same(board: Page) -> None:
    wait_for_calls(board, "hash", 4)
    board.locator("#range").select_option("1 hour")
    board.locator("#tool").select_option("hash")
    board.locator("#host").select_option("wasm")
    board.locator("#outcome").select_option("missing-argument")
    wait_for_calls(board, "hash", 1)
    board.get_by_text("1 call in the last hour, 1 of them refused").wait_for()
    address = board.url
    assert address.endswith("?range=1h&tool=hash&host=wasm&outcome=missing-argument")
    board.goto("about:blank")
    board.goto(address)
    wait_for_calls(board, "hash", 1)
    assert board.locator("#outcome").input_value() == "missing-argument"
    board.locator("#outcome").select_option("Any")
    wait_for_calls(board, "hash", 4)
    assert "outcome" not in board.url


def test_the_filter_is_in_the_address_and_holds_for_every_part(board: Page) -> None:
    board.get_by_label("Filter").fill("wasm missing")
    wait_for_calls(board, "hash", 1)
    assert board.url.endswith("?filter=wasm+missing")
    assert board.locator("#figures-rows > tr").count() == 1
    assert board.locator("#tool-log > li:visible").count() == 1
    board.reload()
    wait_for_calls(board, "hash", 1)
    board.get_by_label("Filter").fill("no such tool")
    board.get_by_text("that matches; 5 calls are known").wait_for()
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
            page.locator("#interruptions", has_text="Not connected from").wait_for()
            page.get_by_text("durations over time, as a table").click()
            page.locator("#over-time-rows > tr", has_text="not connected").first.wait_for()


@pytest.mark.parametrize("look", LOOKS)
def test_its_open_tables_and_an_empty_view_break_no_rule(
    browser: Browser, relay: RelayProcess, look: str
) -> None:
    with closing(browser.new_context(bypass_csp=True, **LOOKS[look])) as context:
        page = context.new_page()
        page.goto(relay.link.replace("/#", "/dashboard#"))
        for twin in page.locator("details.twin > summary").all():
            twin.click()
        page.wait_for_selector("#over-time-rows > tr")
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("#filter").fill("no such tool")
        page.get_by_text("that matches; 5 calls are known").wait_for()
        assert_accessible(page)


def test_a_hundred_thousand_calls_are_held_and_shown(browser: Browser, relay: RelayProcess) -> None:
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.add_init_script(FLOOD)
        page.goto(relay.link.replace("/#", "/dashboard?range=all#"))
        page.locator("#tile-calls", has_text="100000").wait_for()
        assert page.locator("#figures-rows > tr").count() == 7
        assert page.locator("#slowest-rows > tr").count() == 10
        assert page.locator("#tool-log > li").count() == 50
        assert page.locator(".chart canvas").count() == 3
        assert page.evaluate("document.querySelectorAll('*').length") < 1_500


FLOOD = """
window.WebSocket = class {
  static OPEN = 1;
  readyState = 1;
  constructor() { setTimeout(() => void this.#flood()); }
  send() {}
  close() {}
  async #flood() {
    this.onopen();
    const frame = {type: "tool", state: "done", host: "wasm", ok: true};
    for (let i = 0; i < 120_000; i += 1) {
      const told = {...frame, callId: `call_${i}`, name: `tool_${i % 7}`, durationMs: i % 1000};
      this.onmessage({data: JSON.stringify(told)});
      if (i % 1000 === 0) await new Promise((go) => setTimeout(go));
    }
  }
};
"""
