#!/usr/bin/env python3
"""How long a tool call takes from the room through the bridge to an app and back, in Chromium.

    .venv/bin/python scripts/bench/bridge.py [CALLS]

Prints p50, p95 and the slowest in milliseconds, beside an echo over a bare MessageChannel.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.browser_lab.chromium import chromium
from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.room_page import RoomPage

CALLS = 100
MEASURE = """
async (count) => {
  const { RunningApp } = await import("/static/miniapps/running-app.js");
  const html = `<script>webMcp.registerTool({ name: "echo", description: "Says it again",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    execute: ({ text }) => text })</` + "script>";
  const answered = new Map();
  let registered;
  const ready = new Promise((resolve) => { registered = resolve; });
  const app = new RunningApp({ appId: "bench", title: "Bench", html }, {
    answer: ({ callId, ok }) => answered.get(callId)(ok),
    tools: registered, state() {}, toolRefused() {}, input() {}, error() {},
  });
  document.body.append(app.frame.element);
  await ready;

  async function timed(run) {
    const times = [];
    for (let i = -10; i < count; i += 1) {
      const started = performance.now();
      await run(i);
      if (i >= 0) times.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve));
    }
    return times;
  }

  const call = (i) => new Promise((resolve, reject) => {
    const callId = `call_${i}`;
    answered.set(callId, (ok) => (ok ? resolve() : reject(new Error("refused"))));
    const asked = { appId: "bench", name: "echo", args: { text: "hello" }, deadlineMs: 5000 };
    app.call({ type: "call_tool", callId, ...asked });
  });
  const { port1, port2 } = new MessageChannel();
  port2.onmessage = ({ data }) => port2.postMessage(data);
  const echo = () => new Promise((resolve) => {
    port1.onmessage = resolve;
    port1.postMessage("hello");
  });
  const times = { "tool call": await timed(call), "bare MessageChannel": await timed(echo) };
  app.stop("done");
  return times;
}
"""


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with RelayProcess.by_cli("--provider", "script") as relay, chromium() as browser:
        room = RoomPage(browser, relay)
        room.open()
        measured = room.page.evaluate(MEASURE, count)
    for name, times in measured.items():
        ordered = sorted(times)
        p50, p95 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.95))
        print(f"{name:<22}p50 {p50:.2f} ms   p95 {p95:.2f} ms   slowest {ordered[-1]:.2f} ms")


if __name__ == "__main__":
    main()
