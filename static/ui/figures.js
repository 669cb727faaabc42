/** The dashboard's tables: each tool's figures, refusals by code, the slowest calls. */

import { element } from "./element.js";
import { figuresOf, refusalsOf, slowestOf } from "./statistics.js";

/** @typedef {import("./statistics.js").Call} Call */

const SLOWEST_SHOWN = 10;

/** @param {readonly Call[]} calls @param {HTMLTableSectionElement} rows */
export function drawFigures(calls, rows) {
  const figures = figuresOf(calls).map((tool) =>
    tableRow(
      tool.name,
      [tool.host],
      [
        String(tool.calls),
        String(tool.refused),
        ...[tool.p50, tool.p95, tool.p99, tool.slowest, tool.queued].map((ms) => ms.toFixed(1)),
      ],
    ),
  );
  rows.replaceChildren(...figures);
}

/** @param {readonly Call[]} calls @param {HTMLTableSectionElement} rows */
export function drawRefusals(calls, rows) {
  const codes = refusalsOf(calls).map(([code, count]) => tableRow(code, [], [String(count)]));
  rows.replaceChildren(...codes);
}

/** @param {readonly Call[]} calls @param {HTMLTableSectionElement} rows */
export function drawSlowest(calls, rows) {
  const slowest = slowestOf(calls, SLOWEST_SHOWN).map(({ name, host, at, ok, code, ms }) => {
    const time = new Date(at).toLocaleTimeString();
    return tableRow(name, [host, time, ok ? "ok" : code], [ms.toFixed(1)]);
  });
  rows.replaceChildren(...slowest);
}

/** @param {string} head @param {string[]} words @param {string[]} numbers */
function tableRow(head, words, numbers) {
  const row = element("tr");
  const first = element("th", "", head);
  first.scope = "row";
  row.append(first, ...words.map((text) => element("td", "", text)));
  row.append(...numbers.map((text) => element("td", "number", text)));
  return row;
}
