/** What a running app said to its console: a line that opens to a list, drawn a few times a second. */

import { element } from "./element.js";

/** @typedef {import("../miniapps/running-app.js").RunningApp} RunningApp */

const DRAWN_EVERY_MS = 200;
const WORDS = { error: "Error", warning: "Warning", uncaught: "Uncaught" };

export class ConsoleList {
  #app;
  #count = element("span", "count", "0");
  #dropped = element("p", "empty");
  #lines = element("ol", "console-lines");
  #drawing = false;

  /** @param {RunningApp} app */
  constructor(app) {
    this.#app = app;
    const details = element("details", "app-console messages");
    const summary = element("summary", "", "Console ");
    summary.append(this.#count);
    this.#lines.tabIndex = 0; // it scrolls, so the keyboard must reach it
    this.#lines.setAttribute("aria-label", `Console of ${app.title}`);
    details.append(summary, this.#dropped, this.#lines);
    details.hidden = true;
    details.addEventListener("toggle", () => this.#draw());
    this.element = details;
  }

  /** Draws soon. */
  show() {
    if (this.#drawing) return;
    this.#drawing = true;
    setTimeout(() => {
      this.#drawing = false;
      this.#draw();
    }, DRAWN_EVERY_MS);
  }

  #draw() {
    const { lines, count, dropped } = this.#app.console;
    this.element.hidden = count === 0;
    this.#count.textContent = String(count);
    this.#dropped.hidden = dropped === 0;
    this.#dropped.textContent = `${dropped} more were too many, or too old, to keep.`;
    if (this.element.open) this.#lines.replaceChildren(...lines.map(rowOf).reverse());
  }
}

/** @param {import("../miniapps/app-console.js").Line} line */
function rowOf({ level, text, at }) {
  const row = element("li", "console-line");
  row.dataset.level = level;
  const time = element("time", "kept-time", at.toLocaleTimeString());
  row.append(time, element("span", "console-level", WORDS[level]));
  row.append(element("span", "console-text", text));
  return row;
}
