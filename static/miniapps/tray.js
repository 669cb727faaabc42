/** The apps that can be launched, as cards. */

import { button, element } from "../ui/element.js";
import { networkHere } from "./guarantees.js";

/** @typedef {import("../protocol/messages.d.ts").Artifact} Artifact */

/** @type {Record<string, string>} */
const SOURCES = { examples: "Example", host: "Saved", workspace: "Workspace", sandbox: "Sandbox" };

export class Tray {
  #list;
  #actions;
  /** @type {Map<string, {card: HTMLElement, press: HTMLButtonElement, note: HTMLElement}>} */
  #cards = new Map();

  /**
   * @param {HTMLElement} list
   * @param {{press: (app: Artifact) => void, source: (app: Artifact) => void,
   *   remove: (app: Artifact) => void}} actions
   */
  constructor(list, actions) {
    this.#list = list;
    this.#actions = actions;
  }

  /** @param {Artifact[]} apps pages are not for the tray */
  fill(apps) {
    this.#cards.clear();
    this.#list.replaceChildren();
    for (const app of apps) if ((app.kind ?? "app") === "app") this.#list.append(this.#card(app));
  }

  /** @param {string} appId @param {{running: boolean, note: string}} state */
  mark(appId, { running, note }) {
    const found = this.#cards.get(appId);
    if (!found) return;
    found.card.dataset.running = String(running);
    found.press.textContent = running ? "Stop" : "Launch";
    found.note.textContent = note;
  }

  /** Gives the keyboard to an app's button. @param {string} appId */
  focus(appId) {
    this.#cards.get(appId)?.press.focus();
  }

  /** @param {Artifact} app */
  #card(app) {
    const card = element("li", "card");
    card.dataset.appId = app.appId;
    const press = button("Launch", () => this.#actions.press(app), "launch");
    press.setAttribute("aria-describedby", `card-${app.appId}`);
    const title = element("h3", "card-title", app.title);
    title.id = `card-${app.appId}`;
    const source = SOURCES[app.source] ?? app.source;
    const network = networkHere(/** @type {any} */ (navigator));
    const note = element("p", "card-note", "");
    const more = element("p", "row card-more");
    more.append(this.#button("View source", app, this.#actions.source));
    if (app.source !== "examples") more.append(this.#button("Delete", app, this.#actions.remove));
    const facts = element("p", "card-source", `${source} · ${app.fileName} · ${network}`);
    card.append(title, facts, note, press, more);
    this.#cards.set(app.appId, { card, press, note });
    return card;
  }

  /** @param {string} label @param {Artifact} app @param {(app: Artifact) => void} action */
  #button(label, app, action) {
    const made = button(label, () => action(app), "quiet");
    made.setAttribute("aria-label", `${label}: ${app.title}`);
    return made;
  }
}
