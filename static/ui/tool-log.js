/** The calls of the room, newest first: time, app, tool, outcome in words, duration. */

import { element } from "./element.js";

/** @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame */

const KEPT_MAX = 200;

export class ToolLog {
  #list;
  #empty;
  #titleOf;
  /** @type {Map<string, HTMLElement>} */
  #rows = new Map();

  /**
   * @param {HTMLElement} list @param {HTMLElement} empty
   * @param {(appId: string) => string | undefined} titleOf the title of an app of this page
   */
  constructor(list, empty, titleOf) {
    this.#list = list;
    this.#empty = empty;
    this.#titleOf = titleOf;
  }

  /** Draws a frame; the same one twice changes nothing. @param {ToolFrame} frame */
  show(frame) {
    const row = this.#rows.get(frame.callId) ?? this.#addRow(frame);
    if (frame.state !== "done") return;
    row.dataset.state = frame.ok ? "ok" : "refused";
    part(row, "log-outcome").textContent = outcomeWords(frame);
    if (frame.durationMs !== undefined) {
      part(row, "log-ms").textContent = `${frame.durationMs.toFixed(1)} ms`;
    }
  }

  /** @param {ToolFrame} frame */
  #addRow({ callId, name, host, appId, at }) {
    this.#empty.hidden = true;
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

/** @param {HTMLElement} row @param {string} className */
function part(row, className) {
  return /** @type {HTMLElement} */ (row.querySelector(`.${className}`));
}

/** @param {ToolFrame} frame */
function outcomeWords({ ok, output, refused, why }) {
  return ok ? (output ?? "done") : `${refused}: ${why ?? ""}`;
}
