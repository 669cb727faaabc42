/**
 * What the dashboard knows of a room, and when it is drawn anew: at most four times a second,
 * however many frames come. A frame costs the same whether it is the first or the millionth.
 */

import { CallRing } from "./call-ring.js";
import { Interruptions } from "./interruptions.js";
import { shownBy } from "./selection.js";
import { axisOf, summaryOf } from "./statistics.js";
import { RANGES } from "./view.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {import("./view.js").View} View
 * @typedef {{summary: import("./statistics.js").Summary, axis: import("./statistics.js").Axis,
 *   newest: number[], running: number, ring: CallRing, seconds: number, range: import("./view.js").Range,
 *   interruptions: Interruptions}} Picture
 *   newest: slots, the newest first; seconds: how long a time is looked at
 */

export const DRAWN_EVERY_MS = 250;
const NEWEST_SHOWN = 50;
const RUNNING_MAX = 1_000;

export class Board {
  interruptions = new Interruptions();
  #draw;
  #view;
  #ring;
  /** Calls without an outcome so far. @type {Set<string>} */
  #running = new Set();
  #drawing = false;

  /** @param {View} view @param {(picture: Picture) => void} draw @param {CallRing} [ring] */
  constructor(view, draw, ring = new CallRing()) {
    this.#view = view;
    this.#draw = draw;
    this.#ring = ring;
  }

  /** @param {ToolFrame} frame */
  count(frame) {
    if (frame.state === "called") this.#begin(frame.callId);
    else if (!this.#ring.add(frame))
      return; // a reconnect repeats the relay's history
    else this.#running.delete(frame.callId);
    this.drawSoon();
  }

  /** @param {View} view */
  show(view) {
    this.#view = view;
    this.drawSoon();
  }

  /** The relay was lost: nobody tells how its calls ended. */
  interrupt() {
    this.#running.clear();
    this.interruptions.begin(Date.now());
    this.drawSoon();
  }

  drawSoon() {
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => {
      this.#drawing = false;
      this.#draw(this.#picture());
    }, DRAWN_EVERY_MS);
  }

  /** @param {string} callId */
  #begin(callId) {
    if (this.#running.size < RUNNING_MAX && !this.#ring.has(callId)) this.#running.add(callId);
  }

  /** @returns {Picture} */
  #picture() {
    const now = Date.now();
    const ring = this.#ring;
    const shown = shownBy(ring, this.#view, now);
    const { range } = this.#view;
    const since = range === "all" ? Math.min(ring.earliest, now) : now - RANGES[range].ms;
    const axis = axisOf(since, now);
    return {
      summary: summaryOf(ring, shown, axis),
      axis,
      newest: ring.newest(NEWEST_SHOWN, shown),
      running: this.#running.size,
      ring,
      seconds: (now - since) / 1_000,
      range,
      interruptions: this.interruptions,
    };
  }
}
