/** The pages on disk: each can be opened as it is, saved as an app, or deleted. */

import { button, element } from "../ui/element.js";

/**
 * @typedef {import("../protocol/messages.d.ts").Artifact} Artifact
 * @typedef {{open: (page: Artifact) => void, save: (page: Artifact) => void,
 *   source: (page: Artifact) => void, remove: (page: Artifact) => void}} PageActions
 */

const SHOWN_MAX = 100;

export class PageList {
  #box;
  #list;
  #count;
  #actions;
  #drawn = "";

  /**
   * @param {HTMLElement} box what is hidden while there are no pages
   * @param {HTMLElement} list @param {HTMLElement} count @param {PageActions} actions
   */
  constructor(box, list, count, actions) {
    this.#box = box;
    this.#list = list;
    this.#count = count;
    this.#actions = actions;
  }

  /** @param {Artifact[]} artifacts apps are not for this list */
  fill(artifacts) {
    const pages = artifacts.filter(({ kind }) => kind === "page");
    this.#box.hidden = pages.length === 0;
    this.#count.textContent = String(pages.length);
    const facts = JSON.stringify(pages.map(({ appId, title }) => [appId, title]));
    if (facts === this.#drawn) return; // the keyboard's place in the list stays
    this.#drawn = facts;
    this.#list.replaceChildren(...pages.slice(0, SHOWN_MAX).map((page) => this.#row(page)));
    if (pages.length > SHOWN_MAX) {
      const more = `and ${pages.length - SHOWN_MAX} more; launch them by name`;
      this.#list.append(element("li", "page-more", more));
    }
  }

  /** @param {Artifact} page */
  #row(page) {
    const row = element("li", "page");
    row.dataset.appId = page.appId;
    const place = page.sandbox === undefined ? page.fileName : `${page.sandbox}/${page.fileName}`;
    row.append(
      element("span", "page-title", page.title),
      element("span", "page-file", place),
      this.#button("Open as mini-app", page, this.#actions.open),
      this.#button("Save as app", page, this.#actions.save),
      this.#button("View source", page, this.#actions.source),
      this.#button("Delete", page, this.#actions.remove),
    );
    return row;
  }

  /** @param {string} label @param {Artifact} page @param {(page: Artifact) => void} action */
  #button(label, page, action) {
    const made = button(label, () => action(page), "quiet");
    made.setAttribute("aria-label", `${label}: ${page.title}`);
    return made;
  }
}
