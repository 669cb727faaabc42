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

/** Whether the text holds each word of the filter. @param {string} text @param {string} filter */
export function matches(text, filter) {
  const found = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word));
}
