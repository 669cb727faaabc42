"""Cancelled and closed calls in a real browser: the app's signal aborts, each is answered once."""

import pytest

from scripts.attack_lab.lab import Lab

pytestmark = pytest.mark.browser

# Two calls of one tool that ends only when it is told to, and then answers too late
DRIVE = """
(async () => {
  const { RunningApp } = await import("/static/miniapps/running-app.js");
  const html = `<script>webMcp.registerTool({ name: "wait", description: "Waits",
    execute: (args, { signal }) => new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        top.postMessage({ aborted: signal.reason.name + ": " + signal.reason.message }, "*");
        resolve("late");
      });
    }) })</` + "script>";
  const answers = [];
  const aborted = [];
  const hear = ({ data }) => data?.aborted && aborted.push(data.aborted);
  addEventListener("message", hear);
  const until = async (holds) => {
    for (let i = 0; i < 1000 && !holds(); i += 1) await new Promise((next) => setTimeout(next, 20));
  };
  const app = new RunningApp({ appId: "driven", title: "Driven", html }, {
    answer: ({ callId, refused }) => answers.push([callId, refused ?? "ok"]),
    tools() {}, state() {}, toolRefused() {}, input() {}, console() {},
  });
  document.body.append(app.frame.element);
  await until(() => app.tools.length === 1);
  const asked = { appId: "driven", name: "wait", args: {}, deadlineMs: 5000 };
  app.call({ type: "call_tool", callId: "call_1", ...asked });
  app.cancel("call_1", "another wish");
  await until(() => app.dropped === 1);
  app.call({ type: "call_tool", callId: "call_2", ...asked });
  await app.close();
  await until(() => aborted.length === 2);
  app.call({ type: "call_tool", callId: "call_3", ...asked });
  removeEventListener("message", hear);
  return { answers, aborted, dropped: app.dropped };
})()
"""


def test_a_signal_aborts_on_cancel_and_on_close_and_each_call_is_answered_once(lab: Lab) -> None:
    report = lab.run(b"<p>beside it", act=lambda room: room.evaluate(DRIVE))
    assert report.result == {
        "answers": [
            ["call_1", "cancelled"],
            ["call_2", "mini-app-unreachable"],
            ["call_3", "mini-app-unreachable"],
        ],
        "aborted": ["AbortError: another wish", "AbortError: the app is being closed"],
        "dropped": 1,
    }


# The page is busy while the app says that it is ready, and then closes it: the word is on its way
LAST_WORD = """
(async () => {
  const { RunningApp } = await import("/static/miniapps/running-app.js");
  const html = `<script>
    webMcp.registerTool({ name: "one", description: "One", execute() {} })</` + "script>";
  const heard = [];
  const app = new RunningApp({ appId: "driven", title: "Driven", html }, {
    tools: ({ state }) => heard.push(state),
    answer() {}, state() {}, toolRefused() {}, input() {}, console() {},
  });
  document.body.append(app.frame.element);
  for (let i = 0; i < 1000 && app.tools.length === 0; i += 1)
    await new Promise((next) => setTimeout(next, 20));
  for (const began = performance.now(); performance.now() - began < 1000; );
  await app.close();
  return heard;
})()
"""


def test_what_an_app_still_says_after_its_end_is_no_news(lab: Lab) -> None:
    report = lab.run(b"<p>beside it", act=lambda room: room.evaluate(LAST_WORD))
    assert report.result[0] == "running"
    assert "stopped" not in report.result
