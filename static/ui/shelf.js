/** The shelf's WebAssembly tools: what each is, whether it can be called, how its last call went. */

import { element } from "./element.js";
import { tryItForm } from "./try-it.js";
import { durationWords } from "./wording.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {{id: string, abi?: string, digest?: string | null, description: string, ok: boolean,
 *   refused?: string, why?: string}} ShelfTool
 * @typedef {(name: string, args: object) => Promise<import("./try-it.js").Outcome>} Call
 */

const DIGEST_SHOWN = 12;

export class ShelfList {
  #list;
  #empty;
  #call;
  /** @type {Map<string, HTMLElement>} */
  #last = new Map();

  /**
   * @param {HTMLElement} list @param {HTMLElement} empty shown while there is no tool
   * @param {Call} call
   */
  constructor(list, empty, call) {
    this.#call = call;
    this.#list = list;
    this.#empty = empty;
  }

  /**
   * @param {ShelfTool[]} tools
   * @param {readonly import("../protocol/messages.d.ts").DeclaredTool[]} declared what can be called
   */
  fill(tools, declared) {
    this.#last.clear();
    const items = tools.map((tool) => {
      const item = this.#item(tool);
      const found = declared.find(({ name, host }) => host === "wasm" && name === tool.id);
      if (found) item.append(this.#tryIt(found));
      return item;
    });
    this.#list.replaceChildren(...items);
    this.#empty.hidden = tools.length > 0;
  }

  /** Shows how a tool's last call went. @param {ToolFrame} frame */
  count({ name, host, state, ok, refused, durationMs = 0 }) {
    const last = this.#last.get(name);
    if (!last || host !== "wasm" || state !== "done") return;
    last.textContent = `last run ${ok ? "ok" : refused}, ${durationWords(durationMs)}`;
    last.dataset.state = ok ? "ok" : "refused";
  }

  /** @param {import("../protocol/messages.d.ts").DeclaredTool} tool */
  #tryIt({ name, parameters }) {
    const details = element("details", "messages try");
    details.append(
      element("summary", "", `Try ${name}`),
      tryItForm(name, parameters, (args) => this.#call(name, args)),
    );
    return details;
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
