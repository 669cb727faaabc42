/** When the dashboard heard nothing: breaks of its connection, and frames that came too fast. */

/** @typedef {{from: number, to: number | undefined}} Break Unix times in ms; `to` once it is over */

const KEPT_MAX = 50;

export class Interruptions {
  /** The oldest first. @type {Break[]} */
  breaks = [];
  /** Frames that the relay dropped because this page was too slow. */
  lost = 0;

  /** @param {number} now Unix ms; within a break it changes nothing */
  begin(now) {
    if (this.#open) return;
    this.breaks.push({ from: now, to: undefined });
    if (this.breaks.length > KEPT_MAX) this.breaks.shift();
  }

  /** @param {number} now Unix ms; outside a break it changes nothing */
  end(now) {
    if (this.#open) this.#open.to = now;
  }

  /** The breaks that reach into this time. @param {number} from @param {number} to Unix ms */
  within(from, to) {
    return this.breaks.filter((one) => one.from < to && (one.to ?? to) > from);
  }

  get #open() {
    const last = this.breaks.at(-1);
    return last && last.to === undefined ? last : undefined;
  }
}
