/**
 * The tool contract in the browser: which declarations are admitted, and which arguments fit one.
 *
 * The relay enforces the same rules in its own language; the vectors of the project are run
 * through both. It runs no code of an app, depends on nothing and works in any JavaScript engine.
 */

import { LIMITS } from "../protocol/limits.js";
import { admitTool } from "./contract/declaration.js";
import { checkObject } from "./contract/explain.js";
import { byteSize, isRecord, sayNo, verdictOf } from "./contract/rules.js";
import { takeSnapshot } from "./contract/snapshot.js";

/** @typedef {import("./contract/rules.js").Verdict} Verdict */

/**
 * Checks a declaration; `value` is its normal form, a copy: {name, description, parameters}.
 * @param {unknown} tool @returns {Verdict}
 */
function checkTool(tool) {
  return verdictOf(() => admitTool(tool));
}

/**
 * Checks a call's arguments; `value` is a copy, and only that may run. null stands for {}.
 * @param {{[key: string]: any}} parameters an admitted schema @param {unknown} args
 * @returns {Verdict}
 */
function checkArguments(parameters, args) {
  return verdictOf(() => {
    const given = args === null ? {} : args;
    if (!isRecord(given)) return badArguments("the arguments are not an object");
    const copy = takeSnapshot(given);
    const most = LIMITS.argumentsMaxBytes;
    if (byteSize(JSON.stringify(copy)) > most) badArguments(`the arguments are over ${most} bytes`);
    checkObject(parameters, copy);
    return copy;
  });
}

/**
 * Reads a call's arguments from JSON text; `value` is any JSON value, not yet checked.
 * @param {string} text @returns {Verdict}
 */
function parseArguments(text) {
  return verdictOf(() => {
    try {
      return JSON.parse(text);
    } catch {
      return badArguments("the arguments are not valid JSON");
    }
  });
}

/** @param {string} why @returns {never} */
function badArguments(why) {
  return sayNo("invalid-tool-arguments", why);
}

export { checkArguments, checkTool, parseArguments };
