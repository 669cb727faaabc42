"""Pages of other origins in a real browser: they read nothing of the relay, and change nothing."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from scripts.browser_lab.chromium import beside
from scripts.browser_lab.relay_process import RelayProcess

pytestmark = pytest.mark.browser

# Everything that a page can start by itself; what came of each, by name
ATTEMPTS = """
async ({ url, token }) => {
  const socketUrl = url.replace("http", "ws");
  const bearer = { Authorization: `Bearer ${token}` };
  const call = JSON.stringify({ name: "hash", args: { input: "abc" } });
  const after = (target, good, bad) => new Promise((resolve) => {
    target.addEventListener(good, () => resolve(good));
    target.addEventListener(bad, () => resolve(bad));
  });
  const element = (name, fields) => {
    const made = Object.assign(document.createElement(name), fields);
    const outcome = after(made, "load", "error");
    document.body.append(made);
    return outcome;
  };
  let frames = 0;
  const sent = (form) => {
    const frame = Object.assign(document.createElement("iframe"), { name: `frame-${frames++}` });
    document.body.append(frame);
    const outcome = after(frame, "load", "error");
    form.target = frame.name;
    document.body.append(form);
    form.submit();
    return outcome;
  };
  const form = (enctype, name, value) => {
    const made = document.createElement("form");
    Object.assign(made, { method: "POST", action: `${url}/api/call`, enctype });
    made.append(Object.assign(document.createElement("input"), { name, value }));
    return made;
  };
  const post = (more) => fetch(`${url}/api/call`, { method: "POST", body: call, ...more });
  const json = { "Content-Type": "application/json", ...bearer };
  const gone = { method: "DELETE", headers: json };
  const attempts = {
    "fetch health": async () => (await fetch(`${url}/api/health`)).status,
    "fetch tools": async () => (await fetch(`${url}/api/tools`)).status,
    "fetch tools with the token": async () =>
      (await fetch(`${url}/api/tools`, { headers: bearer })).status,
    "fetch with credentials": async () =>
      (await fetch(`${url}/api/tools`, { credentials: "include" })).status,
    "fetch without a look": async () =>
      (await fetch(`${url}/api/tools`, { mode: "no-cors" })).type,
    "post text without a look": async () => (await post({ mode: "no-cors" })).type,
    "post JSON": async () => (await post({ headers: json })).status,
    "delete": async () => (await fetch(`${url}/api/mini-apps?id=app_timer`, gone)).status,
    "beacon": async () => navigator.sendBeacon(`${url}/api/call`, call),
    "beacon of JSON": async () =>
      navigator.sendBeacon(`${url}/api/call`, new Blob([call], { type: "application/json" })),
    "live": () => after(new WebSocket(`${socketUrl}/live`), "open", "error"),
    "workspace": () => after(new WebSocket(`${socketUrl}/workspace`), "open", "error"),
    "frames": () => after(new WebSocket(`${socketUrl}/frames`), "open", "error"),
    "events": () => after(new EventSource(`${url}/api/frames`), "open", "error"),
    "script": () => element("script", { src: `${url}/mini-app-sdk.js` }),
    "module": () => element("script", { type: "module", src: `${url}/static/app.js` }),
    "style": () => element("link", { rel: "stylesheet", href: `${url}/static/styles/tokens.css` }),
    "image": () => element("img", { src: `${url}/favicon.ico` }),
    "worker": () => after(new Worker(`${url}/static/app.js`), "message", "error"),
    "form": () => sent(form("application/x-www-form-urlencoded", "name", "hash")),
    "form of text": () => sent(form("text/plain", '{"name":"hash","args":{"input":"', '"}}')),
    "room in a frame": () => element("iframe", { src: `${url}/#token=${token}` }),
    "bridge in a frame": () => element("iframe", { src: `${url}/mini-app-bridge.html` }),
    "dashboard in a frame": () => element("iframe", { src: `${url}/dashboard` }),
  };
  const outcomes = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      outcomes[name] = await attempt();
    } catch (error) {
      outcomes[name] = error.name;
    }
  }
  return outcomes;
}
"""
NOTHING = {
    "fetch health": "TypeError",
    "fetch tools": "TypeError",
    "fetch tools with the token": "TypeError",
    "fetch with credentials": "TypeError",
    "fetch without a look": "TypeError",
    "post text without a look": "TypeError",
    "post JSON": "TypeError",
    "delete": "TypeError",
    "live": "error",
    "workspace": "error",
    "frames": "error",
    "events": "error",
    "script": "error",
    "module": "error",
    "style": "error",
    "image": "error",
}
FRAMED = 5  # two forms and three frames


class Quiet(BaseHTTPRequestHandler):
    """An empty page at every address."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>somebody else</title><body>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True


