/** Short notices: shown for a while, kept in a list. */

import { button, element } from "./element.js";

const SHOWN_MS = 8_000;
const KEPT_MAX = 100;

/** @typedef {{label: string, run: () => void}} ToastAction */

export class Toasts {
  #shown;
  #kept;
  #count;

  /** @param {HTMLElement} shown @param {HTMLElement} kept the list @param {HTMLElement} count */
  constructor(shown, kept, count) {
    this.#shown = shown;
    this.#kept = kept;
    this.#count = count;
  }

  /** @param {string} text @param {ToastAction} [action] */
  tell(text, action) {
    this.#add(text, "status", action);
  }

  /**
   * @param {string} text cause and remedy @param {ToastAction} [action]
   * @returns {() => void} takes it from the screen, once it holds no more; the list keeps it
   */
  warn(text, action) {
    return this.#add(text, "alert", action);
  }

  /** @param {string} text @param {"status" | "alert"} role @param {ToastAction} [action] */
  #add(text, role, action) {
    const last = this.#shown.lastElementChild;
    if (last?.getAttribute("data-text") === text) return () => last.remove();
    const toast = element("div", `toast toast-${role}`);
    toast.dataset.text = text;
    toast.setAttribute("role", role);
    toast.append(element("p", "toast-text", text));
    if (action) toast.append(actionButton(action, toast));
    toast.append(closeButton(toast));
    this.#shown.append(toast);
    if (!action) setTimeout(() => toast.remove(), SHOWN_MS);
    this.#keep(text, role);
    return () => toast.remove();
  }

  /** @param {string} text @param {string} role */
  #keep(text, role) {
    const item = element("li", `kept kept-${role}`);
    const time = new Date();
    const stamp = element("time", "kept-time", time.toLocaleTimeString());
    stamp.dateTime = time.toISOString();
    item.append(stamp, " ", text);
    this.#kept.prepend(item);
    while (this.#kept.childElementCount > KEPT_MAX) this.#kept.lastElementChild?.remove();
    this.#count.textContent = String(this.#kept.childElementCount);
  }
}

/** @param {ToastAction} action @param {HTMLElement} toast */
function actionButton({ label, run }, toast) {
  const press = () => {
    run();
    toast.remove();
  };
  return button(label, press, "quiet");
}

/** @param {HTMLElement} toast */
function closeButton(toast) {
  const close = button("×", () => toast.remove(), "icon");
  close.setAttribute("aria-label", "Dismiss");
  return close;
}
