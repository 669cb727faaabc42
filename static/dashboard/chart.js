/**
 * A chart of the vendored library in its place on the page: as wide as the place, in the page's
 * colours, made anew when those change. Where the library did not load the place stays empty; what
 * it would show stands in tables as well.
 */

/**
 * @typedef {typeof import("../vendor/uplot/uPlot.d.ts")} Library
 * @typedef {import("../vendor/uplot/uPlot.d.ts")} Plot
 * @typedef {import("../vendor/uplot/uPlot.d.ts").Options} Options
 * @typedef {import("../vendor/uplot/uPlot.d.ts").AlignedData} Data
 * @typedef {Record<"ink" | "quiet" | "line" | "card" | "sunken" | "accent" | "good" | "warn" | "bad", string>} Colours
 */

/** A classic script has put it there. @type {Library | undefined} */
export const uPlot = Reflect.get(globalThis, "uPlot");

/** @type {readonly (keyof Colours)[]} */
const COLOURS = ["ink", "quiet", "line", "card", "sunken", "accent", "good", "warn", "bad"];
const HEIGHT_PX = 220;
const DARK = matchMedia("(prefers-color-scheme: dark)");

export class Chart {
  #place;
  #options;
  /** @type {Plot | undefined} */
  #plot;
  /** @type {Data | undefined} */
  #data;

  /** @param {HTMLElement} place @param {(colours: Colours) => Omit<Options, "width" | "height">} options */
  constructor(place, options) {
    this.#place = place;
    this.#options = options;
    new ResizeObserver(() => this.#fit()).observe(place);
    DARK.addEventListener("change", () => this.#makeAnew());
  }

  /** @param {Data} data one list for x, then one for each series */
  draw(data) {
    this.#data = data;
    if (this.#plot) this.#plot.setData(data);
    else this.#makeAnew();
  }

  #fit() {
    if (this.#plot) this.#plot.setSize(this.#size);
    else this.#makeAnew();
  }

  #makeAnew() {
    this.#plot?.destroy();
    this.#plot = undefined;
    if (!uPlot || !this.#data || !this.#place.clientWidth) return;
    const options = { ...this.#options(coloursHere()), ...this.#size };
    this.#plot = new uPlot(options, this.#data, this.#place);
  }

  get #size() {
    return { width: this.#place.clientWidth, height: HEIGHT_PX };
  }
}

/** @returns {Colours} */
function coloursHere() {
  const style = getComputedStyle(document.documentElement);
  const found = COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(found);
}
