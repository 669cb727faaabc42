/** The one big control: shows the conversation's state in a word, starts and stops it. */

/** @typedef {import("../connection/voice.js").Word} Word */

/** @type {Record<Word, string>} */
const HINTS = {
  Off: "Press to talk",
  Connecting: "One moment",
  Listening: "Say what you want done",
  Thinking: "Working on it",
  Speaking: "Speak to interrupt",
  "Can't hear you": "Press to try again",
};

export class MicrophoneControl {
  #button;
  #word;
  #hint;

  /**
   * @param {HTMLButtonElement} button @param {HTMLElement} word @param {HTMLElement} hint
   * @param {() => void} onPress
   */
  constructor(button, word, hint, onPress) {
    this.#button = button;
    this.#word = word;
    this.#hint = hint;
    button.addEventListener("click", onPress);
  }

  /** @param {Word} word @param {boolean} on whether the microphone is wanted */
  show(word, on) {
    this.#button.dataset.state = word;
    this.#button.setAttribute("aria-pressed", String(on));
    if (this.#word.textContent !== word) this.#word.textContent = word;
    this.#hint.textContent = HINTS[word];
  }

  /** @param {number} level 0 to 1 */
  level(level) {
    this.#button.style.setProperty("--level", Math.min(1, level * 6).toFixed(2));
  }
}
