/** The shelf's WebAssembly tools: what each is, whether it can be called, how its last call went. */

import { element } from "./element.js";
import { tryItForm } from "./try-it.js";
import { ageWords, durationWords } from "./wording.js";

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {{id: string, abi?: string, digest?: string | null, description: string, ok: boolean,
 *   refused?: string, why?: string}} ShelfTool
 * @typedef {import("./try-it.js").Call} Call
 * @typedef {{engine: string, hardening: string[] | null}} Worker hardening: what confines a call's
 *   process; null before the first one told
 * @typedef {{tools?: ShelfTool[], worker: Worker}} Shelf
 * @typedef {{at: number, words: string, ms: number}} LastRun
 */

const DIGEST_SHOWN = 12;
const AGED_EVERY_MS = 5_000;

export class ShelfList {
  #list;
  #empty;
  #call;
  #look;
  #worker = element("p", "empty");
  #told = false;
  /** @type {Map<string, HTMLElement>} */
  #last = new Map();
  /** @type {Map<string, LastRun>} */
  #runs = new Map();

  /**
   * @param {HTMLElement} list @param {HTMLElement} empty shown while there is no tool
   * @param {{call: Call, look: () => Promise<Worker>}} relay look: what confines a call by now
   */
  constructor(list, empty, { call, look }) {
    this.#call = call;
    this.#look = look;
    this.#list = list;
    this.#empty = empty;
    list.after(this.#worker);
    setInterval(() => this.#age(), AGED_EVERY_MS);
  }

  /**
   * @param {Shelf} shelf
   * @param {readonly import("../protocol/messages.d.ts").DeclaredTool[]} declared what can be called
   */
  fill({ tools = [], worker }, declared) {
    this.#last.clear();
    this.#confine(worker);
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
  count({ name, host, state, ok, refused, durationMs = 0, at }) {
    const last = this.#last.get(name);
    if (!last || host !== "wasm" || state !== "done") return;
    last.dataset.state = ok ? "ok" : "refused";
    const words = ok ? "ok" : `${refused}`;
    this.#runs.set(name, { at: at ? Date.parse(at) : Date.now(), words, ms: durationMs });
    this.#age();
    if (!this.#told) void this.#lookAgain();
  }

  async #lookAgain() {
    try {
      this.#confine(await this.#look());
    } catch {
      // the relay went away; the next call asks again
    }
  }

  /** @param {Worker} worker */
  #confine({ engine, hardening }) {
    this.#told = hardening !== null;
    const by = hardening?.join(", ") ?? "known after the first call";
    this.#worker.textContent = `Each call has a process of its own (wasmtime ${engine}), confined by: ${by}.`;
  }

  #age() {
    for (const [name, { at, words, ms }] of this.#runs) {
      const last = this.#last.get(name);
      const text = `last run ${words} ${ageWords(Date.now() - at)}, ${durationWords(ms)}`;
      if (last && last.textContent !== text) last.textContent = text;
    }
  }

  /** @param {import("../protocol/messages.d.ts").DeclaredTool} tool */
  #tryIt({ name, parameters }) {
    const details = element("details", "messages try");
    details.append(
      element("summary", "", `Try ${name}`),
      tryItForm(name, parameters, (args, signal) => this.#call(name, args, signal)),
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
