/** How the person is heard: open microphone or push-to-talk and its key; both are remembered. */

import { recall, remember } from "../connection/preferences.js";
import { FIRST_KEY, keyOf } from "./held-key.js";

/** @typedef {import("./held-key.js").Key} Key */

export class TalkMode {
  #hold;
  #button;
  #changed;
  #asking = false;

  /** The key that talks while held. @type {Key} */
  key = rememberedKey();

  /**
   * @param {HTMLInputElement} hold a checkbox @param {HTMLButtonElement} button tells and changes the key
   * @param {() => void} changed
   */
  constructor(hold, button, changed) {
    this.#hold = hold;
    this.#button = button;
    this.#changed = changed;
    hold.checked = recall("hold") === "yes";
    hold.addEventListener("change", () => {
      remember("hold", hold.checked ? "yes" : "no");
      this.#tell();
    });
    button.addEventListener("click", () => this.#ask(true));
    button.addEventListener("blur", () => this.#ask(false));
    button.addEventListener("keydown", (event) => this.#choose(event));
    this.#ask(false);
  }

  /** Whether speech is what is said while the key or the button is held. */
  get held() {
    return this.#hold.checked;
  }

  /** Whether the key is being chosen, so that it must not talk. */
  get asking() {
    return this.#asking;
  }

  #tell() {
    this.#ask(false);
    this.#changed();
  }

  /** @param {boolean} asking */
  #ask(asking) {
    this.#asking = asking;
    this.#button.textContent = asking ? "Press a key" : `Key: ${this.key.label}`;
    this.#button.disabled = !this.#hold.checked;
  }

  /** @param {KeyboardEvent} event */
  #choose(event) {
    if (!this.#asking) return;
    if (event.key === "Escape") event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") return this.#ask(false);
    event.preventDefault();
    const key = keyOf(event);
    if (!key) return;
    event.stopPropagation();
    this.key = key;
    remember("key", JSON.stringify(key));
    this.#tell();
  }
}

/** @returns {Key} */
function rememberedKey() {
  const kept = recall("key");
  if (!kept) return FIRST_KEY;
  const { code, label } = JSON.parse(kept);
  return { code: String(code), label: String(label) };
}
