/** The tools of one app, under the contract. A refused declaration keeps the tool it named. */

import { fromJson } from "./json.js";

/**
 * @typedef {{ok: true, value: any} | {ok: false, refused: string, why: string}} Verdict
 * @typedef {{checkTool: (tool: unknown) => Verdict, checkArguments:
 *   (schema: any, args: unknown) => Verdict}} Contract
 */

export class AppTools {
  #contract;
  #toolsMax;
  /** @type {Map<string, {name: string, description: string, parameters: object,
   *   annotations?: {destructiveHint: true}}>} */
  #tools = new Map();

  /** @param {Contract} contract @param {number} toolsMax */
  constructor(contract, toolsMax) {
    this.#contract = contract;
    this.#toolsMax = toolsMax;
  }

  /** In their normal form, with the hint of those that destroy; in the order of registration. */
  get list() {
    return [...this.#tools.values()];
  }

  /** @param {unknown} tool a declaration, as JSON text or as an object @returns {Verdict} */
  admit(tool) {
    const verdict = this.#contract.checkTool(fromJson(tool));
    if (!verdict.ok) return verdict;
    const { value } = verdict;
    if (this.#tools.size >= this.#toolsMax && !this.#tools.has(value.name)) {
      const why = `an app may register ${this.#toolsMax} tools`;
      return { ok: false, refused: "too-many-tools", why };
    }
    this.#tools.set(value.name, { ...value, ...hintOf(tool) });
    return verdict;
  }

  /** @param {string} name @returns {boolean} whether it was there */
  remove(name) {
    return this.#tools.delete(name);
  }

  clear() {
    this.#tools.clear();
  }

  /** The arguments that may run, or why not. @param {string} name @param {unknown} args @returns {Verdict} */
  check(name, args) {
    const tool = this.#tools.get(name);
    if (!tool) return { ok: false, refused: "unknown-tool", why: `no tool ${name} in this app` };
    return this.#contract.checkArguments(tool.parameters, args);
  }
}

/** The one annotation that changes how a tool is called. @param {unknown} tool an admitted one */
function hintOf(tool) {
  const hint = /** @type {any} */ (fromJson(tool)).annotations?.destructiveHint;
  return hint === true ? { annotations: { destructiveHint: hint } } : {};
}

/** What a declaration calls itself; it may be anything. @param {unknown} tool @returns {unknown} */
export function nameOf(tool) {
  return /** @type {any} */ (fromJson(tool))?.name;
}
