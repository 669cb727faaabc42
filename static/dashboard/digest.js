/**
 * Many durations in little memory: counted in buckets that are each less than 1 % wide.
 *
 * A percentile is the upper bound of the bucket in which it lies, and never more than the largest
 * value: at least that share of the values is not larger, and it is at most 1 % too high.
 */

const PER_DECADE = 240;
const SMALLEST_MS = 0.01;
const DECADES = 8; // to a thousand seconds
/** Buckets of a digest; the first holds what is below the smallest, the last what is above. */
const BUCKETS = PER_DECADE * DECADES + 2;
const BARS_PER_DECADE = 6;
/** Bars of a histogram: each is a whole number of buckets. */
export const BARS = BARS_PER_DECADE * DECADES + 2;

/** The bucket of a value. @param {number} ms @returns {number} below BUCKETS */
export function bucketOf(ms) {
  if (ms < SMALLEST_MS) return 0;
  const steps = Math.floor(Math.log10(ms / SMALLEST_MS) * PER_DECADE + 1e-6);
  return Math.min(BUCKETS - 1, steps + 1);
}

/** The bar of a bucket. @param {number} bucket @returns {number} below BARS */
export function barOf(bucket) {
  if (bucket === 0) return 0;
  return Math.floor((bucket - 1) / (PER_DECADE / BARS_PER_DECADE)) + 1;
}

/** Where a bar begins, in milliseconds. @param {number} bar */
export function barFrom(bar) {
  return bar === 0 ? 0 : SMALLEST_MS * 10 ** ((bar - 1) / BARS_PER_DECADE);
}

export class Digest {
  /** How many values. */
  count = 0;
  /** The largest of them. */
  largest = 0;
  #buckets = new Uint32Array(BUCKETS);

  /** @param {number} bucket of the value @param {number} ms the value */
  add(bucket, ms) {
    this.count += 1;
    if (ms > this.largest) this.largest = ms;
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  /** The values below which these shares of them lie; 0 without any. @param {readonly number[]} shares growing @returns {number[]} */
  percentiles(shares) {
    const found = [];
    let bucket = -1;
    let passed = 0;
    for (const share of shares) {
      const rank = Math.ceil(this.count * share);
      while (passed < rank) {
        bucket += 1;
        passed += this.#buckets[bucket] ?? 0;
      }
      found.push(Math.min(this.largest, upperBound(bucket)));
    }
    return found;
  }
}

/** @param {number} bucket */
function upperBound(bucket) {
  if (bucket >= BUCKETS - 1) return Number.POSITIVE_INFINITY;
  return SMALLEST_MS * 10 ** (Math.max(0, bucket) / PER_DECADE);
}
