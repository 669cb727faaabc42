/** How loud sound is while it passes: one value for each stretch; silence is told once. */

const STRETCHES_PER_S = 20;

export class Loudness {
  #stretch;
  #squares = 0;
  #passed = 0;
  #silent = true;

  /** @param {number} rateHz of the samples */
  constructor(rateHz) {
    this.#stretch = rateHz / STRETCHES_PER_S;
  }

  /** @param {Float32Array} samples -1 to 1 @returns {number | undefined} 0 to 1 when a stretch is over */
  pass(samples) {
    for (const sample of samples) this.#squares += sample * sample;
    this.#passed += samples.length;
    if (this.#passed < this.#stretch) return undefined;
    const level = Math.sqrt(this.#squares / this.#passed);
    this.#squares = 0;
    this.#passed = 0;
    const told = !(this.#silent && level === 0);
    this.#silent = level === 0;
    return told ? level : undefined;
  }
}
