/** The dashboard's words, tables and lists: which element shows what. */

import { byId } from "../ui/element.js";
import { durationWords } from "../ui/wording.js";
import { NewestCalls } from "./newest-calls.js";
import { drawFigures, drawHistogram, drawOverTime, drawRefusals, drawSlowest } from "./tables.js";
import { emptiness, headline, interruptionWords, perSecond } from "./words.js";

/**
 * @typedef {import("./board.js").Picture} Picture
 * @typedef {(picture: Picture, rows: HTMLTableSectionElement) => void} DrawRows
 */

const div = HTMLElement;

/** @param {() => void} drawSoon asked for when a closed table is opened @returns {(picture: Picture) => void} */
export function openParts(drawSoon) {
  const newest = new NewestCalls(byId("tool-log", div));
  const twins = [
    twin("over-time", drawOverTime, drawSoon),
    twin("histogram", drawHistogram, drawSoon),
  ];
  for (const wide of document.querySelectorAll(".wide")) {
    /** @type {HTMLElement} */ (wide).tabIndex = 0; // it scrolls where the screen is narrow
  }
  return (picture) => {
    const { total, refusals } = picture.summary;
    showWhether(picture, total.calls > 0);
    say("headline", total.calls ? headline(picture) : "");
    say("interruptions", interruptionWords(picture.interruptions));
    showTiles(picture);
    byId("refusals", div).hidden = refusals.length === 0;
    drawFigures(picture, byId("figures-rows", HTMLTableSectionElement));
    drawRefusals(picture, byId("refusals-rows", HTMLTableSectionElement));
    drawSlowest(picture, byId("slowest-rows", HTMLTableSectionElement));
    for (const draw of twins) draw(picture);
    newest.draw(picture);
  };
}

/** @param {Picture} picture @param {boolean} any */
function showWhether(picture, any) {
  byId("board", div).hidden = !any;
  say("figures-empty", any ? "" : emptiness(picture));
}

/** @param {Picture} picture */
function showTiles({ summary: { total }, seconds, running }) {
  say("tile-calls", String(total.calls));
  say("tile-rate", perSecond(total.calls, seconds));
  say("tile-running", String(running));
  say(
    "tile-refused",
    total.calls ? `${((100 * total.refused) / total.calls).toFixed(1)} %` : "0 %",
  );
  for (const share of /** @type {const} */ (["p50", "p95", "p99", "queued"])) {
    say(`tile-${share}`, durationWords(total[share]));
  }
}

/** A table that says the same as a chart; its rows are made only while it is open. @param {string} name @param {DrawRows} draw @param {() => void} drawSoon */
function twin(name, draw, drawSoon) {
  const details = byId(`${name}-table`, HTMLDetailsElement);
  details.addEventListener("toggle", drawSoon);
  const rows = byId(`${name}-rows`, HTMLTableSectionElement);
  return (/** @type {Picture} */ picture) => details.open && draw(picture, rows);
}

/** @param {string} id @param {string} text an empty one hides the element */
function say(id, text) {
  const place = byId(id, div);
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}
