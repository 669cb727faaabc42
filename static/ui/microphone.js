/** The one big control: shows the conversation's state in a word; pressed or held, it talks. */

/** @typedef {import("../connection/voice.js").Word} Word */

/** @type {Record<Word, string>} */
const HINTS = {
  Off: "Press to talk",
  Connecting: "One moment",
  Listening: "Say what you want done",
  Thinking: "Working on it",
  Speaking: "Speak to interrupt",
  Muted: "Unmute to be heard",
  "Can't hear you": "Press to try again",
};
const PRESSING_KEYS = new Set([" ", "Enter"]);

/**
 * @typedef {{press: () => void, hold: () => void, release: () => void}} MicrophoneActions
 *   press: a whole click with an open microphone; hold and release: by push-to-talk
 */

export class MicrophoneControl {
  #button;
  #word;
  #hint;
  #actions;
  /** The key that talks while held; none with an open microphone. @type {string | undefined} */
  #key;

  /**
   * @param {HTMLButtonElement} button @param {HTMLElement} word @param {HTMLElement} hint
   * @param {MicrophoneActions} actions
   */
  constructor(button, word, hint, actions) {
    this.#button = button;
    this.#word = word;
    this.#hint = hint;
    this.#actions = actions;
    button.addEventListener("click", () => this.#key ?? actions.press());
    button.addEventListener("pointerdown", ({ pointerId }) => this.#grab(pointerId));
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      button.addEventListener(end, () => this.#letGo());
    }
    button.addEventListener("keydown", (event) => this.#keyDown(event));
    button.addEventListener("keyup", ({ key }) => PRESSING_KEYS.has(key) && this.#letGo());
    button.addEventListener("contextmenu", (event) => this.#key && event.preventDefault());
  }

  /** @param {string | undefined} key by push-to-talk: the key that does the same */
  heldBy(key) {
    this.#key = key;
    this.#hintFor("Off");
  }

  /** @param {Word} word @param {boolean} on whether the microphone is heard */
  show(word, on) {
    this.#button.dataset.state = word;
    this.#button.setAttribute("aria-pressed", String(on));
    if (this.#word.textContent !== word) this.#word.textContent = word;
    this.#hintFor(word);
  }

  /** @param {number} level 0 to 1 */
  level(level) {
    this.#button.style.setProperty("--level", Math.min(1, level * 6).toFixed(2));
  }

  /** @param {Word} word */
  #hintFor(word) {
    const held = this.#key && (word === "Off" || word === "Speaking");
    this.#hint.textContent = held ? `Hold this, or the key ${this.#key}, to talk` : HINTS[word];
  }

  /** @param {number} pointerId */
  #grab(pointerId) {
    if (!this.#key) return;
    this.#button.setPointerCapture(pointerId); // the finger may slide off
    this.#actions.hold();
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    if (!this.#key || !PRESSING_KEYS.has(event.key)) return;
    event.preventDefault();
    if (!event.repeat) this.#actions.hold();
  }

  #letGo() {
    if (this.#key) this.#actions.release();
  }
}
