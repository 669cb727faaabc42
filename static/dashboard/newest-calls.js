/** The newest calls that a view shows, as a list; drawn anew only where another call came. */

import { element } from "../ui/element.js";
import { durationWords } from "../ui/wording.js";
import { timeOf } from "./words.js";

/** @typedef {import("./board.js").Picture} Picture */

export class NewestCalls {
  #list;
  #shown = "";

  /** @param {HTMLElement} list */
  constructor(list) {
    this.#list = list;
    list.tabIndex = 0; // it scrolls, so the keyboard must reach it
  }

  /** @param {Picture} picture */
  draw({ newest, ring }) {
    const shown = newest.map((slot) => `${slot}@${ring.at[slot]}`).join();
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#list.replaceChildren(...newest.map((slot) => rowOf(ring.call(slot))));
  }
}

/** @param {ReturnType<import("./call-ring.js").CallRing["call"]>} call */
function rowOf({ name, host, code, ms, at }) {
  const row = element("li", "newest-call");
  row.dataset.tool = name;
  row.dataset.state = code ? "refused" : "ok";
  row.append(element("time", "newest-time", timeOf(at)), element("span", "newest-host", host));
  row.append(element("code", "newest-tool", name));
  row.append(element("span", "newest-outcome", code ? `Refused: ${code}` : "Done"));
  row.append(element("span", "newest-ms", durationWords(ms)));
  return row;
}
