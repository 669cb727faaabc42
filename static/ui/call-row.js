/** One call of a tool as a row: what it was, what came of it, and what can be done about it. */

import { button, element } from "./element.js";
import { durationWords } from "./wording.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {{args?: unknown, cancel?: () => void}} Known what this page knows of a call: its
 *   arguments, and how to end it where it runs here
 */

const OUTPUT_SHOWN_CHARS = 200;
const ARGS_SHOWN_CHARS = 160;

export class CallRow {
  #name;
  #again;
  #args = element("code", "log-args");
  #outcome = element("span", "log-outcome", "running…");
  #ms = element("span", "log-ms");
  #actions = element("span", "log-actions");
  #head;
  /** @type {Known} */
  #known = {};

  /**
   * @param {ToolFrame} frame its first @param {string} app whose tool it is
   * @param {(call: {name: string, args: unknown}) => void} [again]
   */
  constructor({ callId, name, at }, app, again) {
    this.#name = name;
    this.#again = again;
    const row = element("li", "log-row");
    row.dataset.callId = callId;
    row.dataset.tool = name;
    row.dataset.state = "running";
    const time = element("time", "log-time", (at ? new Date(at) : new Date()).toLocaleTimeString());
    this.#head = [time, element("span", "log-app", app), element("code", "log-tool", name)];
    const what = element("span", "log-what");
    what.append(this.#args, this.#outcome);
    this.#actions.setAttribute("aria-live", "off"); // the row is told, not its buttons
    row.append(...this.#head, what, this.#actions, this.#ms);
    this.element = row;
  }

  get running() {
    return this.element.dataset.state === "running";
  }

  /** What a filter looks into: all but the buttons. */
  get text() {
    const parts = [...this.#head, this.#args, this.#outcome, this.#ms];
    return parts.map(({ textContent }) => textContent).join(" ");
  }

  /** @param {Known} known */
  know(known) {
    Object.assign(this.#known, known);
    if (known.args !== undefined) this.#args.textContent = cut(json(known.args), ARGS_SHOWN_CHARS);
    if (known.cancel && this.running) this.#offerCancel(known.cancel);
  }

  /** Only the first outcome counts. @param {ToolFrame} frame in state `done` */
  finish({ ok, output = "done", refused = "", why = "refused", durationMs }) {
    if (!this.running) return;
    this.element.dataset.state = ok ? "ok" : "refused";
    if (ok) this.#outcome.textContent = cut(output, OUTPUT_SHOWN_CHARS);
    else this.#outcome.replaceChildren(`Refused: ${why} `, element("code", "log-code", refused));
    if (durationMs !== undefined) this.#ms.textContent = durationWords(durationMs);
    this.#offerAgain();
  }

  /** @param {() => void} cancel */
  #offerCancel(cancel) {
    const made = this.#button("Cancel", () => {
      made.setAttribute("aria-disabled", "true"); // so that it keeps the keyboard
      cancel();
    });
    this.#offer(made);
  }

  #offerAgain() {
    const again = this.#again;
    if (!again) return;
    this.#offer(
      this.#button("Run again", () => again({ name: this.#name, args: this.#known.args })),
    );
  }

  /** In the place of what was offered before; the keyboard stays there. @param {HTMLButtonElement} made */
  #offer(made) {
    const focused = this.#actions.contains(document.activeElement);
    this.#actions.replaceChildren(made);
    if (focused) made.focus();
  }

  /** @param {string} label @param {() => void} run */
  #button(label, run) {
    const made = button(label, run, "quiet");
    made.setAttribute("aria-label", `${label}: ${this.#name}`);
    return made;
  }
}

/** @param {unknown} value */
function json(value) {
  return JSON.stringify(value) ?? "";
}

/** @param {string} text @param {number} chars */
function cut(text, chars) {
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}
