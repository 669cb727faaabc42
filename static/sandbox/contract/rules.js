/** What every part of the contract needs: how a rule says no, and how values are measured. */

/** @typedef {{ok: true, value: any} | {ok: false, refused: string, why: string}} Verdict */

export const FORBIDDEN_NAME = "__proto__";
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A rule said no: a code of the protocol, and one sentence. */
export class ContractRefusal {
  /** @param {string} code @param {string} why */
  constructor(code, why) {
    this.code = code;
    this.why = why;
  }
}

/** @param {string} code @param {string} why @returns {never} */
export function sayNo(code, why) {
  throw new ContractRefusal(code, why);
}

/** @param {() => any} check @returns {Verdict} */
export function verdictOf(check) {
  try {
    return { ok: true, value: check() };
  } catch (error) {
    if (!(error instanceof ContractRefusal)) throw error;
    return { ok: false, refused: error.code, why: error.why };
  }
}

/** @param {any} object @param {string} key own properties only: nothing is inherited */
export function own(object, key) {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** @param {unknown} value @returns {value is {[key: string]: any}} */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {unknown} value a value from outside, cut and escaped for a sentence */
export function quoted(value) {
  return JSON.stringify(typeof value === "string" ? value.slice(-40) : value);
}

/** @param {string} text in UTF-8 */
export function byteSize(text) {
  return new TextEncoder().encode(text).length;
}

/** @param {string} text well formed */
export function codePoints(text) {
  return text.length - (text.match(/[\ud800-\udbff]/g)?.length ?? 0);
}

/** @param {string} text */
export function isWellFormed(text) {
  return !LONE_SURROGATE.test(text);
}

/** @param {object} value @returns {string | undefined} undefined: it can't be written */
export function jsonOf(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** @type {{[type: string]: (value: unknown) => boolean}} */
const IS_OF = {
  string: (value) => typeof value === "string",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  array: (value) => Array.isArray(value),
  object: isRecord,
};

/** @param {string} type of a schema @param {unknown} value plain JSON data */
export function isOfType(type, value) {
  return /** @type {(value: unknown) => boolean} */ (IS_OF[type])(value);
}
