/** What a tool returned or threw, as JSON text or a refusal; decided here, not by a timeout. */

import { classOf, encode, stringify } from "./primitives.js";

/**
 * @typedef {{ok: true, json: string} | {ok: false, refused: string, why: string}} Outcome
 * @typedef {{toolOutputMaxBytes: number, whyMaxChars: number}} ResultLimits
 */

/** @param {unknown} error @param {ResultLimits} limits @returns {string} one bounded sentence */
export function wordsOf(error, { whyMaxChars }) {
  try {
    const words = error instanceof Error ? error.message : error;
    return `${words}`.slice(0, whyMaxChars) || "the tool failed";
  } catch {
    return "the tool failed"; // its message is a trap of the app's making
  }
}

/** @param {unknown} result @param {ResultLimits} limits @returns {Outcome} */
export function serialise(result, limits) {
  let json;
  try {
    const plain = result === undefined ? null : fromToolResult(result);
    json = stringify(plain, onlyData) ?? "null";
  } catch (error) {
    const failed = error instanceof ToolError;
    const refused = failed ? "mini-app-tool-failed" : "result-not-serialisable";
    return { ok: false, refused, why: wordsOf(error, limits) };
  }
  const { toolOutputMaxBytes } = limits;
  if (json.length > toolOutputMaxBytes || encode(json).length > toolOutputMaxBytes) {
    return { ok: false, refused: "output-over-budget", why: "output over budget (max 64KB)" };
  }
  return { ok: true, json };
}

/** A JSON replacer that refuses what JSON would lose. @param {string} _key @param {any} value */
function onlyData(_key, value) {
  const type = typeof value;
  if (type === "function" || type === "symbol" || type === "bigint") {
    throw new TypeError(`a result cannot hold a ${type}`);
  }
  if (type === "object" && value !== null) {
    const kind = classOf(value);
    if (kind !== "[object Object]" && kind !== "[object Array]" && !isBoxed(kind)) {
      throw new TypeError(`a result cannot hold ${kind.slice(8, -1)}`);
    }
  }
  return value;
}

/** @param {string} kind */
function isBoxed(kind) {
  return kind === "[object Number]" || kind === "[object String]" || kind === "[object Boolean]";
}

/** Unwraps the MCP shape {content, structuredContent?, isError?}. @param {any} result */
function fromToolResult(result) {
  if (result === null || typeof result !== "object" || !Array.isArray(result.content))
    return result;
  const { content, isError, structuredContent } = result;
  if (!content.every((/** @type {any} */ part) => typeof part?.type === "string")) return result;
  const words = content
    .map((/** @type {any} */ part) => (part.type === "text" ? String(part.text) : `[${part.type}]`))
    .join("\n");
  if (isError) throw new ToolError(words);
  return structuredContent ?? words;
}

/** A failure that the tool itself tells of, in the MCP shape. */
class ToolError extends Error {}
