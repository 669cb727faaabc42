/** The dashboard's three charts: calls per second, durations over time, how many took how long. */

import { durationWords } from "../ui/wording.js";
import { Chart, uPlot } from "./chart.js";
import { BARS, barFrom } from "./digest.js";
import { shortDuration, timeOf } from "./words.js";

/**
 * @typedef {import("./board.js").Picture} Picture
 * @typedef {import("./chart.js").Colours} Colours
 * @typedef {import("./chart.js").Plot} Plot
 * @typedef {import("../vendor/uplot/uPlot.d.ts").Series} Series
 * @typedef {import("../vendor/uplot/uPlot.d.ts").Axis} Axis
 */

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const SMALLEST_MS = 0.01;
/** @type {[number, number, number, number]} above, right (half a label), below, left */
const PADDING = [12, 40, 0, 0];
const NARROW_PX = 360;
/** @type {Series} */
const TIME = { label: "at", value: (_, at) => (at === null ? "" : timeOf(at)) };
const FONT = "12px system-ui, sans-serif";
const BARS_A_DECADE = 6;
const LEAST_BARS = 2 * BARS_A_DECADE;

/** @param {{rate: HTMLElement, times: HTMLElement, histogram: HTMLElement}} places @returns {(picture: Picture) => void} */
export function openCharts(places) {
  const charts = [rateChart(places.rate), timesChart(places.times), histogram(places.histogram)];
  return (picture) => {
    for (const draw of charts) draw(picture);
  };
}

/** Calls per second as bars, refused ones before them. @param {HTMLElement} place @returns {(picture: Picture) => void} */
function rateChart(place) {
  /** @type {Picture | undefined} */
  let shown;
  const chart = new Chart(place, (colours) => ({
    ...overTime(colours, () => shown),
    scales: { x: { time: true, range: () => spanOf(shown) }, y: { range: fromZero } },
    axes: [timeAxis(colours), axis(colours)],
    series: [
      TIME,
      barSeries("calls per second", colours.accent, 1),
      barSeries("refused", colours.bad, 1),
    ],
  }));
  return (picture) => {
    shown = picture;
    const { bins } = picture.summary;
    const seconds = picture.axis.binMs / SECOND_MS;
    chart.draw([
      bins.map(({ at }) => at),
      bins.map(({ calls }) => calls / seconds),
      bins.map(({ refused }) => refused / seconds),
    ]);
  };
}

/** Percentiles as lines over a logarithmic axis. @param {HTMLElement} place @returns {(picture: Picture) => void} */
function timesChart(place) {
  /** @type {Picture | undefined} */
  let shown;
  const chart = new Chart(place, (colours) => ({
    ...overTime(colours, () => shown),
    scales: { x: { time: true, range: () => spanOf(shown) }, y: { distr: 3, range: decades } },
    axes: [timeAxis(colours), { ...axis(colours), splits: tensOf, values: durations }],
    series: [
      TIME,
      lineSeries("p50", colours.good, []),
      lineSeries("p95", colours.accent, [8, 4]),
      lineSeries("p99", colours.warn, [2, 3]),
    ],
  }));
  return (picture) => {
    shown = picture;
    const { bins } = picture.summary;
    const line = (/** @type {"p50" | "p95" | "p99"} */ share) =>
      bins.map(({ calls, spread }) => (calls ? Math.max(SMALLEST_MS, spread[share]) : null));
    const middles = bins.map(({ at }) => at + picture.axis.binMs / 2);
    chart.draw([middles, line("p50"), line("p95"), line("p99")]);
  };
}

/** @param {HTMLElement} place @returns {(picture: Picture) => void} */
function histogram(place) {
  let span = /** @type {[number, number]} */ ([0, BARS]);
  const decadesOf = () => DECADES.filter((bar) => bar >= span[0] && bar <= span[1]);
  const chart = new Chart(place, (colours) => ({
    ...quietCursor(),
    scales: { x: { time: false, range: () => span }, y: { range: fromZero } },
    axes: [
      { ...axis(colours), size: 36, splits: decadesOf, values: tensWords },
      { ...axis(colours), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4] },
    ],
    series: [
      { value: (_, bar) => (bar === null ? "" : `from ${barWords(bar)}`), label: "took" },
      barSeries("calls", colours.accent, 1),
      barSeries("refused", colours.bad, 1),
    ],
  }));
  return ({ summary: { bars } }) => {
    span = spanOfBars(bars.map(({ calls }) => calls));
    chart.draw([
      bars.map((_, i) => i),
      bars.map(({ calls }) => calls),
      bars.map(({ refused }) => refused),
    ]);
  };
}

const DECADES = Array.from({ length: BARS }, (_, bar) => bar).filter(
  (bar) => (bar - 1) % BARS_A_DECADE === 0,
);

