/** The dashboard's rules: what is kept of calls, what is counted of them, when it is drawn. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Board, DRAWN_EVERY_MS } from "../../static/dashboard/board.js";
import { CALLS_MAX, CallRing } from "../../static/dashboard/call-ring.js";
import { BARS, barFrom, barOf, bucketOf, Digest } from "../../static/dashboard/digest.js";
import { Interruptions } from "../../static/dashboard/interruptions.js";
import { Names } from "../../static/dashboard/names.js";
import { shownBy } from "../../static/dashboard/selection.js";
import { axisOf, summaryOf } from "../../static/dashboard/statistics.js";
import { addressOf, viewOf } from "../../static/dashboard/view.js";
import {
  barName,
  emptiness,
  headline,
  interruptionWords,
  perSecond,
  shortDuration,
} from "../../static/dashboard/words.js";

const NOW = 1_800_000_000_000;
const ALL = viewOf(new URLSearchParams("range=all"));

/** @param {string} callId @param {object} facts */
const frame = (callId, facts = {}) => ({
  type: "tool",
  state: "done",
  callId,
  name: "a",
  host: "wasm",
  ok: true,
  durationMs: 1,
  queuedMs: 0,
  at: new Date(NOW).toISOString(),
  ...facts,
});

/** @param {object[]} frames @param {number} [capacity] */
function ringOf(frames, capacity) {
  const ring = new CallRing(capacity);
  for (const one of frames) ring.add(one);
  return ring;
}

/** @param {CallRing} ring @param {object} [view] */
function summary(ring, view = {}, now = NOW + 500) {
  const shown = shownBy(ring, { ...ALL, ...view }, now);
  return summaryOf(ring, shown, axisOf(Math.min(ring.earliest, now), now));
}

/** Calls `step` with a board, and tells what it drew; timers are the test's. */
function drawnBy(context, ring, step) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"], now: NOW });
  const drawn = [];
  step(new Board(ALL, (picture) => drawn.push(picture), ring), drawn);
  return drawn;
}

test("a percentile is at most one percent above the value, and never above the largest", () => {
  const values = Array.from({ length: 5_000 }, (_, i) => 0.02 * 1.003 ** i);
  const digest = new Digest();
  for (const ms of values) digest.add(bucketOf(ms), ms);
  const shares = [0.01, 0.5, 0.95, 0.99, 1];
  digest.percentiles(shares).forEach((found, i) => {
    const exact = values[Math.ceil(values.length * shares[i]) - 1];
    assert.ok(found >= exact && found <= exact * 1.01, `${found} for ${exact}`);
  });
  assert.equal(digest.percentiles([1])[0], values.at(-1));
  assert.deepEqual(new Digest().percentiles([0.5, 0.99]), [0, 0]);
});

test("values outside a digest's decades are counted, and told as the largest", () => {
  const digest = new Digest();
  for (const ms of [0, 0.001, 5e7]) digest.add(bucketOf(ms), ms);
  assert.deepEqual([digest.count, digest.largest], [3, 5e7]);
  assert.equal(digest.percentiles([1])[0], 5e7);
  assert.ok(digest.percentiles([0.5])[0] <= 0.01);
});

test("each power of ten begins a bar of the histogram", () => {
  for (const ms of [0.01, 0.1, 1, 10, 100, 1_000, 10_000]) {
    assert.ok(Math.abs(barFrom(barOf(bucketOf(ms))) / ms - 1) < 1e-9, `${ms}`);
    assert.equal(barOf(bucketOf(ms * 0.99)), barOf(bucketOf(ms)) - 1);
  }
  assert.equal(barOf(bucketOf(1e12)), BARS - 1);
});

test("figures are told for each tool and host", () => {
  const calls = [1, 2, 3, 4].map((durationMs) =>
    frame(`${durationMs}`, { durationMs, queuedMs: 1 }),
  );
  calls.push(frame("x", { host: "none", ok: false, refused: "unknown-tool", durationMs: 9 }));
  const ring = ringOf(calls);
  const { tools, total, refusals, slowest } = summary(ring);
  assert.deepEqual(
    tools.map(({ name, host, calls: count, refused }) => [name, host, count, refused]),
    [
      ["a", "wasm", 4, 0],
      ["a", "none", 1, 1],
    ],
  );
  const [{ p50, p95, p99, slowest: longest, queued }] = tools;
  assert.ok(p50 >= 2 && p50 <= 2.02);
  assert.deepEqual([p95, p99, longest, queued], [4, 4, 4, 1]);
  assert.deepEqual([total.calls, total.refused, total.slowest], [5, 1, 9]);
  assert.deepEqual(refusals, [["unknown-tool", 1]]);
  assert.deepEqual(
    slowest.slice(0, 2).map((slot) => ring.call(slot).ms),
    [9, 4],
  );
});

