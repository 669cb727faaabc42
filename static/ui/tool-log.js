/** The calls of the room, newest first: one row each, to be filtered, ended and run again. */

import { CallRow } from "./call-row.js";
import { matches } from "./wording.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {import("./call-row.js").Known} Known
 */

const KEPT_MAX = 200;

export class ToolLog {
  #list;
  #empty;
  #emptyWords;
  #titleOf;
  #again;
  #filter = "";
  /** @type {Map<string, CallRow>} */
  #rows = new Map();
  /** What is known of calls that have no row yet. @type {Map<string, Known>} */
  #early = new Map();

  /**
   * @param {HTMLElement} list @param {HTMLElement} empty
   * @param {{titleOf?: (appId: string) => string | undefined,
   *   again?: ((call: {name: string, args: unknown}) => void) | undefined}} [page] titleOf: the
   *   title of an app that this page knows; again: runs such a call once more, `args` undefined where
   *   nobody told them
   */
  constructor(list, empty, { titleOf = () => undefined, again } = {}) {
    this.#list = list;
    this.#empty = empty;
    this.#emptyWords = empty.textContent;
    this.#titleOf = titleOf;
    this.#again = again;
    list.tabIndex = 0; // it scrolls, so the keyboard must reach it
  }

  /** Draws a frame; the same one twice changes nothing. @param {ToolFrame} frame */
  show(frame) {
    const row = this.#rows.get(frame.callId) ?? this.#addRow(frame);
    if (frame.args !== undefined) row.know({ args: frame.args });
    if (frame.state === "done") row.finish(frame);
    this.#sift(row);
    this.#tellEmpty();
  }

  /** Adds to a call, shown or still to come, what only this page knows. @param {string} callId @param {Known} known */
  know(callId, known) {
    const row = this.#rows.get(callId);
    if (row) {
      row.know(known);
      this.#sift(row);
    } else {
      this.#early.set(callId, { ...this.#early.get(callId), ...known });
      dropOldest(this.#early);
    }
  }

  /** Shows only the calls with each of these words. @param {string} filter */
  filter(filter) {
    this.#filter = filter;
    for (const row of this.#rows.values()) this.#sift(row);
    this.#tellEmpty();
  }

  /** @param {CallRow} row */
  #sift(row) {
    row.element.hidden = !matches(row.text, this.#filter);
  }

  #tellEmpty() {
    const shown = [...this.#rows.values()].some(({ element }) => !element.hidden);
    this.#empty.hidden = shown;
    const words = this.#rows.size ? "No call matches." : this.#emptyWords;
    if (this.#empty.textContent !== words) this.#empty.textContent = words;
  }

  /** @param {ToolFrame} frame */
  #addRow(frame) {
    const { appId, callId, host } = frame;
    const app = (appId && (this.#titleOf(appId) ?? appId)) || host;
    const row = new CallRow(frame, app, this.#again);
    row.know(this.#early.get(callId) ?? {});
    this.#early.delete(callId);
    this.#rows.set(callId, row);
    this.#list.prepend(row.element);
    dropOldest(this.#rows)?.element.remove();
    return row;
  }
}

/** @template Value @param {Map<string, Value>} kept @returns {Value | undefined} what went, where there were too many */
function dropOldest(kept) {
  if (kept.size <= KEPT_MAX) return undefined;
  const [[key, value] = []] = kept;
  kept.delete(/** @type {string} */ (key));
  return value;
}
