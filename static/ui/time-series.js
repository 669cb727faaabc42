/** Calls over the last minutes as bars, refusals in their own colour, and the same in a sentence. */

import { binsOf } from "./statistics.js";

/** @typedef {import("./statistics.js").Call} Call */

const BIN_MS = 5_000;
const BINS = 60;
const HEIGHT = 40;
const BAR = 0.8;
const SVG = "http://www.w3.org/2000/svg";

export class TimeSeries {
  #chart;
  #words;
  /** @type {readonly Call[]} */
  #calls = [];

  /** @param {Element} chart an svg @param {HTMLElement} words */
  constructor(chart, words) {
    this.#chart = chart;
    this.#words = words;
    chart.setAttribute("viewBox", `0 0 ${BINS} ${HEIGHT}`);
    chart.setAttribute("preserveAspectRatio", "none");
    setInterval(() => document.hidden || this.#drawNow(), BIN_MS);
  }

  /** @param {readonly Call[]} calls */
  draw(calls) {
    this.#calls = calls;
    this.#drawNow();
  }

  #drawNow() {
    const bins = binsOf(this.#calls, { now: Date.now(), binMs: BIN_MS, count: BINS });
    const most = Math.max(1, ...bins.map(({ calls }) => calls));
    const bars = bins.flatMap(({ calls, refused }, x) => [
      bar("bar-calls", x, (calls / most) * HEIGHT),
      bar("bar-refused", x, (refused / most) * HEIGHT),
    ]);
    this.#chart.replaceChildren(...bars.filter((one) => one !== undefined));
    this.#words.textContent = wordsOf(bins, most);
  }
}

/** @param {string} className @param {number} x @param {number} height */
function bar(className, x, height) {
  if (height === 0) return undefined;
  const made = document.createElementNS(SVG, "rect");
  made.setAttribute("class", className);
  const box = { x, y: HEIGHT - height, width: BAR, height };
  for (const [name, value] of Object.entries(box)) made.setAttribute(name, String(value));
  return made;
}

/** @param {import("./statistics.js").Bin[]} bins @param {number} most */
function wordsOf(bins, most) {
  const calls = bins.reduce((sum, bin) => sum + bin.calls, 0);
  const refused = bins.reduce((sum, bin) => sum + bin.refused, 0);
  if (calls === 0) return "No call in the last 5 minutes.";
  const perSecond = (most / (BIN_MS / 1_000)).toFixed(1);
  return `${calls} calls in the last 5 minutes, ${refused} of them refused; at most ${perSecond} a second.`;
}
