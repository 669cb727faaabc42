/** How many lines of an app's console may pass in a second; what is over that is only counted. */

const SECOND_MS = 1_000;

export class LineBudget {
  #perSecondMax;
  #since = Number.NEGATIVE_INFINITY;
  #lines = 0;

  /** Lines that did not pass. */
  silenced = 0;

  /** @param {number} perSecondMax */
  constructor(perSecondMax) {
    this.#perSecondMax = perSecondMax;
  }

  /** Whether one more line may pass. @param {number} now in ms */
  admits(now) {
    if (now - this.#since >= SECOND_MS) {
      this.#since = now;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines <= this.#perSecondMax) return true;
    this.silenced += 1;
    return false;
  }
}
