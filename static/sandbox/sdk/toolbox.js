/** The app's accepted tools: registers them with the bridge and runs them when it asks. */

import { refusal } from "./channel.js";
import { Controller, forget, later, listen, stringify } from "./primitives.js";
import { serialise, wordsOf } from "./result.js";

/**
 * @typedef {import("../mini-app-sdk.d.ts").ModelContextTool} AppTool
 * @typedef {import("./result.js").Outcome} Outcome
 * @typedef {{name: string, exposed: string, source: AppTool, text: string}} Tool
 * @typedef {{toolsPerAppMax: number, toolOutputMaxBytes: number, whyMaxChars: number,
 *   appReadyQuietMs: number}} ToolboxLimits
 * @typedef {import("./channel.js").AppMessage} AppMessage
 * @typedef {{send: (message: AppMessage) => void, ask: (message: AppMessage) => Promise<void>}} Line
 * @typedef {"toolchange" | "toolactivated" | "toolcancel"} ToolEvent
 */

const DESTROYS = { destructiveHint: true };

export class Toolbox {
  #line;
  #limits;
  /** By the name that the bridge knows. @type {Map<string, Tool>} */
  #tools = new Map();
  /** @type {Map<string, AbortController>} */
  #running = new Map();
  #registrations = Promise.resolve();
  #saidReady = false;
  #quiet = 0;

  /** Hears what happens to tools. @type {(type: ToolEvent, toolName?: string) => void} */
  tell = () => {};

  /** @param {Line} line @param {ToolboxLimits} limits */
  constructor(line, limits) {
    this.#line = line;
    this.#limits = limits;
    listen(document, "DOMContentLoaded", () => this.#restartQuiet());
  }

  get list() {
    return [...this.#tools.values()];
  }

  /** One at a time, so that a burst never looks like a flood. @param {Tool} tool @returns {Promise<void>} */
  enrol(tool) {
    const turn = this.#registrations.then(() => this.#register(tool));
    this.#registrations = turn.catch(() => {});
    this.#restartQuiet();
    return turn;
  }

  /** @param {string} exposed */
  withdraw(exposed) {
    if (!this.#tools.delete(exposed)) return;
    this.#line.send({ type: "unregister_tool", name: exposed });
    this.tell("toolchange");
  }

  ready() {
    if (this.#saidReady) return;
    this.#saidReady = true;
    this.#registrations.then(() => this.#line.send({ type: "app_ready" }));
  }

  /** @param {string} callId @param {string} name @param {object} args checked by the bridge */
  async run(callId, name, args) {
    const tool = this.#tools.get(name);
    if (!tool) {
      const why = `no tool ${name} here`;
      return this.#line.send({
        type: "tool_result",
        callId,
        ok: false,
        refused: "unknown-tool",
        why,
      });
    }
    const controller = new Controller();
    this.#running.set(callId, controller);
    this.tell("toolactivated", tool.name);
    listen(controller.signal, "abort", () => this.tell("toolcancel", tool.name));
    const outcome = await this.execute(tool, args, controller.signal);
    this.#running.delete(callId);
    this.#line.send({ type: "tool_result", callId, ...outcome });
  }

  /** @param {Tool} tool @param {object} args @param {AbortSignal} signal @returns {Promise<Outcome>} */
  async execute(tool, args, signal) {
    try {
      return serialise(await tool.source.execute(args, { signal }), this.#limits);
    } catch (error) {
      return { ok: false, refused: "mini-app-tool-failed", why: wordsOf(error, this.#limits) };
    }
  }

  /** @param {string} callId @param {string} reason */
  cancel(callId, reason) {
    this.#running.get(callId)?.abort(new DOMException(reason, "AbortError"));
  }

  /** @param {string} reason */
  cancelAll(reason) {
    for (const callId of [...this.#running.keys()]) this.cancel(callId, reason);
  }

  /** @param {Tool} tool */
  async #register(tool) {
    const { toolsPerAppMax } = this.#limits;
    if (this.#tools.size >= toolsPerAppMax && !this.#tools.has(tool.exposed)) {
      throw refusal("too-many-tools", `an app may register ${toolsPerAppMax} tools`);
    }
    await this.#line.ask({ type: "register_tool", tool: tool.text });
    this.#tools.set(tool.exposed, tool);
    this.tell("toolchange");
  }

  #restartQuiet() {
    forget(this.#quiet);
    if (document.readyState === "loading") return;
    this.#quiet = later(() => this.ready(), this.#limits.appReadyQuietMs);
  }
}

/**
 * @param {AppTool} source what the app gave
 * @param {string} exposed the name for the bridge
 * @param {unknown} parameters
 * @returns {Tool} Throws: a refusal where it is not JSON
 */
export function describe(source, exposed, parameters) {
  const { name, description } = source;
  try {
    const annotations = source.annotations?.destructiveHint === true ? DESTROYS : undefined;
    const text = stringify({ name: exposed, description, parameters, annotations });
    return { name, exposed, source, text };
  } catch {
    throw refusal("invalid-tool-declaration", "the declaration is not JSON");
  }
}
