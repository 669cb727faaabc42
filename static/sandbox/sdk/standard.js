/** From the standard's wider names and schemas to the room's. */

import { parse, stringify } from "./primitives.js";

const NAME_MAX = 64;
const ANNOTATIONS = ["$schema", "$id", "$comment", "title", "examples"];

/** Models know no dots and 64 characters at most. @param {string} name @param {Iterable<string>} taken */
export function exposedName(name, taken) {
  const base = name.replaceAll(".", "_").slice(0, NAME_MAX);
  const used = new Set(taken);
  let exposed = base;
  for (let count = 2; used.has(exposed); count += 1) exposed = `${base.slice(0, 60)}_${count}`;
  return exposed;
}

/** The schema without pure annotations, which assert nothing. @param {any} schema @returns {any} */
export function plainSchema(schema) {
  if (schema === undefined || schema === null || typeof schema !== "object") return schema;
  const plain = copyOf(schema);
  dropAnnotations(plain);
  if (plain && typeof plain === "object") plain.type ??= "object";
  return plain;
}

/** A copy through JSON, or the schema itself where it has none: the contract refuses that. @param {any} schema */
function copyOf(schema) {
  try {
    return parse(stringify(schema)) ?? {};
  } catch {
    return schema;
  }
}

/** @param {any} schema */
function dropAnnotations(schema) {
  if (schema === null || typeof schema !== "object" || Array.isArray(schema)) return;
  for (const key of ANNOTATIONS) delete schema[key];
  if (schema.items) dropAnnotations(schema.items);
  for (const property of Object.values(schema.properties ?? {})) dropAnnotations(property);
}
