/** Who said what: one paragraph for each turn and speaker, interim text first, then final. */

import { element } from "./element.js";

const KEPT_MAX = 200;
const SPEAKER = { user: "You", assistant: "Voicebox" };

export class Captions {
  #list;
  #empty;
  /** @type {Map<string, HTMLElement>} */
  #lines = new Map();

  /** @param {HTMLElement} list @param {HTMLElement} empty shown while nothing was said */
  constructor(list, empty) {
    this.#list = list;
    this.#empty = empty;
    list.tabIndex = 0; // it scrolls, so the keyboard must reach it
  }

  /** @param {import("../protocol/messages.d.ts").Text} message the whole text of a turn so far */
  show({ role = "assistant", text, final, turnId = "" }) {
    const line = this.#line(`${role} ${turnId}`, role);
    const words = /** @type {HTMLElement} */ (line.querySelector(".caption-text"));
    words.textContent = text;
    line.classList.toggle("caption-interim", !final);
    this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** @param {string} turnId the answer that was cut off */
  interrupted(turnId) {
    this.#lines.get(`assistant ${turnId}`)?.classList.add("caption-interrupted");
  }

  /** @param {string} key @param {"user" | "assistant"} role */
  #line(key, role) {
    const known = this.#lines.get(key);
    if (known) return known;
    this.#empty.hidden = true;
    const line = element("p", `caption caption-${role}`);
    line.append(
      element("span", "caption-speaker", SPEAKER[role]),
      " ",
      element("span", "caption-text"),
    );
    this.#lines.set(key, line);
    this.#list.append(line);
    this.#trim();
    return line;
  }

  #trim() {
    if (this.#lines.size <= KEPT_MAX) return;
    const [[key, line] = []] = this.#lines;
    line?.remove();
    this.#lines.delete(/** @type {string} */ (key));
  }
}
