/** The dashboard's tables: each tool's figures, refusals, slowest calls, and a twin of each chart. */

import { element } from "../ui/element.js";
import { barName, perSecond, timeOf } from "./words.js";

/**
 * @typedef {import("./board.js").Picture} Picture
 * @typedef {import("./statistics.js").Figures} Figures
 */

const SECOND_MS = 1_000;

/** @param {Picture} picture @param {HTMLTableSectionElement} rows */
export function drawFigures({ summary: { tools }, seconds }, rows) {
  const figures = tools.map((tool) =>
    tableRow(
      tool.name,
      [tool.host],
      [
        String(tool.calls),
        perSecond(tool.calls, seconds),
        String(tool.refused),
        ...[tool.p50, tool.p95, tool.p99, tool.slowest, tool.queued].map((ms) => ms.toFixed(1)),
      ],
    ),
  );
  rows.replaceChildren(...figures);
}

/** @param {Picture} picture @param {HTMLTableSectionElement} rows */
export function drawRefusals({ summary: { refusals } }, rows) {
  rows.replaceChildren(...refusals.map(([code, calls]) => tableRow(code, [], [String(calls)])));
}

/** @param {Picture} picture @param {HTMLTableSectionElement} rows */
export function drawSlowest({ summary: { slowest }, ring }, rows) {
  const calls = slowest.map((slot) => {
    const { name, host, at, code, ms, queuedMs } = ring.call(slot);
    return tableRow(name, [host, timeOf(at), code || "ok"], [queuedMs.toFixed(1), ms.toFixed(1)]);
  });
  rows.replaceChildren(...calls);
}

/** What both charts over time show, a row for each stretch that had calls or a break. @param {Picture} picture @param {HTMLTableSectionElement} rows */
export function drawOverTime({ summary: { bins }, axis, interruptions }, rows) {
  const told = bins.flatMap(({ at, calls, refused, spread }) => {
    const lost = interruptions.within(at, at + axis.binMs).length > 0;
    if (!calls && !lost) return [];
    const times = [spread.p50, spread.p95, spread.p99].map((ms) => (calls ? ms.toFixed(1) : ""));
    const rate = perSecond(calls, axis.binMs / SECOND_MS);
    return [tableRow(timeOf(at), [lost ? "not connected" : ""], [rate, String(refused), ...times])];
  });
  rows.replaceChildren(...told);
}

/** @param {Picture} picture @param {HTMLTableSectionElement} rows */
export function drawHistogram({ summary: { bars } }, rows) {
  const told = bars
    .filter(({ calls }) => calls > 0)
    .map(({ from, to, calls, refused }) =>
      tableRow(barName(from, to), [], [String(calls), String(refused)]),
    );
  rows.replaceChildren(...told);
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
