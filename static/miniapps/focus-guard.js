/**
 * Keeps the keyboard with the person: an app gets it by a click or a Tab, not by asking.
 *
 * The room can't see a click inside an app, so the SDK reports real ones (they cannot be forged
 * there). A grab while the pointer is elsewhere is undone at once; one under the pointer may be a
 * click whose report is on its way, and is undone when none comes. A press or a key in the room ends
 * what an app was allowed before: an app that grabs at that moment can win the browser's own race,
 * so that no place in the room ever hears that it was given the keyboard.
 */

const REPORT_MAX_MS = 150;
const PLACES = "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]";
const WRITTEN_IN = "input, textarea, [contenteditable]";
/** An app that grabs it now and then starts anew. */
const FORGIVEN_MS = 10_000;

/**
 * @typedef {import("./running-app.js").RunningApp} RunningApp
 * @typedef {{focusGestureMaxMs: number, focusStealsMax: number, focusStealsStopMax: number}} FocusLimits
 * @typedef {{steals: number, stoleAt: number, clickAt: number}} FocusRecord
 */

export class FocusGuard {
  #apps;
  #limits;
  #onSteals;
  /** @type {Element | null} */
  #last = null;
  #tabAt = Number.NEGATIVE_INFINITY;
  #keyAt = Number.NEGATIVE_INFINITY;
  /** When the person last went to a place in the room. */
  #roomAt = Number.NEGATIVE_INFINITY;
  /** @type {WeakMap<RunningApp, FocusRecord>} */
  #records = new WeakMap();

  /**
   * @param {{apps: () => readonly RunningApp[], limits: FocusLimits,
   *   onSteals: (app: RunningApp) => void}} options onSteals: it grabbed too often
   */
  constructor({ apps, limits, onSteals }) {
    this.#apps = apps;
    this.#limits = limits;
    this.#onSteals = onSteals;
    document.addEventListener("focusin", ({ target }) => this.#focused(target), true);
    document.addEventListener("pointerdown", ({ target }) => this.#pressed(target), true);
    document.addEventListener("keydown", (event) => this.#key(event), true);
    window.addEventListener("blur", () => this.#blurred());
  }

  /**
   * The person asked for this app just now, so it may take the keyboard; but not while they write,
   * for a model can ask for an app too.
   * @param {RunningApp} app
   */
  allow(app) {
    const writing = document.activeElement?.matches(WRITTEN_IN) && this.#typed(performance.now());
    if (!writing) this.#record(app).clickAt = performance.now();
  }

  /** A real click inside the app. @param {RunningApp} app */
  clicked(app) {
    const record = this.#record(app);
    record.clickAt = performance.now();
    if (record.steals > 0 && this.#appWithFocus() !== app && this.#hovers(app)) {
      record.steals -= 1; // the grab that was undone was this click's
      app.frame.element.focus();
    }
  }

  /** @param {EventTarget | null} target */
  #focused(target) {
    if (target instanceof HTMLIFrameElement) return;
    this.#last = target instanceof Element ? target : null;
    this.#tabAt = Number.NEGATIVE_INFINITY; // that Tab led to a place in the room
    this.#roomAt = performance.now();
  }

  /** The person goes to a place in the room, whether the browser leads there or not. @param {EventTarget | null} target */
  #pressed(target) {
    const place = placeOf(target);
    if (!place) return;
    this.#focused(place);
    setTimeout(() => {
      const app = this.#appWithFocus();
      if (!app || this.#tabAt > this.#roomAt) return;
      const record = this.#record(app);
      if (record.clickAt < this.#roomAt) this.#giveBack(app, record);
    }, REPORT_MAX_MS);
  }

  /** @param {KeyboardEvent} event */
  #key({ key, timeStamp }) {
    if (key === "Tab") this.#tabAt = timeStamp;
    else this.#keyAt = this.#roomAt = timeStamp;
  }

  #blurred() {
    const app = this.#appWithFocus();
    if (!app) return;
    const now = performance.now();
    const { focusGestureMaxMs } = this.#limits;
    if (now - this.#tabAt <= focusGestureMaxMs) return;
    const record = this.#record(app);
    if (this.#asked(record, now)) return;
    if (this.#typed(now) || record.steals > 0 || !this.#hovers(app))
      return this.#giveBack(app, record);
    setTimeout(() => {
      if (!this.#asked(record, now) && this.#appWithFocus() === app) this.#giveBack(app, record);
    }, REPORT_MAX_MS);
  }

  /** Whether a key fell in the room just now. @param {number} now */
  #typed(now) {
    return now - this.#keyAt <= this.#limits.focusGestureMaxMs;
  }

  /**
   * Whether the person went to the app, and not to the room after that.
   * @param {FocusRecord} record @param {number} now when the app took the keyboard
   */
  #asked({ clickAt }, now) {
    return clickAt > this.#roomAt && now - clickAt <= this.#limits.focusGestureMaxMs;
  }

  /** @param {RunningApp} app @param {FocusRecord} record */
  #giveBack(app, record) {
    const now = performance.now();
    record.steals = now - record.stoleAt > FORGIVEN_MS ? 1 : record.steals + 1;
    record.stoleAt = now;
    const target = this.#last?.isConnected ? this.#last : document.body;
    soon(() => {
      // After the blur event: before its end the browser still hands the keyboard over
      app.frame.element.blur();
      window.focus();
      if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    });
    const { focusStealsMax, focusStealsStopMax } = this.#limits;
    if (record.steals === focusStealsMax) this.#onSteals(app);
    if (record.steals >= focusStealsStopMax) app.stop("it kept taking the keyboard");
  }

  /** @returns {RunningApp | undefined} */
  #appWithFocus() {
    return this.#apps().find(({ frame }) => frame.element === document.activeElement);
  }

  /** @param {RunningApp} app */
  #hovers({ frame }) {
    return frame.element.matches(":hover") || matchMedia("(hover: none)").matches;
  }

  /** @param {RunningApp} app */
  #record(app) {
    const never = Number.NEGATIVE_INFINITY;
    const record = this.#records.get(app) ?? { steals: 0, stoleAt: never, clickAt: never };
    this.#records.set(app, record);
    return record;
  }
}

/** What takes the keyboard when `target` is pressed. @param {EventTarget | null} target */
function placeOf(target) {
  if (!(target instanceof Element)) return null;
  return target.closest("label")?.control ?? target.closest(PLACES);
}

/** As the next task, before any other that waits. @param {() => void} run */
function soon(run) {
  const scheduler = /** @type {any} */ (globalThis).scheduler;
  if (scheduler) scheduler.postTask(run, { priority: "user-blocking" });
  else setTimeout(run);
}
