/** One table row for each tool: calls, refusals and the spread of their durations. */

import { element } from "./element.js";

/** @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame */

const KEPT_MAX = 1_000;

/** The value below which `share` of the sorted values lie. @param {number[]} sorted @param {number} share */
export function percentile(sorted, share) {
  const index = Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1);
  return sorted[Math.max(0, index)] ?? 0;
}

export class Figures {
  #table;
  #rows;
  #empty;
  /** @type {Map<string, {row: HTMLTableRowElement, refused: number, calls: number, times: number[]}>} */
  #tools = new Map();
  /** Calls that are counted already: a reconnect repeats the history. @type {Set<string>} */
  #counted = new Set();

  /** @param {HTMLElement} table @param {HTMLElement} rows @param {HTMLElement} empty */
  constructor(table, rows, empty) {
    this.#table = table;
    this.#rows = rows;
    this.#empty = empty;
  }

  /** @param {ToolFrame} frame */
  count(frame) {
    if (frame.state !== "done" || this.#counted.has(frame.callId)) return;
    this.#remember(frame.callId);
    const tool = this.#tools.get(frame.name) ?? this.#addRow(frame);
    tool.calls += 1;
    if (!frame.ok) tool.refused += 1;
    tool.times.push(frame.durationMs ?? 0);
    if (tool.times.length > KEPT_MAX) tool.times.shift();
    const sorted = tool.times.toSorted((a, b) => a - b);
    const shown = [percentile(sorted, 0.5), percentile(sorted, 0.95), sorted.at(-1) ?? 0];
    const cells = [tool.calls, tool.refused, ...shown.map((ms) => ms.toFixed(1))];
    for (const [index, text] of cells.entries()) {
      const cell = tool.row.cells[index + 2];
      if (cell) cell.textContent = String(text);
    }
  }

  /** @param {number} count frames that the relay had to drop */
  lost(count) {
    this.#empty.textContent = `${count} frames came too fast for this page and are not counted.`;
    this.#empty.hidden = false;
  }

  /** @param {string} callId */
  #remember(callId) {
    this.#counted.add(callId);
    if (this.#counted.size <= 4 * KEPT_MAX) return;
    const [oldest] = this.#counted;
    this.#counted.delete(/** @type {string} */ (oldest));
  }

  /** @param {ToolFrame} frame */
  #addRow({ name, host }) {
    this.#table.hidden = false;
    this.#empty.hidden = true;
    const row = element("tr");
    const head = element("th", "", name);
    head.scope = "row";
    row.append(head, element("td", "", host));
    for (let i = 0; i < 5; i += 1) row.append(element("td", "number"));
    this.#rows.append(row);
    const tool = { row, refused: 0, calls: 0, times: [] };
    this.#tools.set(name, tool);
    return tool;
  }
}
