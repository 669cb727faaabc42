/** What a person chose on this page, kept in the browser. */

const PREFIX = "voicebox.chosen.";

/** @param {string} name @returns {string | undefined} */
export function recall(name) {
  return localStorage.getItem(PREFIX + name) ?? undefined;
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  localStorage.setItem(PREFIX + name, value);
}
