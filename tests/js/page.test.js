/** The room's small rules: how long to wait, how loud it is, when an edge is told. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { levelOf } from "../../static/audio/capture.js";
import { pauseMs } from "../../static/connection/socket.js";
import { TalkEdges } from "../../static/connection/talk-edges.js";
import { networkHere, weakerHere } from "../../static/miniapps/guarantees.js";
import { otherArguments, textOf, typedValue } from "../../static/ui/try-it-values.js";
import { ageWords, durationWords, matches } from "../../static/ui/wording.js";

test("each failed try waits longer, up to a bound, and never as long as another page", () => {
  assert.equal(pauseMs(1, 1), 250);
  assert.equal(pauseMs(3, 1), 1000);
  assert.equal(pauseMs(100, 1), 8000);
  assert.ok(pauseMs(3, 0) < pauseMs(3, 1));
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

test("durations have the unit that fits and a filter takes words in any order", () => {
  assert.equal(durationWords(4.23), "4.2 ms");
  assert.equal(durationWords(1_250), "1.25 s");
  assert.equal(durationWords(125_000), "2 min 5 s");
  const ages = [0, 45_000, 200_000, 9_000_000].map(ageWords);
  assert.deepEqual(ages, ["just now", "40 s ago", "3 min ago", "2 h ago"]);
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

test("a value becomes the text that a person would have typed", () => {
  assert.equal(textOf("12"), "12");
  assert.equal(textOf(12), "12");
  assert.equal(textOf(["a"]), '["a"]');
  assert.equal(textOf(undefined), "");
});

test("arguments without a field of their own are kept", () => {
  assert.deepEqual(otherArguments({ a: 1, b: 2 }, { a: {} }), { b: 2 });
  for (const args of [undefined, null, "a", [1]]) assert.deepEqual(otherArguments(args, {}), {});
});

test("what is typed becomes the value that the schema asks for", () => {
  assert.equal(typedValue("text", { type: "string" }, "12"), "12");
  assert.equal(typedValue("count", { type: "integer" }, "12"), 12);
  assert.equal(typedValue("size", { type: "integer", enum: [1, 2] }, "2"), 2);
  assert.deepEqual(typedValue("list", { type: "array" }, "[1]"), [1]);
  assert.throws(() => typedValue("list", { type: "array" }, "[1"), /list must be JSON/);
});
