/** The room's small rules: how long to wait, what a percentile is, what a flush leaves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { levelOf } from "../../static/audio/capture.js";
import { pauseMs } from "../../static/connection/socket.js";
import { TalkEdges } from "../../static/connection/talk-edges.js";
import { networkHere, weakerHere } from "../../static/miniapps/guarantees.js";
import {
  binsOf,
  callOf,
  figuresOf,
  percentile,
  refusalsOf,
  slowestOf,
} from "../../static/ui/statistics.js";
import { typedValue } from "../../static/ui/try-it-values.js";
import { durationWords, matches } from "../../static/ui/wording.js";

test("each failed try waits longer, up to a bound, and never as long as another page", () => {
  assert.equal(pauseMs(1, 1), 250);
  assert.equal(pauseMs(3, 1), 1000);
  assert.equal(pauseMs(100, 1), 8000);
  assert.ok(pauseMs(3, 0) < pauseMs(3, 1));
});

test("a percentile is a value that was measured", () => {
  assert.equal(percentile([1, 2, 3, 4], 0.5), 2);
  assert.equal(percentile([1, 2, 3, 4], 0.95), 4);
  assert.equal(percentile([7], 0.5), 7);
  assert.equal(percentile([], 0.5), 0);
});

test("silence has no level and full scale has one", () => {
  assert.equal(levelOf(new Int16Array(320).buffer), 0);
  assert.ok(levelOf(new Int16Array(320).fill(32_767).buffer) > 0.99);
});

test("only a browser that closes WebRTC for apps is called whole", () => {
  const chromium = (version) => ({ userAgentData: { brands: [{ brand: "Chromium", version }] } });
  assert.equal(weakerHere(chromium("156")), "");
  assert.match(weakerHere(chromium("140")), /too old/);
  assert.match(weakerHere({}), /freeze the page/);
  assert.equal(networkHere(chromium("156")), "network: none");
  assert.match(networkHere({}), /WebRTC is not closed/);
});

/** @param {string} callId @param {object} facts */
const done = (callId, facts) =>
  callOf({ type: "tool", state: "done", callId, name: "a", host: "wasm", ok: true, ...facts });

test("figures are told for each tool and host", () => {
  const calls = [1, 2, 3, 4].map((durationMs) =>
    done(`${durationMs}`, { durationMs, queuedMs: 1 }),
  );
  calls.push(done("x", { host: "none", ok: false, refused: "unknown-tool", durationMs: 9 }));
  const [first, second, ...more] = figuresOf(calls);
  assert.deepEqual(more, []);
  const times = { p50: 2, p95: 4, p99: 4, slowest: 4, queued: 1 };
  assert.deepEqual(first, { name: "a", host: "wasm", calls: 4, refused: 0, ...times });
  assert.equal(second.host, "none");
  assert.equal(second.refused, 1);
  assert.deepEqual(refusalsOf(calls), [["unknown-tool", 1]]);
  assert.deepEqual(
    slowestOf(calls, 2).map(({ callId }) => callId),
    ["x", "4"],
  );
});

test("a call is in the bin of its time, and in none once it is too old", () => {
  const at = (ms) => new Date(ms).toISOString();
  const calls = [99_999, 95_000, 94_999, 10].map((ms) => done(`${ms}`, { at: at(ms) }));
  const bins = binsOf(calls, { now: 100_000, binMs: 5_000, count: 3 });
  assert.deepEqual(
    bins.map(({ calls: count }) => count),
    [0, 2, 1],
  );
});

test("durations have the unit that fits and a filter takes words in any order", () => {
  assert.equal(durationWords(4.23), "4.2 ms");
  assert.equal(durationWords(1_250), "1.25 s");
  assert.equal(durationWords(125_000), "2 min 5 s");
  assert.ok(matches("set_score refused ENUM", "enum score"));
  assert.ok(!matches("set_score", "score timer"));
  assert.ok(matches("anything", " "));
});

test("an edge is told once, and one that came too early as soon as it can be", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const said = [];
  const edges = new TalkEdges(
    (kind) => said.push(kind),
    () => {},
  );
  edges.press();
  assert.deepEqual(said, []);
  edges.ready(true);
  edges.ready(true);
  assert.deepEqual(said, ["start"]);
  edges.release();
  assert.ok(edges.open, "what is on its way still belongs to the speech");
  edges.press();
  context.mock.timers.tick(1_000);
  assert.deepEqual(said, ["start"]);
  edges.forget();
  edges.ready(true);
  edges.release();
  context.mock.timers.tick(1_000);
  assert.deepEqual(said, ["start", "start", "end"]);
});

test("what is typed becomes the value that the schema asks for", () => {
  assert.equal(typedValue("text", { type: "string" }, "12"), "12");
  assert.equal(typedValue("count", { type: "integer" }, "12"), 12);
  assert.equal(typedValue("size", { type: "integer", enum: [1, 2] }, "2"), 2);
  assert.deepEqual(typedValue("list", { type: "array" }, "[1]"), [1]);
  assert.throws(() => typedValue("list", { type: "array" }, "[1"), /list must be JSON/);
});
