/** The calls of the room, newest first: time, app, tool, outcome in words, duration; to be filtered. */

import { element } from "./element.js";
import { durationWords, matches } from "./wording.js";

/** @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame */

const KEPT_MAX = 200;
const OUTPUT_SHOWN_CHARS = 200;

export class ToolLog {
  #list;
  #empty;
  #emptyWords;
  #titleOf;
  #filter = "";
  /** @type {Map<string, HTMLElement>} */
  #rows = new Map();

  /**
   * @param {HTMLElement} list @param {HTMLElement} empty
   * @param {(appId: string) => string | undefined} titleOf the title of an app of this page
   */
  constructor(list, empty, titleOf) {
    this.#list = list;
    this.#empty = empty;
    this.#emptyWords = empty.textContent;
    this.#titleOf = titleOf;
    list.tabIndex = 0; // it scrolls, so the keyboard must reach it
  }

  /** Draws a frame; the same one twice changes nothing. @param {ToolFrame} frame */
  show(frame) {
    const row = this.#rows.get(frame.callId) ?? this.#addRow(frame);
    if (frame.state === "done") finish(row, frame);
    row.hidden = !matches(row.textContent, this.#filter);
    this.#tellEmpty();
  }

  /** Shows only the calls with each of these words. @param {string} filter */
  filter(filter) {
    this.#filter = filter;
    for (const row of this.#rows.values()) row.hidden = !matches(row.textContent, filter);
    this.#tellEmpty();
  }

  #tellEmpty() {
    const shown = [...this.#rows.values()].some((row) => !row.hidden);
    this.#empty.hidden = shown;
    const words = this.#rows.size ? "No call matches." : this.#emptyWords;
    if (this.#empty.textContent !== words) this.#empty.textContent = words;
  }

  /** @param {ToolFrame} frame */
  #addRow({ callId, name, host, appId, at }) {
    const row = element("li", "log-row");
    row.dataset.callId = callId;
    row.dataset.tool = name;
    row.dataset.state = "running";
    const time = element("time", "log-time", (at ? new Date(at) : new Date()).toLocaleTimeString());
    const app = (appId && (this.#titleOf(appId) ?? appId)) || host;
    row.append(time, element("span", "log-app", app), element("code", "log-tool", name));
    row.append(element("span", "log-outcome", "running…"), element("span", "log-ms"));
    this.#rows.set(callId, row);
    this.#list.prepend(row);
    this.#trim();
    return row;
  }

  #trim() {
    if (this.#rows.size <= KEPT_MAX) return;
    const [[callId, row] = []] = this.#rows;
    row?.remove();
    this.#rows.delete(/** @type {string} */ (callId));
  }
}

/** @param {HTMLElement} row @param {ToolFrame} frame */
function finish(row, { ok, output = "done", refused = "", why = "refused", durationMs }) {
  if (row.dataset.state !== "running") return;
  row.dataset.state = ok ? "ok" : "refused";
  const outcome = part(row, "log-outcome");
  if (ok) outcome.textContent = cut(output);
  else outcome.replaceChildren(`Refused: ${why} `, element("code", "log-code", refused));
  if (durationMs !== undefined) part(row, "log-ms").textContent = durationWords(durationMs);
}

/** @param {string} text */
function cut(text) {
  return text.length > OUTPUT_SHOWN_CHARS ? `${text.slice(0, OUTPUT_SHOWN_CHARS)}…` : text;
}

/** @param {HTMLElement} row @param {string} className */
function part(row, className) {
  return /** @type {HTMLElement} */ (row.querySelector(`.${className}`));
}
