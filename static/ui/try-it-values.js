/** Between the arguments of a tool and the fields of its form. */

/** @typedef {{type?: string, description?: string, enum?: unknown[]}} Property */

/**
 * What a person typed into a field, as the value that the tool's schema asks for.
 * Throws: Error, with a sentence, where the text is no such value.
 * @param {string} key @param {Property} property @param {string} text
 * @returns {unknown}
 */
export function typedValue(key, { type, enum: values }, text) {
  if (values) return values.find((value) => String(value) === text) ?? text;
  if (type === undefined || type === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${key} must be JSON of the type ${type}.`);
  }
}

/** A value as the text that a person would have typed for it. @param {unknown} value */
export function textOf(value) {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The arguments that no field stands for. @param {unknown} args @param {object} properties @returns {Record<string, unknown>} */
export function otherArguments(args, properties) {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return {};
  const others = Object.entries(args).filter(([key]) => !Object.hasOwn(properties, key));
  return Object.fromEntries(others);
}
