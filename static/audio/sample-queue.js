/** Samples that wait to be played: bounded, in order. */

export class SampleQueue {
  /** @type {Int16Array[]} */
  #chunks = [];
  #offset = 0;
  #waiting = 0;
  #most;

  /** @param {number} most samples that may wait; what comes on top is dropped */
  constructor(most) {
    this.#most = most;
  }

  get waiting() {
    return this.#waiting;
  }

  /** @param {Int16Array} samples */
  push(samples) {
    if (samples.length === 0 || this.#waiting + samples.length > this.#most) return;
    this.#chunks.push(samples);
    this.#waiting += samples.length;
  }

  clear() {
    this.#chunks = [];
    this.#offset = 0;
    this.#waiting = 0;
  }

  /** Fills `channel` with the next samples, then with silence. @param {Float32Array} channel */
  fill(channel) {
    let written = 0;
    while (written < channel.length) {
      const [chunk] = this.#chunks;
      if (!chunk) break;
      const count = Math.min(channel.length - written, chunk.length - this.#offset);
      for (let i = 0; i < count; i += 1) {
        channel[written + i] = /** @type {number} */ (chunk[this.#offset + i]) / 32_768;
      }
      this.#take(chunk, count);
      written += count;
    }
    channel.fill(0, written);
  }

  /** @param {Int16Array} chunk @param {number} count */
  #take(chunk, count) {
    this.#waiting -= count;
    this.#offset += count;
    if (this.#offset < chunk.length) return;
    this.#chunks.shift();
    this.#offset = 0;
  }
}
