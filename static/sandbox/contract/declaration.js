/** A declaration of a tool: an object of a bounded size with a name and a description. */

import { LIMITS } from "../../protocol/limits.js";
import { admitParameters } from "./parameters.js";
import { byteSize, isRecord, isWellFormed, jsonOf, own, sayNo } from "./rules.js";

/**
 * Answers the normal form of a declaration: {name, description, parameters}, a copy.
 * @param {unknown} tool
 */
export function admitTool(tool) {
  const declared = copyOfTool(tool);
  return {
    name: nameIn(declared),
    description: descriptionIn(declared),
    parameters: admitParameters(schemaIn(declared)),
  };
}

/** @param {unknown} tool @returns {{[key: string]: any}} */
function copyOfTool(tool) {
  const code = "invalid-tool-declaration";
  if (!isRecord(tool)) return sayNo(code, "the tool is not an object");
  const text = jsonOf(tool) ?? sayNo(code, "the tool holds what JSON can't carry");
  const most = LIMITS.toolDeclarationMaxBytes;
  if (byteSize(text) > most) sayNo(code, `the tool is over ${most} bytes`);
  const copy = JSON.parse(text);
  if (!isRecord(copy)) return sayNo(code, "the tool is not an object");
  if (holdsLoneSurrogate(copy)) sayNo(code, "a text of the tool holds half of a surrogate pair");
  return copy;
}

/** @param {object} root JSON data */
function holdsLoneSurrogate(root) {
  const waiting = [/** @type {unknown} */ (root)];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string" && !isWellFormed(value)) return true;
    if (typeof value !== "object" || value === null) continue;
    for (const [key, inner] of Object.entries(value)) waiting.push(key, inner);
  }
  return false;
}

/** @param {unknown} text */
function trimmed(text) {
  return typeof text === "string" ? text.trim() : "";
}

/** @param {{[key: string]: any}} tool */
function nameIn(tool) {
  const name = trimmed(own(tool, "name"));
  const most = LIMITS.toolNameMaxChars;
  if (!/^[a-zA-Z0-9_-]+$/.test(name) || name.length > most)
    sayNo("invalid-tool-name", `a name is 1 to ${most} letters, digits, _ or -`);
  return name;
}

/** @param {{[key: string]: any}} tool */
function descriptionIn(tool) {
  const description = trimmed(own(tool, "description"));
  const most = LIMITS.toolDescriptionMaxUnits;
  if (description === "" || description.length > most)
    sayNo("invalid-tool-description", `a description is 1 to ${most} UTF-16 units`);
  return description;
}

/** @param {{[key: string]: any}} tool @returns {unknown} */
function schemaIn(tool) {
  return own(tool, "parameters") ?? own(tool, "inputSchema") ?? { type: "object" };
}
