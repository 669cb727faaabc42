/** The running apps, each in a panel of its own. One panel at a time may cover the others. */

import { AppPanel } from "./app-panel.js";

/** @typedef {import("../miniapps/running-app.js").RunningApp} RunningApp */

export class Stage {
  #container;
  #empty;
  #behind;
  #actions;
  /** @type {Map<RunningApp, AppPanel>} */
  #panels = new Map();

  /**
   * @param {HTMLElement} container @param {HTMLElement} empty shown while no app runs
   * @param {HTMLElement[]} behind what a panel of full size covers
   * @param {Omit<import("./app-panel.js").PanelActions, "resized">
   *   & {counted: (running: number, added: boolean) => void}} actions
   */
  constructor(container, empty, behind, actions) {
    this.#container = container;
    this.#empty = empty;
    this.#behind = behind;
    this.#actions = actions;
  }

  /** @param {RunningApp} app */
  add(app) {
    for (const panel of this.#panels.values()) if (panel.size === "full") panel.size = "normal";
    const actions = { ...this.#actions, resized: () => this.#cover() };
    const panel = new AppPanel(app, actions);
    this.#panels.set(app, panel);
    this.#container.append(panel.element);
    this.#count(true);
    panel.element.scrollIntoView({ block: "nearest" });
  }

  /** @param {RunningApp} app */
  show(app) {
    this.#panels.get(app)?.show();
  }

  /** @param {RunningApp} app */
  showConsole(app) {
    this.#panels.get(app)?.showConsole();
  }

  /** @param {RunningApp} app @returns {boolean} whether the keyboard was in its panel */
  remove(app) {
    const panel = this.#panels.get(app)?.element;
    const focused = panel?.contains(document.activeElement) ?? false;
    panel?.remove();
    this.#panels.delete(app);
    this.#count(false);
    this.#cover();
    return focused;
  }

  /** @param {boolean} added whether there is one more */
  #count(added) {
    this.#empty.hidden = this.#panels.size > 0;
    this.#actions.counted(this.#panels.size, added);
  }

  /** What is covered can't be reached; it stays in the page, so that its apps go on. */
  #cover() {
    const panels = [...this.#panels.values()];
    const full = panels.find(({ size }) => size === "full");
    for (const part of this.#behind) part.inert = full !== undefined;
    for (const panel of panels) panel.element.inert = full !== undefined && panel !== full;
  }
}
