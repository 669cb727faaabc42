/** What a person typed into a field, as the value that the tool's schema asks for. */

/** @typedef {{type?: string, description?: string, enum?: unknown[]}} Property */

/**
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
