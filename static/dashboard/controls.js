/** What is looked at, as the person chooses it; every choice stands in the address at once. */

import { byId, element } from "../ui/element.js";
import { toolOf } from "./call-ring.js";
import { addressOf, isRange, viewOf } from "./view.js";

/**
 * @typedef {import("./view.js").View} View
 * @typedef {"tool" | "host" | "outcome"} Choice
 */

/** @type {readonly Choice[]} */
const CHOICES = ["tool", "host", "outcome"];
const FIRST_OPTIONS = 1;
const FIRST_OUTCOMES = 3; // any, ok, refused

export class Controls {
  #view = viewOf(new URLSearchParams(location.search));
  #onView;
  #range = byId("range", HTMLSelectElement);
  #words = byId("filter", HTMLInputElement);
  #selects = {
    tool: byId("tool", HTMLSelectElement),
    host: byId("host", HTMLSelectElement),
    outcome: byId("outcome", HTMLSelectElement),
  };

  /** @param {(view: View) => void} onView called with each choice */
  constructor(onView) {
    this.#onView = onView;
    this.#range.value = this.#view.range;
    this.#words.value = this.#view.words;
    for (const choice of CHOICES) {
      this.offer(choice, []);
      this.#selects[choice].addEventListener("change", ({ target }) => {
        const { value } = /** @type {HTMLSelectElement} */ (target);
        this.#choose({ ...this.#view, [choice]: value });
      });
    }
    this.#range.addEventListener("change", () => {
      const { value } = this.#range;
      if (isRange(value)) this.#choose({ ...this.#view, range: value });
    });
    this.#words.addEventListener("input", () =>
      this.#choose({ ...this.#view, words: this.#words.value }),
    );
  }

  get view() {
    return this.#view;
  }

  /** Offers what has been seen; a choice that was not seen yet stays one. @param {import("./call-ring.js").CallRing} ring */
  offerSeen(ring) {
    const tools = ring.tools.all().map(toolOf);
    this.offer(
      "tool",
      tools.map(({ name }) => name),
    );
    this.offer(
      "host",
      tools.map(({ host }) => host),
    );
    this.offer(
      "outcome",
      ring.codes.all().filter((code) => code !== ""),
    );
  }

  /** @param {Choice} choice @param {string[]} seen */
  offer(choice, seen) {
    const select = this.#selects[choice];
    const first = choice === "outcome" ? FIRST_OUTCOMES : FIRST_OPTIONS;
    const standing = [...select.options].slice(0, first).map(({ value }) => value);
    const chosen = this.#view[choice];
    const offered = new Set([...seen, chosen].filter((value) => !standing.includes(value)));
    const wanted = [...offered].sort();
    const told = [...select.options].slice(first).map(({ value }) => value);
    if (wanted.join("\n") !== told.join("\n")) {
      while (select.options.length > first) select.remove(first);
      select.append(...wanted.map((value) => option(value)));
    }
    select.value = chosen;
  }

  /** @param {View} view */
  #choose(view) {
    this.#view = view;
    history.replaceState(history.state, "", addressOf(view, location.href));
    this.#onView(view);
  }
}

/** @param {string} value */
function option(value) {
  const made = element("option", "", value);
  made.value = value;
  return made;
}
