/** Who said what: one paragraph for each turn and speaker, interim text first, then final. */

import { element } from "./element.js";

const KEPT_MAX = 200;
const SPEAKER = { user: "You", assistant: "Voicebox" };

export class Captions {
  #list;
  #empty;
  #tools;
  /** @type {Map<string, HTMLElement>} */
  #lines = new Map();

  /**
   * @param {HTMLElement} list @param {HTMLElement} empty shown while nothing was said
   * @param {HTMLElement} tools shown once something was
   */
  constructor(list, empty, tools) {
    this.#tools = tools;
    this.#list = list;
    this.#empty = empty;
    list.tabIndex = 0; // it scrolls, so the keyboard must reach it
  }

  /** @param {import("../protocol/messages.d.ts").Text} message the whole text of a turn so far */
  show({ role = "assistant", text, final, turnId = "" }) {
    if (final && text === "") return this.#takeBack(`${role} ${turnId}`);
    const line = this.#line(`${role} ${turnId}`, role);
    const words = /** @type {HTMLElement} */ (line.querySelector(".caption-text"));
    words.textContent = text;
    line.classList.toggle("caption-interim", !final);
    this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** @param {string} turnId the answer that was cut off */
  interrupted(turnId) {
    const line = this.#lines.get(`assistant ${turnId}`);
    if (!line || line.classList.contains("caption-interrupted")) return;
    line.classList.add("caption-interrupted");
    line.append(" ", element("span", "caption-mark", "(interrupted)"));
  }

  /** All that was said, a line for each turn, for elsewhere. */
  text() {
    const lines = [...this.#lines.values()].map((line) => {
      const [speaker, ...said] = [...line.children].map(({ textContent }) => textContent);
      return `${speaker}: ${said.join(" ")}\n`;
    });
    return lines.join("");
  }

  /** @param {string} key @param {"user" | "assistant"} role */
  #line(key, role) {
    const known = this.#lines.get(key);
    if (known) return known;
    this.#empty.hidden = true;
    this.#tools.hidden = false;
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

  /** What was shown turned out to be no words. @param {string} key */
  #takeBack(key) {
    this.#lines.get(key)?.remove();
    this.#lines.delete(key);
  }

  #trim() {
    if (this.#lines.size <= KEPT_MAX) return;
    const [[key, line] = []] = this.#lines;
    line?.remove();
    this.#lines.delete(/** @type {string} */ (key));
  }
}
