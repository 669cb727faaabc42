/** The apps that can be launched, as cards. */

import { button, element } from "../ui/element.js";

/** @typedef {import("../protocol/messages.d.ts").Artifact} Artifact */

/** @type {Record<string, string>} */
const SOURCES = { examples: "Example", host: "Saved", workspace: "Workspace", sandbox: "Sandbox" };

export class Tray {
  #list;
  #onPress;
  /** @type {Map<string, {card: HTMLElement, press: HTMLButtonElement, note: HTMLElement}>} */
  #cards = new Map();

  /** @param {HTMLElement} list @param {(app: Artifact, press: HTMLButtonElement) => void} onPress */
  constructor(list, onPress) {
    this.#list = list;
    this.#onPress = onPress;
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
    const press = button("Launch", () => this.#onPress(app, press), "launch");
    press.setAttribute("aria-describedby", `card-${app.appId}`);
    const title = element("h3", "card-title", app.title);
    title.id = `card-${app.appId}`;
    const source = SOURCES[app.source] ?? app.source;
    const note = element("p", "card-note", "");
    card.append(
      title,
      element("p", "card-source", `${source} · ${app.fileName} · network: none`),
      note,
      press,
    );
    this.#cards.set(app.appId, { card, press, note });
    return card;
  }
}
