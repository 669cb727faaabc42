/** Notices an app that stops answering: a ping each second, silence for three is too long. */

export class Watchdog {
  #ping;
  #onChange;
  #limits;
  #timer = 0;
  #count = 0;
  /** When the oldest ping without an answer left: a page in the background pings less often. @type {number | undefined} */
  #askedAt;
  #alive = true;

  /**
   * @param {{ping: (count: number) => void, onChange: (alive: boolean) => void,
   *   limits: {appPingIntervalMs: number, appSilenceMaxMs: number}}} options
   */
  constructor({ ping, onChange, limits }) {
    this.#ping = ping;
    this.#onChange = onChange;
    this.#limits = limits;
    this.#timer = setInterval(() => this.#look(performance.now()), limits.appPingIntervalMs);
  }

  /** How long a ping has waited for its answer. */
  get silentMs() {
    return this.#askedAt === undefined ? 0 : performance.now() - this.#askedAt;
  }

  /** The app answered. */
  heard() {
    this.#askedAt = undefined;
    this.#turn(true);
  }

  stop() {
    clearInterval(this.#timer);
  }

  /** @param {number} now */
  #look(now) {
    if (this.silentMs > this.#limits.appSilenceMaxMs) this.#turn(false);
    this.#askedAt ??= now;
    this.#count += 1;
    this.#ping(this.#count);
  }

  /** @param {boolean} alive */
  #turn(alive) {
    if (alive === this.#alive) return;
    this.#alive = alive;
    this.#onChange(alive);
  }
}
