/** Counts what an app says, so that one that floods can be ended. */

/** @typedef {import("./launch.js").BridgeLimits} BridgeLimits */

/** What a value counts whose size can't be seen, such as a Map or an ImageBitmap. */
const OPAQUE_BYTES = 1_048_576;

/** Messages and bytes of the running second, against their bounds. */
export class Breaker {
  #limits;
  #since = Number.NEGATIVE_INFINITY;
  #messages = 0;
  #bytes = 0;

  /** @param {BridgeLimits} limits */
  constructor(limits) {
    this.#limits = limits;
  }

  /** @param {number} bytes @param {number} now in ms */
  admits(bytes, now) {
    if (now - this.#since >= 1000) {
      this.#since = now;
      this.#messages = 0;
      this.#bytes = 0;
    }
    this.#messages += 1;
    this.#bytes += bytes;
    const { appMessagesPerSecondMax, appBytesPerSecondMax } = this.#limits;
    return this.#messages <= appMessagesPerSecondMax && this.#bytes <= appBytesPerSecondMax;
  }
}

/** A rough size in bytes, by a bounded walk. @param {unknown} data */
export function weigh(data) {
  let bytes = 0;
  let steps = 4096;
  const queue = [data];
  while (queue.length > 0) {
    const value = queue.pop();
    steps -= 1;
    if (steps < 0) return Number.POSITIVE_INFINITY;
    bytes += 8;
    if (typeof value === "string") bytes += value.length;
    else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) bytes += value.byteLength;
    else if (value instanceof Blob) bytes += value.size;
    else if (typeof value === "object" && value !== null) {
      if (!isPlain(value)) bytes += OPAQUE_BYTES;
      const parts = Object.entries(value);
      if (parts.length > steps) return Number.POSITIVE_INFINITY;
      queue.push(...parts.flat());
    }
  }
  return bytes;
}

/** @param {object} value */
function isPlain(value) {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
