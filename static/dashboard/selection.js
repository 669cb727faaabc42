/** Which calls of a ring a view shows. */

import { matches } from "../ui/wording.js";
import { toolOf } from "./call-ring.js";
import { RANGES } from "./view.js";

/**
 * @typedef {import("./call-ring.js").CallRing} CallRing
 * @typedef {import("./view.js").View} View
 */

/** @param {CallRing} ring @param {View} view @param {number} now Unix time in ms @returns {(slot: number) => boolean} */
export function shownBy(ring, view, now) {
  const since = now - RANGES[view.range].ms;
  const tools = Uint8Array.from(ring.tools.all(), (text) => Number(toolShown(text, view)));
  const codes = Uint8Array.from(ring.codes.all(), (code) => Number(codeShown(code, view.outcome)));
  const words = wordsShown(ring, view.words);
  return (slot) =>
    (ring.at[slot] ?? 0) >= since &&
    tools[ring.tool[slot] ?? 0] === 1 &&
    codes[ring.code[slot] ?? 0] === 1 &&
    words(slot);
}

/** @param {string} text @param {View} view */
function toolShown(text, view) {
  const { name, host } = toolOf(text);
  return (!view.tool || view.tool === name) && (!view.host || view.host === host);
}

/** @param {string} code @param {string} outcome */
function codeShown(code, outcome) {
  if (outcome === "ok") return code === "";
  if (outcome === "refused") return code !== "";
  return !outcome || outcome === code;
}

/** Each pair of a tool and a code is compared once, however many calls have it. @param {CallRing} ring @param {string} words @returns {(slot: number) => boolean} */
function wordsShown(ring, words) {
  if (!words.trim()) return () => true;
  const width = ring.codes.size;
  const known = new Map();
  return (slot) => {
    const pair = (ring.tool[slot] ?? 0) * width + (ring.code[slot] ?? 0);
    let shown = known.get(pair);
    if (shown === undefined) {
      const { name, host, code } = ring.call(slot);
      shown = matches(`${name} ${host} ${code}`, words);
      known.set(pair, shown);
    }
    return shown;
  };
}
