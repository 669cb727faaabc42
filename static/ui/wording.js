/** How values are said and searched: durations with their unit, words in any order. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** `4.2 ms`, `1.25 s`, `2 min 5 s`. @param {number} ms */
export function durationWords(ms) {
  if (ms < SECOND_MS) return `${ms.toFixed(1)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(2)} s`;
  const seconds = Math.round(ms / SECOND_MS);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `just now`, `40 s ago`, `3 min ago`, `2 h ago`. @param {number} ms */
export function ageWords(ms) {
  if (ms < 10 * SECOND_MS) return "just now";
  if (ms < MINUTE_MS) return `${10 * Math.floor(ms / (10 * SECOND_MS))} s ago`;
  if (ms < 60 * MINUTE_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  return `${Math.floor(ms / (60 * MINUTE_MS))} h ago`;
}

/** Whether the text holds each word of the filter. @param {string} text @param {string} filter */
export function matches(text, filter) {
  const found = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word));
}
