/** Figures of the calls that a view shows, found in one walk over them; pure. */

import { toolOf } from "./call-ring.js";
import { BARS, barFrom, barOf, bucketOf, Digest } from "./digest.js";

/**
 * @typedef {import("./call-ring.js").CallRing} CallRing
 * @typedef {{from: number, to: number, binMs: number, count: number}} Axis Unix times in ms; `to` is not in it
 * @typedef {{p50: number, p95: number, p99: number, slowest: number}} Spread milliseconds; 0 without calls
 * @typedef {Spread & {calls: number, refused: number, queued: number}} Figures
 *   `queued` is the p95 of the wait for a place
 * @typedef {{at: number, calls: number, refused: number, spread: Spread}} Bin `at` is where it begins
 * @typedef {{from: number, to: number, calls: number, refused: number}} Bar milliseconds; `from` is in it
 * @typedef {{total: Figures, tools: (Figures & {name: string, host: string})[], bins: Bin[],
 *   bars: Bar[], refusals: [code: string, calls: number][], slowest: number[]}} Summary
 *   tools: the most called first; bins: the oldest first; slowest: slots, the slowest first
 */

const SHARES = [0.5, 0.95, 0.99];
const SLOWEST_KEPT = 10;
const BIN_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600];
const BINS_MAX = 61;
const DAY_MS = 86_400_000;

/** The stretches of time into which a chart cuts its calls. @param {number} since Unix ms @param {number} now Unix ms @returns {Axis} */
export function axisOf(since, now) {
  const fits = (/** @type {number} */ ms) =>
    Math.floor(now / ms) - Math.floor(since / ms) < BINS_MAX;
  let binMs = BIN_STEPS_S.map((step) => step * 1_000).find(fits) ?? DAY_MS;
  while (!fits(binMs)) binMs *= 2;
  const from = Math.floor(since / binMs) * binMs;
  const to = (Math.floor(now / binMs) + 1) * binMs;
  return { from, to, binMs, count: (to - from) / binMs };
}

/** @param {CallRing} ring @param {(slot: number) => boolean} shown @param {Axis} axis @returns {Summary} */
export function summaryOf(ring, shown, axis) {
  const tally = new Tally(ring, axis);
  for (let slot = 0; slot < ring.size; slot += 1) if (shown(slot)) tally.add(slot);
  return tally.summary();
}

/** Calls of one kind while they are counted. */
class Group {
  times = new Digest();
  waits = new Digest();
  refused = 0;

  /** @returns {Figures} */
  figures() {
    const [queued = 0] = this.waits.percentiles([0.95]);
    return { calls: this.times.count, refused: this.refused, ...spreadOf(this.times), queued };
  }
}

class Tally {
  #ring;
  #axis;
  #total = new Group();
  /** @type {(Group | undefined)[]} */
  #tools;
  /** @type {({times: Digest, refused: number} | undefined)[]} */
  #bins;
  #bars = Array.from({ length: BARS }, () => ({ calls: 0, refused: 0 }));
  #codes;
  /** @type {number[]} */
  #slowest = [];

  /** @param {CallRing} ring @param {Axis} axis */
  constructor(ring, axis) {
    this.#ring = ring;
    this.#axis = axis;
    this.#tools = Array.from({ length: ring.tools.size });
    this.#bins = Array.from({ length: axis.count });
    this.#codes = new Uint32Array(ring.codes.size);
  }

  /** @param {number} slot */
  add(slot) {
    const { tool, code, ms, bucket, queuedMs } = this.#ring;
    const call = { ms: ms[slot] ?? 0, bucket: bucket[slot] ?? 0, refused: code[slot] ? 1 : 0 };
    const queued = queuedMs[slot] ?? 0;
    const waited = bucketOf(queued);
    this.#codes[code[slot] ?? 0] = (this.#codes[code[slot] ?? 0] ?? 0) + 1;
    for (const group of [this.#total, this.#toolAt(tool[slot] ?? 0)]) {
      group.times.add(call.bucket, call.ms);
      group.waits.add(waited, queued);
      group.refused += call.refused;
    }
    const bin = this.#binAt(slot);
    bin.times.add(call.bucket, call.ms);
    bin.refused += call.refused;
    const bar = /** @type {{calls: number, refused: number}} */ (this.#bars[barOf(call.bucket)]);
    bar.calls += 1;
    bar.refused += call.refused;
    this.#race(slot, call.ms);
  }

  /** @returns {Summary} */
  summary() {
    const { tools, codes } = this.#ring;
    const named = this.#tools.map(
      (group, i) => group && { ...toolOf(tools.text(i)), ...group.figures() },
    );
    const refusals = Array.from(this.#codes, (calls, code) => ({ code: codes.text(code), calls }));
    return {
      total: this.#total.figures(),
      tools: named.filter((tool) => tool !== undefined).sort((a, b) => b.calls - a.calls),
      bins: this.#allBins(),
      bars: this.#bars.map((bar, i) => ({ from: barFrom(i), to: barTo(i), ...bar })),
      refusals: refusals
        .filter(({ code, calls }) => code && calls)
        .map(({ code, calls }) => /** @type {[string, number]} */ ([code, calls]))
        .sort(([, a], [, b]) => b - a),
      slowest: this.#slowest,
    };
  }

  /** @param {number} tool */
  #toolAt(tool) {
    this.#tools[tool] ??= new Group();
    return this.#tools[tool];
  }

  /** @param {number} slot */
  #binAt(slot) {
    const { from, binMs, count } = this.#axis;
    const place = Math.floor(((this.#ring.at[slot] ?? 0) - from) / binMs);
    const bin = Math.min(count - 1, Math.max(0, place));
    this.#bins[bin] ??= { times: new Digest(), refused: 0 };
    return this.#bins[bin];
  }

  /** @param {number} slot @param {number} ms */
  #race(slot, ms) {
    const times = this.#ring.ms;
    const last = this.#slowest.at(-1);
    const full = this.#slowest.length === SLOWEST_KEPT;
    if (full && last !== undefined && ms <= (times[last] ?? 0)) return;
    const place = this.#slowest.findIndex((other) => ms > (times[other] ?? 0));
    this.#slowest.splice(place < 0 ? this.#slowest.length : place, 0, slot);
    this.#slowest.length = Math.min(this.#slowest.length, SLOWEST_KEPT);
  }

  #allBins() {
    const { from, binMs } = this.#axis;
    return Array.from(this.#bins, (bin, i) => ({
      at: from + i * binMs,
      calls: bin?.times.count ?? 0,
      refused: bin?.refused ?? 0,
      spread: spreadOf(bin?.times),
    }));
  }
}

/** @param {Digest | undefined} times @returns {Spread} */
function spreadOf(times) {
  const [p50 = 0, p95 = 0, p99 = 0] = times?.percentiles(SHARES) ?? [];
  return { p50, p95, p99, slowest: times?.largest ?? 0 };
}

/** @param {number} bar */
function barTo(bar) {
  return bar === BARS - 1 ? Number.POSITIVE_INFINITY : barFrom(bar + 1);
}
