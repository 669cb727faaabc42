/** The calls that wait for an app's answer, each with its deadline; each ends exactly once. */

export class Calls {
  /** Call id → timer. @type {Map<string, number>} */
  #waiting = new Map();

  /** @returns {string[]} */
  get ids() {
    return [...this.#waiting.keys()];
  }

  /** @param {string} callId */
  has(callId) {
    return this.#waiting.has(callId);
  }

  /** @param {string} callId @param {number} deadlineMs @param {() => void} onLate */
  add(callId, deadlineMs, onLate) {
    this.#waiting.set(callId, setTimeout(onLate, deadlineMs));
  }

  /** Takes a call out of the book. @param {string} callId @returns {boolean} whether it waited */
  settle(callId) {
    clearTimeout(this.#waiting.get(callId));
    return this.#waiting.delete(callId);
  }
}
