/** The walk over a copy of arguments, in the order of the contract, to the first rule that says no. */

import { codePoints, isOfType, own, quoted, sayNo } from "./rules.js";

/** @typedef {{[key: string]: any}} Schema an admitted one */

/** Members of each enum that was met, for lists with many entries. @type {WeakMap<any[], Set<any>>} */
const MEMBERS = new WeakMap();

/** @param {Schema} schema @param {{[key: string]: any}} value @param {string} [path] */
export function checkObject(schema, value, path) {
  const within = (/** @type {string} */ name) => (path ? `${path}.${name}` : name);
  for (const name of own(schema, "required") ?? [])
    if (own(value, name) == null) sayNo("missing-argument", `${quoted(within(name))} is required`);
  const declared = own(schema, "properties") ?? {};
  if (own(schema, "additionalProperties") === false)
    for (const name of Object.keys(value))
      if (!Object.hasOwn(declared, name))
        sayNo("invalid-argument", `${quoted(within(name))} is not an argument`);
  for (const name of Object.keys(value))
    if (Object.hasOwn(declared, name)) checkValue(declared[name], value[name], within(name));
}

/** @param {Schema} schema @param {any} value @param {string} path */
function checkValue(schema, value, path) {
  const type = schema.type;
  if (!isOfType(type, value))
    sayNo("invalid-argument-type", `${quoted(path)} must be of type ${type}`);
  if (type === "string") checkText(schema, value, path);
  else if (type === "object") checkObject(schema, value, path);
  else if (type !== "array") checkNumber(schema, value, path);
  else if (Object.hasOwn(schema, "items"))
    for (const item of value) checkValue(schema.items, item, path);
  if (Object.hasOwn(schema, "enum")) checkMember(schema.enum, value, path);
}

/** @param {Schema} schema @param {string} text @param {string} path */
function checkText(schema, text, path) {
  const [least, most] = [own(schema, "minLength"), own(schema, "maxLength")];
  if (least === undefined && most === undefined) return;
  const length = codePoints(text);
  const code = "invalid-argument-length";
  if (length > most) sayNo(code, `${quoted(path)} must be at most ${most} characters`);
  if (length < least) sayNo(code, `${quoted(path)} must be at least ${least} characters`);
}

/** @param {Schema} schema @param {any} number also a boolean, which has no bounds @param {string} path */
function checkNumber(schema, number, path) {
  const [least, most] = [own(schema, "minimum"), own(schema, "maximum")];
  const code = "invalid-argument-range";
  if (number > most) sayNo(code, `${quoted(path)} must be at most ${most}`);
  if (number < least) sayNo(code, `${quoted(path)} must be at least ${least}`);
}

/** @param {any[]} members @param {unknown} value @param {string} path */
function checkMember(members, value, path) {
  const known = MEMBERS.get(members) ?? new Set(members);
  MEMBERS.set(members, known);
  if (known.has(value)) return;
  const shown = members.slice(0, 8).map(quoted).join(", ");
  const more = members.length > 8 ? ", …" : "";
  sayNo("invalid-argument-enum", `${quoted(path)} must be one of ${shown}${more}`);
}
