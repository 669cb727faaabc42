/** How loud it is: what the worklet tells, and where the meter stands. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Loudness } from "../../static/audio/loudness.js";
import { LevelMeter, meterValue } from "../../static/ui/level-meter.js";

const RATE_HZ = 24_000;

/** What a second of sound tells, cut as an AudioWorklet cuts it. @param {Loudness} loudness @param {number} value of each sample */
function second(loudness, value) {
  const told = [];
  for (let passed = 0; passed < RATE_HZ; passed += 128) {
    const level = loudness.pass(new Float32Array(128).fill(value));
    if (level !== undefined) told.push(level);
  }
  return told;
}

test("sound is told at most twenty times a second, and silence once", () => {
  const loudness = new Loudness(RATE_HZ);
  assert.deepEqual(second(loudness, 0), [], "nothing was heard yet");
  const told = second(loudness, 0.5);
  assert.ok(told.length >= 18 && told.length <= 20, `${told.length} times`);
  assert.ok(Math.abs((told.at(-1) ?? 0) - 0.5) < 1e-6);
  const after = second(loudness, 0);
  assert.equal(after.at(-1), 0);
  assert.equal(after.filter((level) => level === 0).length, 1);
  assert.deepEqual(second(loudness, 0), []);
});

test("a meter stands by decibels, from silence to full scale", () => {
  assert.deepEqual([0, 0.0001, 0.001, 0.1, 1, 4].map(meterValue), [0, 0, 0, 67, 100, 100]);
  assert.ok(meterValue(0.01) > 30, "a voice that is far away can be seen");
});

test("a meter is drawn at most twenty times a second, by the loudest of what came", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const drawn = [];
  const element = /** @type {HTMLMeterElement} */ ({ value: 0 });
  const meter = new LevelMeter(element, (level) => drawn.push(level));
  for (const level of [0.1, 1, 0.2]) meter.show(level);
  assert.equal(element.value, 0);
  context.mock.timers.tick(50);
  assert.equal(element.value, 100);
  meter.show(0);
  context.mock.timers.tick(50);
  assert.equal(element.value, 0);
  context.mock.timers.tick(1_000);
  assert.deepEqual(drawn, [1, 0]);
  for (const level of [0.5, 0]) meter.show(level);
  for (let i = 0; i < 3; i += 1) context.mock.timers.tick(50);
  assert.deepEqual([drawn, element.value], [[1, 0, 0.5, 0], 0]);
});
