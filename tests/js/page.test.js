/** The room's small rules: how long to wait, what a percentile is, what a flush leaves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { levelOf } from "../../static/audio/capture.js";
import { pauseMs } from "../../static/connection/socket.js";
import { weakerHere } from "../../static/miniapps/guarantees.js";
import { percentile } from "../../static/ui/figures.js";

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
});
