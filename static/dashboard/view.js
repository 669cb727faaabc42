/** What part of the calls is looked at: made from an address and put back into it; pure. */

/**
 * @typedef {"1m" | "5m" | "15m" | "1h" | "all"} Range
 * @typedef {{range: Range, tool: string, host: string, outcome: string, words: string}} View
 *   an empty text leaves every call in; `outcome` is `ok`, `refused` or a refusal's code
 */

/** @type {Record<Range, {ms: number, words: string}>} */
export const RANGES = {
  "1m": { ms: 60_000, words: "in the last minute" },
  "5m": { ms: 300_000, words: "in the last 5 minutes" },
  "15m": { ms: 900_000, words: "in the last 15 minutes" },
  "1h": { ms: 3_600_000, words: "in the last hour" },
  all: { ms: Number.POSITIVE_INFINITY, words: "since this page was opened, and shortly before" },
};
/** @type {Range} */
const USUAL = "5m";
const TEXT_MAX_CHARS = 200;

/** @param {URLSearchParams} query @returns {View} what is no range is the usual one */
export function viewOf(query) {
  const range = query.get("range") ?? "";
  const text = (/** @type {string} */ name) => (query.get(name) ?? "").slice(0, TEXT_MAX_CHARS);
  return {
    range: isRange(range) ? range : USUAL,
    tool: text("tool"),
    host: text("host"),
    outcome: text("outcome"),
    words: text("filter"),
  };
}

/** The address that shows this view; what is usual is left out, what is not ours stays. @param {View} view @param {string} address */
export function addressOf({ range, tool, host, outcome, words }, address) {
  const url = new URL(address);
  const told = { range: range === USUAL ? "" : range, tool, host, outcome, filter: words };
  for (const [name, value] of Object.entries(told)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url.href;
}

/** @param {string} text @returns {text is Range} */
export function isRange(text) {
  return Object.hasOwn(RANGES, text);
}