class Server6(Server):
    address_family = socket.AF_INET6


@contextmanager
def foreign(name: str) -> Iterator[str]:
    """An origin of this machine that is not the relay's."""
    kind = Server6 if name == "[::1]" else Server
    with kind(("::1" if name == "[::1]" else "127.0.0.1", 0), Quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{name}:{server.server_address[1]}"
        server.shutdown()


def state(relay: RelayProcess) -> Any:
    """What a stranger must not change."""
    apps = [app["appId"] for app in relay.ask("GET", "/api/mini-apps")["miniApps"]]
    return apps, relay.tools(), relay.frames()


def assert_kept_out(page: Page, relay: RelayProcess, url: str) -> None:
    before = state(relay)
    outcomes = page.evaluate(ATTEMPTS, {"url": url, "token": relay.token})
    assert {name: outcomes[name] for name in NOTHING} == NOTHING
    frames = [frame for frame in page.frames if frame is not page.main_frame]
    assert len(frames) == FRAMED
    for frame in frames:
        frame.wait_for_url("chrome-error://**")
    assert state(relay) == before


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_a_page_of_another_port_gets_nowhere(
    browser: Browser, relay: RelayProcess, name: str
) -> None:
    if name == "[::1]" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6 loopback")
    with foreign(name) as origin:
        page = browser.new_page()
        page.goto(origin)
        for url in (relay.url, relay.url.replace("127.0.0.1", "localhost")):
            page.goto(origin)
            assert_kept_out(page, relay, url)
        page.close()


def test_a_page_without_an_origin_gets_nowhere(browser: Browser, relay: RelayProcess) -> None:
    page = browser.new_page()
    page.goto("data:text/html,<!doctype html><title>nobody</title><body>")
    assert page.evaluate("self.origin") == "null"
    assert_kept_out(page, relay, relay.url)
    page.close()


def test_the_relay_under_another_of_its_names_is_a_stranger_too(
    browser: Browser, relay: RelayProcess
) -> None:
    page = browser.new_page()
    page.goto(relay.url.replace("127.0.0.1", "localhost"))
    ask = """async ({ url, token }) => {
      const headers = { Authorization: `Bearer ${token}` };
      return fetch(`${url}/api/tools`, { headers }).then(() => "read", (error) => error.name);
    }"""
    assert page.evaluate(ask, {"url": relay.url, "token": relay.token}) == "TypeError"
    page.close()


def test_a_page_that_opens_the_room_has_no_hold_on_it(
    browser: Browser, relay: RelayProcess
) -> None:
    with foreign("127.0.0.1") as origin:
        page = browser.new_page()
        page.goto(origin)
        with page.expect_popup() as opened:
            page.evaluate("(url) => { self.room = open(url); }", relay.link)
        opened.value.wait_for_load_state()
        page.wait_for_function("self.room.closed")
        assert not opened.value.is_closed()
        assert opened.value.evaluate("opener") is None
        page.close()


def test_a_name_that_was_made_to_mean_this_machine_is_refused(
    browser: Browser, relay: RelayProcess
) -> None:
    before = state(relay)
    with beside(browser, ["--host-resolver-rules=MAP rebind.test 127.0.0.1"]) as rebound:
        page = rebound.new_page()
        url = relay.url.replace("127.0.0.1", "rebind.test")
        answer = page.goto(url)
        assert answer is not None
        assert answer.status == 421
        attempts = """async (token) => {
          const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
          const body = JSON.stringify({ name: "hash", args: { input: "abc" } });
          const socket = new WebSocket(`ws://${location.host}/live`);
          const upgrade = new Promise((resolve) => {
            socket.onopen = () => resolve("open");
            socket.onerror = () => resolve("error");
          });
          return [
            (await fetch("/api/tools", { headers })).status,
            (await fetch("/api/call", { method: "POST", headers, body })).status,
            await upgrade,
          ];
        }"""
        assert page.evaluate(attempts, relay.token) == [421, 421, "error"]
    assert state(relay) == before
