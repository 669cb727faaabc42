/** What the room takes of an app's console: a few lines in a second, the newest of them all. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { AppConsole } from "../../static/miniapps/app-console.js";
import { LineBudget } from "../../static/sandbox/line-budget.js";

test("as many lines as the second allows pass, the others are counted", () => {
  const budget = new LineBudget(2);
  const admitted = [0, 1, 2, 999, 1000, 1001].map((now) => budget.admits(now));
  assert.deepEqual(admitted, [true, true, false, false, true, true]);
  assert.equal(budget.silenced, 2);
});

test("the newest lines are kept, and the others counted", () => {
  const heard = new AppConsole(3);
  for (const text of ["a", "b", "c", "d", "e"]) heard.add("error", text);
  assert.deepEqual(
    heard.lines.map(({ text }) => text),
    ["c", "d", "e"],
  );
  assert.equal(heard.dropped, 2);
  assert.equal(heard.count, 5);
});

test("lines that were never told are news once, and never fewer", () => {
  const heard = new AppConsole(3);
  assert.equal(heard.silence(7), true);
  assert.equal(heard.silence(7), false);
  assert.equal(heard.silence(2), false);
  assert.equal(heard.dropped, 7);
});
