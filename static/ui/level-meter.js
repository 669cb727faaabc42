/**
 * How loud one side of the conversation is, as a meter. It carries a fact, whether sound arrives, so
 * it moves for people who want little motion too: at most twenty times a second, without glide.
 */

const DRAWN_EVERY_MS = 50;
const QUIETEST_DB = -60;

/** Where a level stands on the meter: its decibels between silence and full scale. @param {number} level 0 to 1 @returns {number} 0 to 100 */
export function meterValue(level) {
  if (level <= 0) return 0;
  const decibels = 20 * Math.log10(level);
  return Math.round(Math.min(100, Math.max(0, 100 * (1 - decibels / QUIETEST_DB))));
}

export class LevelMeter {
  #meter;
  #alsoTell;
  #loudest = 0;
  #last = 0;
  #drawing = false;

  /** @param {HTMLMeterElement} meter from 0 to 100 @param {(level: number) => void} [alsoTell] at the meter's pace */
  constructor(meter, alsoTell = () => undefined) {
    this.#meter = meter;
    this.#alsoTell = alsoTell;
  }

  /** The loudest of what comes between two drawings is drawn. @param {number} level 0 to 1 */
  show(level) {
    this.#loudest = Math.max(this.#loudest, level);
    this.#last = level;
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => this.#draw(), DRAWN_EVERY_MS);
  }

  #draw() {
    const loudest = this.#loudest;
    this.#loudest = 0;
    this.#drawing = false;
    const value = meterValue(loudest);
    if (this.#meter.value !== value) this.#meter.value = value;
    this.#alsoTell(loudest);
    if (loudest > 0 && this.#last === 0) this.show(0); // the silence that ended it is drawn too
  }
}
