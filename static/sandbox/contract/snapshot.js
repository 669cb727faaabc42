/** The copy of a call's arguments that runs: plain JSON data within the bounds, or a refusal. */

import { LIMITS } from "../../protocol/limits.js";
import { ContractRefusal, FORBIDDEN_NAME, isWellFormed, sayNo } from "./rules.js";

/**
 * Copies plain data; objects of the copy have no prototype. Getters are never run.
 * @param {object} args
 */
export function takeSnapshot(args) {
  try {
    return copyOf(args, 0, { count: 0 });
  } catch (error) {
    if (error instanceof ContractRefusal) throw error;
    return notPlain("a value can't be read"); // whatever a trap of a proxy throws
  }
}

/** @param {any} value @param {number} depth @param {{count: number}} nodes @returns {any} */
function copyOf(value, depth, nodes) {
  nodes.count += 1;
  const { argumentsNodesMax, argumentsDepthMax } = LIMITS;
  if (nodes.count > argumentsNodesMax || depth > argumentsDepthMax) {
    const why = `the arguments are over ${argumentsNodesMax} values or ${argumentsDepthMax} levels`;
    sayNo("invalid-argument-bounds", why);
  }
  if (typeof value === "string") return wellFormed(value);
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value === "number")
    return Number.isFinite(value) ? value : notPlain("a number is not finite");
  if (Array.isArray(value)) return copyOfList(value, depth, nodes);
  if (typeof value === "object") return copyOfRecord(value, depth, nodes);
  return notPlain("a value is not plain JSON data");
}

/** @param {any[]} list @param {number} depth @param {{count: number}} nodes */
function copyOfList(list, depth, nodes) {
  if (Object.getPrototypeOf(list) !== Array.prototype) notPlain("a list is not a plain one");
  if (Reflect.ownKeys(list).length !== list.length + 1)
    // its entries, and "length"
    notPlain("a list has holes, or more than its entries");
  const copy = [];
  for (let index = 0; index < list.length; index += 1)
    copy.push(copyOf(entryOf(list, String(index)), depth + 1, nodes));
  return copy;
}

/** @param {object} record @param {number} depth @param {{count: number}} nodes */
function copyOfRecord(record, depth, nodes) {
  const prototype = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null)
    notPlain("an object is not a plain one");
  const copy = Object.create(null);
  for (const key of Reflect.ownKeys(record)) {
    if (typeof key !== "string") return notPlain("a name is not a text");
    if (key === FORBIDDEN_NAME) notPlain(`an argument must not be named ${FORBIDDEN_NAME}`);
    copy[wellFormed(key)] = copyOf(entryOf(record, key), depth + 1, nodes);
  }
  return copy;
}

/** @param {object} holder @param {string} key */
function entryOf(holder, key) {
  const property = Object.getOwnPropertyDescriptor(holder, key);
  if (property?.enumerable !== true || !Object.hasOwn(property, "value"))
    return notPlain("a value is hidden or computed");
  return property.value;
}

/** @param {string} text */
function wellFormed(text) {
  return isWellFormed(text) ? text : notPlain("a text holds half of a surrogate pair");
}

/** @param {string} why @returns {never} */
function notPlain(why) {
  return sayNo("invalid-argument", why);
}
