/** The running apps, each in a panel with its title, its state, Restart and Stop. */

import { button, element } from "./element.js";

/** @typedef {import("../miniapps/running-app.js").RunningApp} RunningApp */

const WORDS = {
  starting: "Starting",
  running: "Running",
  "not-responding": "Not responding",
  lost: "Lost its connection",
  stopped: "Stopped",
};

export class Stage {
  #container;
  #empty;
  #actions;
  /** @type {Map<RunningApp, HTMLElement>} */
  #panels = new Map();

  /**
   * @param {HTMLElement} container @param {HTMLElement} empty
   * @param {{stop: (app: RunningApp) => void, restart: (app: RunningApp) => void,
   *   leave: (app: RunningApp) => void}} actions leave: the keyboard goes back to where it came from
   */
  constructor(container, empty, actions) {
    this.#container = container;
    this.#empty = empty;
    this.#actions = actions;
  }

  /** @param {RunningApp} app */
  add(app) {
    const panel = element("section", "app");
    panel.dataset.appId = app.appId;
    panel.setAttribute("aria-label", app.title);
    const bar = element("header", "app-bar");
    bar.append(element("h3", "app-title", app.title), element("span", "app-state"));
    bar.append(
      action("Restart", app.title, () => this.#actions.restart(app)),
      action("Stop", app.title, () => this.#actions.stop(app)),
    );
    panel.append(bar, element("p", "app-reason"), app.frame.element);
    panel.addEventListener("keydown", ({ key }) => key === "Escape" && this.#actions.leave(app));
    this.#panels.set(app, panel);
    this.#container.append(panel);
    this.show(app);
    panel.scrollIntoView({ block: "nearest" });
  }

  /** @param {RunningApp} app */
  show(app) {
    const panel = this.#panels.get(app);
    if (!panel) return;
    panel.dataset.state = app.state;
    const state = /** @type {HTMLElement} */ (panel.querySelector(".app-state"));
    state.textContent = WORDS[app.state];
    const reason = /** @type {HTMLElement} */ (panel.querySelector(".app-reason"));
    reason.textContent = app.over ? `${WORDS[app.state]}: ${app.reason}.` : "";
    this.#empty.hidden = this.#panels.size > 0;
  }

  /** @param {RunningApp} app @returns {boolean} whether the keyboard was in its panel */
  remove(app) {
    const panel = this.#panels.get(app);
    const focused = panel?.contains(document.activeElement) ?? false;
    panel?.remove();
    this.#panels.delete(app);
    this.#empty.hidden = this.#panels.size > 0;
    return focused;
  }
}

/** @param {string} verb @param {string} title @param {() => void} run */
function action(verb, title, run) {
  const made = button(verb, run, "quiet");
  made.setAttribute("aria-label", `${verb} ${title}`);
  return made;
}
