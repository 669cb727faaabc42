/**
 * Push-to-talk: where speech starts and ends. Says each edge once, and only while the relay can
 * take it; a press that comes before is told as soon as it can.
 */

/** What is on its way from the microphone when the key goes up still belongs to the speech. */
const TAIL_MS = 150;

export class TalkEdges {
  #say;
  #changed;
  #held = false;
  #told = false;
  #ready = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #tail;

  /** @param {(kind: "start" | "end") => void} say @param {() => void} changed */
  constructor(say, changed) {
    this.#say = say;
    this.#changed = changed;
  }

  /** Whether the person holds it. */
  get held() {
    return this.#held;
  }

  /** Whether the relay takes what is heard now for speech. */
  get open() {
    return this.#told;
  }

  press() {
    clearTimeout(this.#tail);
    this.#hold(true);
  }

  release() {
    clearTimeout(this.#tail);
    if (this.#held) this.#tail = setTimeout(() => this.#hold(false), TAIL_MS);
  }

  /** @param {boolean} ready whether the relay can take an edge now */
  ready(ready) {
    this.#ready = ready;
    this.#settle();
  }

  /** The session is another one, or none: it was told nothing. */
  forget() {
    this.#ready = false;
    this.#told = false;
  }

  /** @param {boolean} held */
  #hold(held) {
    this.#held = held;
    this.#settle();
    this.#changed();
  }

  #settle() {
    if (!this.#ready || this.#told === this.#held) return;
    this.#told = this.#held;
    this.#say(this.#held ? "start" : "end");
  }
}