test("only the ten slowest are told, the slowest first", () => {
  const times = Array.from({ length: 40 }, (_, i) => (i * 7) % 40);
  const ring = ringOf(times.map((durationMs, i) => frame(`${i}`, { durationMs })));
  assert.deepEqual(
    summary(ring).slowest.map((slot) => ring.ms[slot]),
    [39, 38, 37, 36, 35, 34, 33, 32, 31, 30],
  );
});

test("a call is in the stretch of its time, and shown only within the range", () => {
  const at = (before) => new Date(NOW - before).toISOString();
  const ring = ringOf([0, 900, 30_000, 90_000].map((ms) => frame(`${ms}`, { at: at(ms) })));
  const axis = axisOf(NOW - 60_000, NOW);
  assert.deepEqual([axis.binMs, axis.count], [1_000, 61]);
  const { bins, total } = summaryOf(ring, shownBy(ring, { ...ALL, range: "1m" }, NOW), axis);
  assert.equal(total.calls, 3);
  const counted = bins.filter(({ calls }) => calls > 0);
  assert.deepEqual(
    counted.map(({ calls, at: start }) => [calls, (NOW - start) / 1_000]),
    [
      [1, 30],
      [1, 1],
      [1, 0],
    ],
  );
  const late = ringOf([frame("late", { at: at(-5_000) })]);
  assert.equal(summary(late, {}, NOW).bins.at(-1).calls, 1, "another clock runs ahead");
});

test("an axis has at most 61 stretches, however long it is", () => {
  for (const days of [0, 1e-6, 0.01, 1, 30, 4_000]) {
    const { from, to, binMs, count } = axisOf(NOW - days * 86_400_000, NOW);
    assert.ok(count >= 1 && count <= 61, `${count}`);
    assert.equal(from + count * binMs, to);
    assert.ok(from <= NOW - days * 86_400_000 && NOW < to);
  }
});

test("a view leaves in what its tool, place, outcome and words ask for", () => {
  const ring = ringOf([
    frame("1"),
    frame("2", { name: "b" }),
    frame("3", { host: "mini-app" }),
    frame("4", { ok: false, refused: "busy" }),
    frame("5", { ok: false, refused: "enum" }),
  ]);
  const left = (view) => summary(ring, view).total.calls;
  assert.equal(left({}), 5);
  assert.equal(left({ tool: "b" }), 1);
  assert.equal(left({ host: "wasm" }), 4);
  assert.equal(left({ outcome: "ok" }), 3);
  assert.equal(left({ outcome: "refused" }), 2);
  assert.equal(left({ outcome: "busy" }), 1);
  assert.equal(left({ words: "WASM busy" }), 1);
  assert.equal(left({ words: "busy", tool: "b" }), 0);
});

test("an address gives the view back, and says nothing of what is usual", () => {
  const usual = viewOf(new URLSearchParams());
  assert.deepEqual(usual, { range: "5m", tool: "", host: "", outcome: "", words: "" });
  assert.equal(addressOf(usual, "http://x/dashboard?range=1h&tool=a"), "http://x/dashboard");
  const view = { range: "1h", tool: "a b", host: "wasm", outcome: "busy", words: "x&y=z #1" };
  const address = addressOf(view, "http://x/dashboard?room=two");
  assert.equal(new URL(address).searchParams.get("room"), "two");
  assert.deepEqual(viewOf(new URL(address).searchParams), view);
  assert.equal(viewOf(new URLSearchParams("range=constructor")).range, "5m");
});

test("texts beyond the bound share one number", () => {
  const names = new Names(3, "(others)");
  assert.deepEqual(
    ["a", "b", "c", "d", "a"].map((text) => names.numberOf(text)),
    [0, 1, 2, 2, 0],
  );
  assert.deepEqual(names.all(), ["a", "b", "(others)"]);
  assert.equal(names.text(9), "");
});

test("the ring forgets the oldest call and knows a repeated one", () => {
  const ring = ringOf(
    [1, 2, 3, 4].map((i) => frame(`${i}`, { durationMs: i })),
    3,
  );
  assert.equal(ring.size, 3);
  assert.equal(ring.add(frame("4")), false);
  const newest = ring.newest(2, () => true).map((slot) => ring.ms[slot]);
  assert.deepEqual(newest, [4, 3]);
  assert.equal(summary(ring).total.calls, 3);
});

