/** A dialog over the page: Esc closes it, it goes, and the keyboard returns to where it was. */

import { button, element } from "./element.js";

let made = 0;

/**
 * @param {string} title @param {(string | Node)[]} content
 * @param {HTMLButtonElement[]} [buttons] beside Close
 */
export function openDialog(title, content, buttons = []) {
  const dialog = element("dialog", "dialog");
  const heading = element("h2", "", title);
  made += 1;
  heading.id = `dialog-title-${made}`;
  dialog.setAttribute("aria-labelledby", heading.id);
  const row = element("p", "row");
  row.append(
    ...buttons,
    button("Close", () => dialog.close()),
  );
  dialog.append(heading, ...content, row);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
