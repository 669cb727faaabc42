/** How long the bridge waits for a page that has loaded, by a clock of the test's own. */

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Patience } from "../../static/sandbox/bridge/patience.js";

const LIMITS = { appSilenceMaxMs: 3_000, appStartMaxMs: 30_000 };

/** @type {Patience} */
let patience;
let losses = 0;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  losses = 0;
  patience = new Patience(LIMITS, () => {
    losses += 1;
  });
});

/** @param {number} ms */
function lostAfter(ms) {
  mock.timers.tick(ms - 1);
  assert.equal(losses, 0);
  mock.timers.tick(1);
  return losses === 1;
}

test("a page that never says a word is lost after a short silence", () => {
  patience.loaded();
  assert.ok(lostAfter(3_000));
});

test("the app's own page may be long at work, whichever comes first, its word or its load", () => {
  patience.knocked();
  patience.loaded();
  assert.ok(lostAfter(30_000));
});

test("a word that comes behind the load counts as well", () => {
  patience.loaded();
  mock.timers.tick(2_999);
  patience.knocked();
  assert.ok(lostAfter(30_000));
});

test("a second page is not the app's, and gets a short silence only", () => {
  patience.knocked();
  patience.loaded();
  patience.loaded();
  assert.ok(lostAfter(3_000));
});

test("a page that answers is not lost", () => {
  patience.loaded();
  patience.answered();
  mock.timers.tick(60_000);
  assert.equal(losses, 0);
});
