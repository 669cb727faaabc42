/** The panel of one running app: title, state, size, what it said to its console, its frame. */

import { ConsoleList } from "./console-list.js";
import { button, element } from "./element.js";
import { APP_STATES } from "./words.js";

/**
 * @typedef {import("../miniapps/running-app.js").RunningApp} RunningApp
 * @typedef {"normal" | "wide" | "full"} Size `full` covers the other apps and the lists, never the
 *   microphone; the app stays in its frame
 * @typedef {{stop: (app: RunningApp) => void, restart: (app: RunningApp) => void,
 *   leave: (app: RunningApp) => void, resized: (panel: AppPanel) => void}} PanelActions leave: the
 *   keyboard goes back to where it came from
 */

export class AppPanel {
  #app;
  #actions;
  #state = element("span", "app-state");
  #reason = element("p", "app-reason");
  #console;
  /** @type {Map<Size, HTMLButtonElement>} */
  #sizes = new Map();

  /** @param {RunningApp} app @param {PanelActions} actions */
  constructor(app, actions) {
    this.#app = app;
    this.#actions = actions;
    this.#console = new ConsoleList(app);
    const panel = element("section", "app");
    panel.dataset.appId = app.appId;
    panel.dataset.size = "normal";
    panel.setAttribute("aria-label", app.title);
    panel.append(this.#bar(), this.#reason, this.#console.element, app.frame.element);
    panel.addEventListener("keydown", (event) => this.#key(event));
    this.element = panel;
    this.show();
  }

  /** @returns {Size} */
  get size() {
    return /** @type {Size} */ (this.element.dataset.size);
  }

  set size(size) {
    if (size === this.size) return;
    this.element.dataset.size = size;
    for (const [of, made] of this.#sizes) made.setAttribute("aria-pressed", String(of === size));
    this.#actions.resized(this);
    if (size !== "full") this.element.scrollIntoView({ block: "nearest" });
  }

  /** Draws how the app is doing. */
  show() {
    const { state, over, reason } = this.#app;
    this.element.dataset.state = state;
    this.#state.textContent = APP_STATES[state];
    this.#reason.textContent = over ? `${APP_STATES[state]}: ${reason}.` : "";
  }

  /** Draws what it said to its console. */
  showConsole() {
    this.#console.show();
  }

  #bar() {
    const { title } = this.#app;
    const bar = element("header", "app-bar");
    bar.append(
      element("h3", "app-title", title),
      this.#state,
      this.#sizeButton("wide", "Wide"),
      this.#sizeButton("full", "Full"),
      named("Restart", title, () => this.#actions.restart(this.#app)),
      named("Stop", title, () => this.#actions.stop(this.#app)),
    );
    return bar;
  }

  /** @param {Size} size @param {string} label */
  #sizeButton(size, label) {
    const toggle = () => {
      this.size = this.size === size ? "normal" : size;
    };
    const made = named(label, this.#app.title, toggle);
    made.dataset.to = size;
    made.setAttribute("aria-pressed", "false");
    this.#sizes.set(size, made);
    return made;
  }

  /** Escape first takes back the size. @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "Escape") return;
    if (this.size !== "full") return this.#actions.leave(this.#app);
    event.stopPropagation();
    this.size = "normal";
  }
}

/** @param {string} verb @param {string} title @param {() => void} run */
function named(verb, title, run) {
  const made = button(verb, run, "quiet");
  made.setAttribute("aria-label", `${verb} ${title}`);
  return made;
}
