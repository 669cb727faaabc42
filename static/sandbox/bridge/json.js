/** JSON text from an app, which may hold anything. */

/** @param {unknown} text JSON text, or a value that is JSON already @returns {unknown} */
export function fromJson(text) {
  try {
    return JSON.parse(typeof text === "string" ? text : JSON.stringify(text));
  } catch {
    return undefined; // not JSON: the contract refuses undefined by its own code
  }
}

/** @param {string} text */
export function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} text */
export function utf8Length(text) {
  return new TextEncoder().encode(text).length;
}
