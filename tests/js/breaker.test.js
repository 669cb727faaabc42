/** An app that floods is ended; one that is busy is not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { appDocument } from "../../static/sandbox/bridge/app-document.js";
import { Breaker, weigh } from "../../static/sandbox/bridge/breaker.js";

const LIMITS = { appMessagesPerSecondMax: 3, appBytesPerSecondMax: 100 };

test("as many messages as the second allows pass, and one more does not", () => {
  const breaker = new Breaker(LIMITS);
  const admitted = [0, 1, 2, 3].map((now) => breaker.admits(1, now));
  assert.deepEqual(admitted, [true, true, true, false]);
});

test("a new second starts anew", () => {
  const breaker = new Breaker(LIMITS);
  for (const now of [0, 1, 2]) breaker.admits(1, now);
  assert.equal(breaker.admits(1, 1000), true);
});

test("few messages with too many bytes end it as well", () => {
  const breaker = new Breaker(LIMITS);
  assert.equal(breaker.admits(100, 0), true);
  assert.equal(breaker.admits(1, 1), false);
});

test("a message weighs at least its texts and its buffers", () => {
  assert.ok(weigh({ a: "x".repeat(1000), b: [new ArrayBuffer(500)] }) >= 1500);
  assert.ok(weigh(new Uint8Array(2000)) >= 2000);
  assert.ok(weigh(new Blob(["x".repeat(300)])) >= 300);
});

test("what can't be looked into weighs a lot, and what is too large is infinite", () => {
  assert.ok(weigh(new Map([[1, 2]])) >= 1_000_000);
  assert.equal(weigh(Array(10_000).fill(0)), Number.POSITIVE_INFINITY);
});

test("a small message weighs little", () => {
  assert.ok(weigh({ type: "pong", count: 7 }) < 200);
});

test("the app's document begins with ours and ends with the app's bytes, unchanged", () => {
  const app = "<!DOCTYPE html><title>x</title><p>$& $1 </script>";
  const made = appDocument('start("{{boot}}")', { nonce: "n", limits: {} }, app);
  assert.ok(made.startsWith('<!doctype html><meta charset="utf-8"><meta http-equiv='));
  assert.ok(made.includes('start({"nonce":"n","limits":{}})'));
  assert.ok(made.endsWith(`</script>${app}`));
});

test("a byte order mark of the app does not stand in the middle of the document", () => {
  const made = appDocument("", {}, "\ufeff<p>x");
  assert.equal(made.includes("\ufeff"), false);
});
