/** The shelf's WebAssembly tools: what each is, whether it can be called, how its last call went. */

import { element } from "./element.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {{id: string, abi?: string, digest?: string | null, description: string, ok: boolean,
 *   refused?: string, why?: string}} ShelfTool
 */

const DIGEST_SHOWN = 12;

export class ShelfList {
  #list;
  #empty;
  /** @type {Map<string, HTMLElement>} */
  #last = new Map();

  /** @param {HTMLElement} list @param {HTMLElement} empty shown while there is no tool */
  constructor(list, empty) {
    this.#list = list;
    this.#empty = empty;
  }

  /** @param {ShelfTool[]} tools */
  fill(tools) {
    this.#last.clear();
    this.#list.replaceChildren(...tools.map((tool) => this.#item(tool)));
    this.#empty.hidden = tools.length > 0;
  }

  /** Shows how a tool's last call went. @param {ToolFrame} frame */
  count({ name, host, state, ok, refused, durationMs = 0 }) {
    const last = this.#last.get(name);
    if (!last || host !== "wasm" || state !== "done") return;
    last.textContent = `last run ${ok ? "ok" : refused}, ${durationMs.toFixed(1)} ms`;
    last.dataset.state = ok ? "ok" : "refused";
  }

  /** @param {ShelfTool} tool */
  #item({ id, abi = "no ABI", digest, description, ok, refused, why }) {
    const item = element("li", "shelf-tool");
    item.dataset.tool = id;
    const state = element("span", "shelf-state", ok ? "Callable now" : `${refused}: ${why}`);
    state.dataset.state = ok ? "ok" : "refused";
    const facts = [abi, digest ? `sha256 ${digest.slice(0, DIGEST_SHOWN)}…` : "no digest"];
    const last = element("span", "shelf-last");
    const words = element("span", "shelf-facts", facts.join(" · "));
    if (digest) words.title = `sha256 ${digest}`;
    item.append(element("code", "log-tool", id), state, element("p", "", description), words, last);
    this.#last.set(id, last);
    return item;
  }
}
