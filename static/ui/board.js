/** What the dashboard keeps of the calls of a room, and when it draws them anew. */

import { callOf } from "./statistics.js";
import { matches } from "./wording.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {import("./statistics.js").Call} Call
 */

const KEPT_MAX = 100_000;
const TRIMMED = 10_000;
const DRAWN_EVERY_MS = 500;

export class Board {
  #draw;
  /** @type {Call[]} */
  #calls = [];
  /** Of the calls that are kept: a reconnect repeats the relay's history. @type {Set<string>} */
  #ids = new Set();
  #filter = "";
  #drawing = false;

  /** @param {(calls: readonly Call[]) => void} draw those that match the filter */
  constructor(draw) {
    this.#draw = draw;
  }

  /** @param {ToolFrame} frame */
  count(frame) {
    if (frame.state !== "done" || this.#ids.has(frame.callId)) return;
    this.#ids.add(frame.callId);
    this.#calls.push(callOf(frame));
    if (this.#calls.length > KEPT_MAX) {
      for (const { callId } of this.#calls.splice(0, TRIMMED)) this.#ids.delete(callId);
    }
    this.#drawSoon();
  }

  /** Counts only the calls whose tool, host and code hold each of these words. @param {string} filter */
  filter(filter) {
    this.#filter = filter;
    this.#drawSoon();
  }

  #drawSoon() {
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => {
      this.#drawing = false;
      this.#draw(this.#matching());
    }, DRAWN_EVERY_MS);
  }

  #matching() {
    if (!this.#filter.trim()) return this.#calls;
    return this.#calls.filter(({ name, host, code }) =>
      matches(`${name} ${host} ${code}`, this.#filter),
    );
  }
}
