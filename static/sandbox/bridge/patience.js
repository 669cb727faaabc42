/** How long the inner frame may be silent after a load, before it counts as another page. */

export class Patience {
  #limits;
  #lost;
  #loads = 0;
  #knocked = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {{appSilenceMaxMs: number, appStartMaxMs: number}} limits
   * @param {() => void} lost called when it lasts too long
   */
  constructor(limits, lost) {
    this.#limits = limits;
    this.#lost = lost;
  }

  /** A page has loaded: the app's own, another one, or none. */
  loaded() {
    this.#loads += 1;
    this.#wait();
  }

  /** The app has said its first word, which may come behind the news of its load. */
  knocked() {
    this.#knocked = true;
    if (this.#loads > 0) this.#wait();
  }

  /** The app is there. */
  answered() {
    clearTimeout(this.#timer);
  }

  /** The app's own page comes first; it may be long at work on its layout before it answers. */
  #wait() {
    clearTimeout(this.#timer);
    const { appSilenceMaxMs, appStartMaxMs } = this.#limits;
    const isItsOwn = this.#knocked && this.#loads === 1;
    this.#timer = setTimeout(this.#lost, isItsOwn ? appStartMaxMs : appSilenceMaxMs);
  }
}