test("a hundred thousand frames cost one picture and no more memory than the first", (context) => {
  const ring = new CallRing();
  const before = ring.footprint;
  const drawn = drawnBy(context, ring, (board, pictures) => {
    const at = new Date(NOW).toISOString();
    for (let i = 0; i < CALLS_MAX + 20_000; i += 1) {
      const facts = { name: `tool_${i % 5_000}`, durationMs: i % 1_000, at };
      board.count({ ...frame(`call_${i}`, facts), state: "called" });
      board.count(frame(`call_${i}`, facts));
    }
    assert.deepEqual(pictures, [], "nothing is drawn for a single frame");
    context.mock.timers.tick(DRAWN_EVERY_MS);
  });
  assert.equal(drawn.length, 1);
  const [{ summary: told, newest, running }] = drawn;
  assert.deepEqual([told.total.calls, running], [CALLS_MAX, 0]);
  assert.ok(told.tools.length <= 1_000 && told.bins.length <= 61 && told.bars.length === BARS);
  assert.ok(newest.length <= 50 && told.slowest.length === 10);
  assert.equal(ring.footprint.bytes, before.bytes, "the columns were taken at once");
  assert.ok(ring.footprint.texts <= 3_300, `${ring.footprint.texts} texts`);
});

test("it is drawn at most four times a second, and once more after the last frame", (context) => {
  const drawn = drawnBy(context, new CallRing(), (board) => {
    for (let ms = 0; ms < 1_000; ms += 10) {
      board.count(frame(`call_${ms}`));
      context.mock.timers.tick(10);
    }
    context.mock.timers.tick(1_000);
  });
  assert.ok(drawn.length <= 5, `${drawn.length} times`);
  assert.equal(drawn.at(-1).summary.total.calls, 100);
});

test("what runs is counted until its outcome comes, or the relay is lost", (context) => {
  const drawn = drawnBy(context, new CallRing(), (board) => {
    const draw = () => context.mock.timers.tick(DRAWN_EVERY_MS);
    for (const id of ["1", "2"]) board.count({ ...frame(id), state: "called" });
    draw();
    board.count(frame("1"));
    board.count({ ...frame("1"), state: "called" }); // told again after a reconnect
    draw();
    board.interrupt();
    draw();
  });
  assert.deepEqual(
    drawn.map(({ running }) => running),
    [2, 1, 0],
  );
});

test("a break is one, however often the relay is tried again, and is told until it is over", () => {
  const heard = new Interruptions();
  assert.equal(interruptionWords(heard), "");
  heard.end(1);
  heard.begin(1_000);
  heard.begin(2_000);
  assert.equal(heard.within(500, 700).length, 0);
  assert.equal(heard.within(5_000, 6_000).length, 1);
  assert.match(interruptionWords(heard), /until now\. Calls of that time/);
  heard.end(3_000);
  heard.end(4_000);
  assert.deepEqual(heard.breaks, [{ from: 1_000, to: 3_000 }]);
  assert.equal(heard.within(5_000, 6_000).length, 0);
  heard.lost = 7;
  assert.match(interruptionWords(heard), /7 frames came too fast/);
  for (let i = 0; i < 200; i += 1) {
    heard.begin(i * 10_000);
    heard.end(i * 10_000 + 1);
  }
  assert.equal(heard.breaks.length, 50);
});

test("numbers are said with the unit that fits", () => {
  assert.deepEqual([0.1, 1.4678, 215, 3_162].map(shortDuration), [
    "0.1 ms",
    "1.5 ms",
    "220 ms",
    "3.2 s",
  ]);
  assert.equal(shortDuration(null), "");
  assert.equal(barName(0, 0.01), "below 0.01 ms");
  assert.equal(barName(1, 1.4678), "1 ms to 1.5 ms");
  assert.equal(barName(1_000_000, Number.POSITIVE_INFINITY), "1000 s and more");
  assert.deepEqual(
    [perSecond(0, 60), perSecond(1, 3_600), perSecond(90, 60)],
    ["0.00", "<0.01", "1.50"],
  );
});

test("the headline says how many calls there were, and an empty view why it is empty", (context) => {
  const [nothing, one] = drawnBy(context, new CallRing(), (board) => {
    board.drawSoon();
    context.mock.timers.tick(DRAWN_EVERY_MS);
    board.count(frame("1", { ok: false, refused: "busy" }));
    context.mock.timers.tick(DRAWN_EVERY_MS);
  });
  assert.match(headline(nothing), /^No call since/);
  assert.match(headline(one), /^1 call since .*, 1 of them refused; at most 1\.0 a second\.$/);
  assert.match(emptiness({ ...one, range: "5m" }), /last 5 minutes that matches; 1 call is known/);
  assert.match(emptiness({ ...one, ring: new CallRing(1) }), /^No call yet/);
});
