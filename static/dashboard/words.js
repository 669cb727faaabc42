/** What the dashboard says in words: durations, rates, times, what a view holds; pure. */

import { RANGES } from "./view.js";

/** @typedef {import("./board.js").Picture} Picture */

const SECOND_MS = 1_000;
const BREAKS_TOLD = 3;

/** `0.1 ms`, `20 ms`, `1 s`. @param {number | null} ms */
export function shortDuration(ms) {
  if (ms === null) return "";
  const [value, unit] = ms < SECOND_MS ? [ms, "ms"] : [ms / SECOND_MS, "s"];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

/** @param {number} from @param {number} to milliseconds */
export function barName(from, to) {
  if (!Number.isFinite(to)) return `${shortDuration(from)} and more`;
  return from ? `${shortDuration(from)} to ${shortDuration(to)}` : `below ${shortDuration(to)}`;
}

/** @param {number} calls @param {number} seconds */
export function perSecond(calls, seconds) {
  const rate = calls / Math.max(1, seconds);
  return rate > 0 && rate < 0.01 ? "<0.01" : rate.toFixed(2);
}

/** @param {number} at Unix ms */
export function timeOf(at) {
  return new Date(at).toLocaleTimeString();
}

/** What the view holds, in a sentence. @param {Picture} picture */
export function headline({ summary: { total, bins }, axis, range }) {
  const when = RANGES[range].words;
  if (total.calls === 0) return `No call ${when}.`;
  const most = Math.max(...bins.map(({ calls }) => calls)) / (axis.binMs / SECOND_MS);
  const calls = total.calls === 1 ? "1 call" : `${total.calls} calls`;
  return `${calls} ${when}, ${total.refused} of them refused; at most ${most.toFixed(1)} a second.`;
}

/** Why there is nothing to see. @param {Picture} picture */
export function emptiness({ ring, range }) {
  if (ring.size === 0) return "No call yet. Each call of a tool in this room will be counted here.";
  const calls = ring.size === 1 ? "1 call is" : `${ring.size} calls are`;
  const when = range === "all" ? "" : ` ${RANGES[range].words}`;
  return `No call${when} that matches; ${calls} known in all.`;
}

/** Of what this page knows too little; empty when it knows all. @param {import("./interruptions.js").Interruptions} interruptions */
export function interruptionWords({ breaks, lost }) {
  const told = breaks.slice(-BREAKS_TOLD).map(({ from, to }) => {
    const until = to === undefined ? "until now" : `to ${timeOf(to)}`;
    return `Not connected from ${timeOf(from)} ${until}.`;
  });
  if (breaks.length) told.push("Calls of that time are counted only where the relay kept them.");
  if (lost) told.push(`${lost} frames came too fast for this page and are not counted.`);
  return told.join(" ");
}