/** The bars that hold calls, with whole decades around them. @param {number[]} counts @returns {[number, number]} */
function spanOfBars(counts) {
  const first = Math.max(
    0,
    counts.findIndex((count) => count > 0),
  );
  const last = Math.max(
    first,
    counts.findLastIndex((count) => count > 0),
  );
  const from = DECADES.findLast((bar) => bar <= first) ?? 0;
  const to = DECADES.find((bar) => bar > last && bar >= from + LEAST_BARS) ?? BARS;
  return [from, to];
}

/** What both charts over time have in common. @param {Colours} colours @param {() => Picture | undefined} picture */
function overTime(colours, picture) {
  return {
    ...quietCursor(),
    ms: /** @type {1} */ (1),
    hooks: { drawClear: [(/** @type {Plot} */ plot) => shadeBreaks(plot, picture(), colours)] },
  };
}

/** Nothing to drag: the range is chosen, so that it can stand in the address. */
function quietCursor() {
  return { cursor: { drag: { x: false, y: false }, y: false }, padding: PADDING };
}

/** Times of which the page knows too little are shaded. @param {Plot} plot @param {Picture | undefined} picture @param {Colours} colours */
function shadeBreaks(plot, picture, colours) {
  if (!picture) return;
  const { from, to } = picture.axis;
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = colours.line;
  for (const one of picture.interruptions.within(from, to)) {
    const left = plot.valToPos(Math.max(from, one.from), "x", true);
    const right = plot.valToPos(Math.min(to, one.to ?? to), "x", true);
    ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
  }
  ctx.restore();
}

/** @param {Picture | undefined} picture @returns {[number, number]} */
function spanOf(picture) {
  return picture ? [picture.axis.from, picture.axis.to] : [0, 1];
}

/** @param {Plot} _ @param {number | null} _min @param {number | null} max @returns {[number, number]} */
function fromZero(_, _min, max) {
  return [0, max ? max * 1.1 : 1];
}

/** @param {Plot} _ @param {number | null} min @param {number | null} max @returns {[number, number]} whole decades */
function decades(_, min, max) {
  const low = 10 ** Math.floor(Math.log10(min || 1));
  return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(max || 1_000)))];
}

/** @param {Plot} _ @param {number} _axis @param {number} min @param {number} max */
function tensOf(_, _axis, min, max) {
  const first = Math.round(Math.log10(min));
  const count = Math.round(Math.log10(max)) - first + 1;
  return Array.from({ length: count }, (_power, i) => 10 ** (first + i));
}

/** Where there is little room, only every other one. @param {Plot} plot @param {number[]} ticks bars */
function tensWords({ width }, ticks) {
  return ticks.map((bar, i) => (width < NARROW_PX && i % 2 ? "" : barWords(bar)));
}

/** @param {Plot} _ @param {number[]} ticks */
function durations(_, ticks) {
  return ticks.map(shortDuration);
}

/** @param {Colours} colours @returns {Axis} */
function axis(colours) {
  const thin = { stroke: colours.line, width: 1 };
  return { stroke: colours.quiet, font: FONT, grid: thin, ticks: thin, size: 64 };
}

/** @param {Colours} colours @returns {Axis} */
function timeAxis(colours) {
  return {
    ...axis(colours),
    size: 36,
    space: 90,
    values: (plot, ticks) => {
      const { min, max } = plot.scales.x ?? {};
      const days = (max ?? 0) - (min ?? 0) > DAY_MS;
      return ticks.map((at) => {
        const time = new Date(at);
        return days ? time.toLocaleDateString() : time.toLocaleTimeString();
      });
    },
  };
}

/** @param {string} label @param {string} colour @param {-1 | 0 | 1} align @returns {Series} */
function barSeries(label, colour, align) {
  const paths = uPlot?.paths.bars?.({ size: [0.8, 60], align });
  const value = (/** @type {Plot} */ _, /** @type {number | null} */ at) =>
    at === null ? "" : rounded(at);
  return {
    label,
    stroke: colour,
    fill: colour,
    width: 0,
    points: { show: false },
    ...(paths && { paths }),
    value,
  };
}

/** @param {string} label @param {string} colour @param {number[]} dash a second sign beside the colour @returns {Series} */
function lineSeries(label, colour, dash) {
  const points = { show: true, size: 4, fill: colour };
  const value = (/** @type {Plot} */ _, /** @type {number | null} */ ms) =>
    ms === null ? "" : durationWords(ms);
  return { label, stroke: colour, width: 2, dash, points, value };
}

/** @param {number} value */
function rounded(value) {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

/** @param {number} bar */
function barWords(bar) {
  return shortDuration(barFrom(bar));
}
