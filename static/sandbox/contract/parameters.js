/** Which parameter schemas are admitted: the subset of JSON Schema that can be enforced. */

import { LIMITS } from "../../protocol/limits.js";
import { codePoints, FORBIDDEN_NAME, isOfType, isRecord, own, quoted, sayNo } from "./rules.js";

/** @typedef {{[key: string]: any}} Schema */

const OBJECT_KEYWORDS = ["type", "properties", "required", "additionalProperties"];
const NUMBER_KEYWORDS = ["type", "description", "maximum", "minimum", "enum"];
const ITEM_KEYWORDS = ["type", "description", "enum"];
const ITEM_TYPES = ["string", "number", "integer", "boolean"];
const KEYWORDS = new Map([
  ["string", ["type", "description", "maxLength", "minLength", "enum"]],
  ["number", NUMBER_KEYWORDS],
  ["integer", NUMBER_KEYWORDS],
  ["boolean", ["type", "description"]],
  ["array", ["type", "description", "items"]],
  ["object", [...OBJECT_KEYWORDS, "description"]],
]);

/**
 * Checks a parameter schema and answers its normal form, which shares what it holds.
 * @param {unknown} schema JSON data @returns {Schema}
 */
export function admitParameters(schema) {
  if (!isRecord(schema) || own(schema, "type") !== "object")
    return badSchema("the parameters must be an object schema, with type object");
  admitKeywords(schema, OBJECT_KEYWORDS, "the parameters");
  admitObject(schema, "the parameters", 0, { count: 0 });
  /** @type {Schema} */
  const normal = { type: "object", properties: own(schema, "properties") ?? {} };
  if (own(schema, "required")?.length > 0) normal.required = schema.required;
  if (own(schema, "additionalProperties") === false) normal.additionalProperties = false;
  return normal;
}

/** @param {string} why @returns {never} */
function badSchema(why) {
  return sayNo("invalid-tool-parameters", why);
}

/** @param {Schema} schema @param {string[]} allowed @param {string} where */
function admitKeywords(schema, allowed, where) {
  for (const key of Object.keys(schema))
    if (!allowed.includes(key)) badSchema(`${quoted(key)} is not supported in ${where}`);
  if (!Object.hasOwn(schema, "description")) return;
  const most = LIMITS.toolDescriptionMaxUnits;
  if (typeof schema.description !== "string" || schema.description.length > most)
    badSchema(`the description of ${where} must be a text of at most ${most} UTF-16 units`);
}

/**
 * @param {Schema} schema @param {string} where @param {number} depth 0 for the parameters
 * @param {{count: number}} nodes
 */
function admitObject(schema, where, depth, nodes) {
  const closed = own(schema, "additionalProperties");
  if (Object.hasOwn(schema, "additionalProperties") && typeof closed !== "boolean")
    badSchema(`additionalProperties of ${where} must be true or false`);
  if (Object.hasOwn(schema, "properties")) {
    const properties = schema.properties;
    if (!isRecord(properties) || Object.hasOwn(properties, FORBIDDEN_NAME))
      return badSchema(`properties of ${where} must be an object without ${FORBIDDEN_NAME}`);
    for (const [name, inner] of Object.entries(properties))
      admitProperty(inner, `property ${quoted(name)}`, depth + 1, nodes);
  }
  if (Object.hasOwn(schema, "required")) admitRequired(schema, where);
}

/** @param {Schema} schema @param {string} where */
function admitRequired(schema, where) {
  const names = schema.required;
  const isName = (/** @type {unknown} */ name) =>
    typeof name === "string" && name !== "" && name !== FORBIDDEN_NAME;
  if (!Array.isArray(names) || !names.every(isName))
    return badSchema(`required of ${where} must be a list of names, without ${FORBIDDEN_NAME}`);
  if (own(schema, "additionalProperties") !== false) return;
  const declared = own(schema, "properties") ?? {};
  for (const name of names)
    if (!Object.hasOwn(declared, name))
      badSchema(`${where} requires ${quoted(name)} and forbids it`);
}

/**
 * @param {unknown} schema @param {string} where @param {number} depth 1 for a parameter
 * @param {{count: number}} nodes
 */
function admitProperty(schema, where, depth, nodes) {
  nodes.count += 1;
  const { schemaDepthMax, schemaNodesMax } = LIMITS;
  if (depth > schemaDepthMax || nodes.count > schemaNodesMax)
    badSchema(`the parameters are over ${schemaDepthMax} levels or ${schemaNodesMax} properties`);
  if (!isRecord(schema)) return badSchema(`${where} must be a schema object`);
  const allowed = KEYWORDS.get(own(schema, "type"));
  if (!allowed)
    return badSchema(`the type of ${where} must be one of ${[...KEYWORDS.keys()].join(", ")}`);
  admitKeywords(schema, allowed, where);
  if (schema.type === "object") admitObject(schema, where, depth, nodes);
  else if (schema.type !== "array") admitScalar(schema, where);
  else if (Object.hasOwn(schema, "items")) admitItems(schema.items, `items of ${where}`);
}

/** @param {unknown} items @param {string} where */
function admitItems(items, where) {
  if (!isRecord(items)) return badSchema(`${where} must be a schema object`);
  if (!ITEM_TYPES.includes(own(items, "type")))
    badSchema(`the type of ${where} must be one of ${ITEM_TYPES.join(", ")}`);
  admitKeywords(items, ITEM_KEYWORDS, where);
  admitScalar(items, where);
}

/** @param {Schema} schema @param {string} where */
function admitScalar(schema, where) {
  const isText = schema.type === "string";
  const [low, high] = isText ? ["minLength", "maxLength"] : ["minimum", "maximum"];
  for (const bound of [low, high])
    if (Object.hasOwn(schema, bound))
      admitBound(schema[bound], schema.type, `${bound} of ${where}`);
  const least = own(schema, low) ?? Number.NEGATIVE_INFINITY;
  const most = own(schema, high) ?? Number.POSITIVE_INFINITY;
  if (least > most) badSchema(`${low} of ${where} is over its ${high}`);
  if (!Object.hasOwn(schema, "enum")) return;
  const members = schema.enum;
  if (!Array.isArray(members) || members.length === 0)
    return badSchema(`enum of ${where} must be a list of at least one value`);
  if (!members.every((member) => isOfType(schema.type, member)))
    badSchema(`enum of ${where} must hold only values of type ${schema.type}`);
  const measures = isText ? members.map(codePoints) : members;
  if (schema.type !== "boolean" && !measures.some((size) => size >= least && size <= most))
    badSchema(`no value in enum of ${where} is within its bounds`);
}

/** @param {unknown} bound @param {string} type @param {string} what */
function admitBound(bound, type, what) {
  if (!Number.isFinite(bound)) badSchema(`${what} must be a number`);
  if (type !== "number" && !Number.isInteger(bound)) badSchema(`${what} must be a whole number`);
  if (type === "string" && Number(bound) < 0) badSchema(`${what} must not be negative`);
}
