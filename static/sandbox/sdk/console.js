/**
 * Tells the room what went wrong inside an app: `console.error`, `console.warn`, errors that
 * nobody caught. Only text, cut, a few lines in a second; the rest is counted. The browser's own
 * console shows everything as ever.
 */

import { LineBudget } from "../line-budget.js";
import { apply, classOf, listen, now, stringify } from "./primitives.js";

/**
 * @typedef {"error" | "warning" | "uncaught"} Level
 * @typedef {{appConsoleLinesPerSecondMax: number, appConsoleLineMaxChars: number}} ConsoleLimits
 */

/**
 * @param {(level: Level, text: string) => void} tell
 * @param {ConsoleLimits} limits
 * @param {number} linesBefore lines of the document before the app's first
 * @returns {() => number} how many lines were not told
 */
export function reportConsole(tell, limits, linesBefore) {
  const budget = new LineBudget(limits.appConsoleLinesPerSecondMax);

  /** Reads the values only if the line may pass. @param {Level} level @param {any[]} values @param {string} [place] */
  function say(level, values, place = "") {
    if (budget.admits(now())) {
      tell(level, `${lineOf(values, limits.appConsoleLineMaxChars)}${place}`);
    }
  }

  hear("error", (values) => say("error", values));
  hear("warn", (values) => say("warning", values));
  listen(window, "error", (/** @type {ErrorEvent} */ { error, message, lineno }) => {
    if (isRefusal(error)) return;
    const place = lineno > linesBefore ? ` (line ${lineno - linesBefore})` : "";
    say("uncaught", error === null || error === undefined ? [message] : [error], place);
  });
  listen(window, "unhandledrejection", (/** @type {PromiseRejectionEvent} */ { reason }) => {
    if (!isRefusal(reason)) say("uncaught", [reason]);
  });
  return () => budget.silenced;
}

/** @param {"error" | "warn"} method @param {(values: any[]) => void} tell */
function hear(method, tell) {
  const { console: own } = window;
  const original = own[method];
  own[method] = (...values) => {
    apply(original, own, values);
    tell(values);
  };
}

/** The room knows its refusals. @param {any} error */
function isRefusal(error) {
  try {
    return typeof error?.refused === "string";
  } catch {
    return false; // a trap of the app's making
  }
}

/** @param {any[]} values @param {number} charsMax */
function lineOf(values, charsMax) {
  let line = "";
  for (let i = 0; i < values.length && line.length < charsMax; i += 1) {
    line += `${i > 0 ? " " : ""}${wordsOfAny(values[i])}`;
  }
  return line.slice(0, charsMax);
}

/** @param {any} value @returns {string} */
function wordsOfAny(value) {
  try {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (typeof value !== "object" || value === null) return String(value);
    const kind = classOf(value);
    const plain = kind === "[object Object]" || kind === "[object Array]";
    return plain ? String(stringify(value)) : kind;
  } catch {
    return "[unreadable]"; // a cycle, or a trap of the app's making
  }
}
