/** The conformance vectors of the tool contract, and how their answers are compared. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expand } from "../vectors/expand.mjs";

const FOLDER = process.env.TOOL_VECTORS || fileURLToPath(new URL("../vectors", import.meta.url));

/** All vectors of one file, expanded. @param {string} name */
export function readVectors(name) {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")).vectors.map(expand);
}

/** Equal as JSON data: key order does not matter, 0 and -0 are one number. */
export function same(one, other) {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]))
  );
}

/** A verdict without its sentence, against what a vector expects. */
export function agrees(verdict, expected) {
  const { why, ...told } = verdict;
  if (told.ok !== true && typeof why !== "string") return false;
  const { refused } = expected;
  return Array.isArray(refused) ? refused.includes(told.refused) : same(told, expected);
}
