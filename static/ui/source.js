/** An app's HTML as text, to look at and to copy; nothing of it runs here. */

import { openDialog } from "./dialog.js";
import { button, element } from "./element.js";
import { copyText } from "./take-along.js";

const SHOWN_MAX_CHARS = 200_000;
const COPIED = "The source is in the clipboard.";
const NOT_COPIED = "The browser does not let this page copy. Select the text instead.";

/** @param {string} title @param {string} html */
export function openSource(title, html) {
  const words = element("p", "empty", sizeOf(html));
  words.setAttribute("role", "status");
  const text = element("pre", "source", html.slice(0, SHOWN_MAX_CHARS));
  text.tabIndex = 0; // it scrolls, so the keyboard must reach it
  text.setAttribute("role", "region");
  text.setAttribute("aria-label", `HTML of ${title}`);
  const copy = button("Copy", async () => {
    words.textContent = (await copyText(html)) ? COPIED : NOT_COPIED;
  });
  openDialog(`Source of ${title}`, [words, text], [copy]).classList.add("dialog-wide");
}

/** @param {string} html */
function sizeOf(html) {
  const lines = html.split("\n").length;
  const whole = `${lines} lines, ${html.length} characters.`;
  if (html.length <= SHOWN_MAX_CHARS) return whole;
  return `${whole} The first ${SHOWN_MAX_CHARS} are shown; Copy takes them all.`;
}
