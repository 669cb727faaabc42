/** What one running app said to its console: the newest lines, and how many are not among them. */

/**
 * @typedef {"error" | "warning" | "uncaught"} Level
 * @typedef {{level: Level, text: string, at: Date}} Line
 */

export class AppConsole {
  #linesMax;
  #forgotten = 0;
  #silenced = 0;
  /** The oldest first. @type {Line[]} */
  lines = [];

  /** @param {number} linesMax */
  constructor(linesMax) {
    this.#linesMax = linesMax;
  }

  /** Every line that was said, also those that nobody can read any more. */
  get count() {
    return this.lines.length + this.dropped;
  }

  /** Lines that are not kept: too old, or too many in a second. */
  get dropped() {
    return this.#forgotten + this.#silenced;
  }

  /** @param {Level} level @param {string} text */
  add(level, text) {
    this.lines.push({ level, text, at: new Date() });
    if (this.lines.length <= this.#linesMax) return;
    this.lines.shift();
    this.#forgotten += 1;
  }

  /** Takes up how many lines were never told. @param {number} silenced in all @returns {boolean} whether that is news */
  silence(silenced) {
    const news = silenced > this.#silenced;
    this.#silenced = Math.max(this.#silenced, silenced);
    return news;
  }
}
