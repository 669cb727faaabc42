/**
 * The dialog of shortcuts, and the single keys themselves: never in a text field, and off where
 * the person says so, since a voice or a cat may type them.
 */

import { recall, remember } from "../connection/preferences.js";
import { hasModifier, takesText } from "./held-key.js";

/**
 * @param {HTMLDialogElement} dialog @param {HTMLButtonElement} opener
 * @param {HTMLInputElement} allowed the checkbox that turns single keys on
 * @param {Record<string, () => void>} keys what else a key does
 */
export function offerShortcuts(dialog, opener, allowed, keys) {
  const open = () => {
    if (!dialog.open) dialog.showModal();
  };
  opener.addEventListener("click", open);
  allowed.checked = recall("keys") !== "no";
  allowed.addEventListener("change", () => remember("keys", allowed.checked ? "yes" : "no"));
  document.addEventListener("keydown", (event) => {
    if (!allowed.checked || dialog.open || event.repeat || hasModifier(event)) return;
    const run = event.key === "?" ? open : keys[event.key.toLowerCase()];
    if (!run || takesText(event.target)) return;
    event.preventDefault();
    run();
  });
}
