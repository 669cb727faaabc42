/**
 * The WebMCP standard, `document.modelContext`, for the app's own tools.
 *
 * Source: the W3C community group's WebMCP draft, with the methods that older drafts had.
 */

import { assign, Controller, parse, stringify } from "./primitives.js";
import { wordsOf } from "./result.js";
import { exposedName, plainSchema } from "./standard.js";
import { describe } from "./toolbox.js";

/**
 * @typedef {import("./toolbox.js").AppTool} AppTool
 * @typedef {import("./toolbox.js").Toolbox} Toolbox
 * @typedef {import("./toolbox.js").Line} Line
 */

const STANDARD_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const EVENTS = ["toolchange", "toolactivated", "toolcancel"];
const construction = Symbol("construction");

export class ModelContext extends EventTarget {
  /** @type {Toolbox} */
  #toolbox;
  /** @type {Line} */
  #line;
  /** @type {import("./result.js").ResultLimits} */
  #limits;
  /** Names in use by the standard's registrations → the name the bridge knows. @type {Map<string, string>} */
  #claimed = new Map();

  /** @param {symbol} [key] @param {any} [parts] */
  constructor(key, parts) {
    if (key !== construction) throw new TypeError("Illegal constructor");
    super();
    this.#toolbox = parts.toolbox;
    this.#line = parts.line;
    this.#limits = parts.limits;
  }

  /** @param {AppTool} tool @param {{signal?: AbortSignal, exposedTo?: string[]}} [options] */
  async registerTool(tool, { signal, exposedTo } = {}) {
    this.#checkStandard(tool, exposedTo);
    signal?.throwIfAborted();
    const exposed = exposedName(tool.name, this.#claimed.values());
    const described = describe(tool, exposed, plainSchema(tool.inputSchema ?? tool.parameters));
    this.#claimed.set(tool.name, exposed);
    try {
      await this.#toolbox.enrol(described);
    } catch (error) {
      this.#claimed.delete(tool.name);
      throw error;
    }
    if (signal?.aborted) this.unregisterTool(tool.name);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", () => this.unregisterTool(tool.name), { once: true });
  }

  async getTools() {
    return this.#toolbox.list.map(({ name, source }) => ({
      name,
      title: source.title ?? "",
      description: source.description,
      inputSchema: parse(stringify(source.inputSchema ?? source.parameters ?? {})),
      annotations: source.annotations ?? {},
      origin: "null",
      window,
    }));
  }

  /** @param {{name: string}} tool @param {object | string} input @param {{signal?: AbortSignal}} [options] */
  async executeTool(tool, input = {}, { signal } = {}) {
    signal?.throwIfAborted();
    const found = this.#toolbox.list.find(({ name }) => name === tool?.name);
    if (!found) throw new DOMException(`no tool ${tool?.name}`, "NotFoundError");
    const args = await this.#checked(found.exposed, input);
    const outcome = await this.#toolbox.execute(found, args, signal ?? new Controller().signal);
    signal?.throwIfAborted();
    if (!outcome.ok) throw new DOMException(outcome.why, "OperationError");
    return outcome.json;
  }

  /** @deprecated an AbortSignal does this now @param {string} name */
  unregisterTool(name) {
    this.#toolbox.withdraw(this.#claimed.get(name) ?? name);
    this.#claimed.delete(name);
  }

  /** @deprecated registerTool does this now @param {{tools?: AppTool[]}} context */
  async provideContext({ tools = [] } = {}) {
    this.clearContext();
    await Promise.all(tools.map((tool) => this.registerTool(tool)));
  }

  /** @deprecated an AbortSignal does this now */
  clearContext() {
    for (const { exposed } of this.#toolbox.list) this.#toolbox.withdraw(exposed);
    this.#claimed.clear();
  }

  /** @param {string} name @param {object | string} input @returns {Promise<object>} */
  async #checked(name, input) {
    try {
      const args = typeof input === "string" ? parse(input) : input;
      await this.#line.ask({ type: "check_arguments", name, args: stringify(args) });
      return args;
    } catch (error) {
      throw new DOMException(wordsOf(error, this.#limits), "DataError");
    }
  }

  /** @param {AppTool} tool @param {string[]} [exposedTo] */
  #checkStandard(tool, exposedTo) {
    if (typeof tool?.execute !== "function")
      throw new TypeError("a tool needs an execute function");
    if (exposedTo?.length) {
      throw new DOMException("tools of a mini-app are for the room only", "NotSupportedError");
    }
    if (typeof tool.name !== "string" || !STANDARD_NAME.test(tool.name)) {
      throw new DOMException("a tool needs a name of A-Z a-z 0-9 _ . -", "InvalidStateError");
    }
    if (this.#claimed.has(tool.name)) {
      throw new DOMException(`${tool.name} is registered already`, "InvalidStateError");
    }
    if (typeof tool.description !== "string" || tool.description === "") {
      throw new DOMException("a tool needs a description", "InvalidStateError");
    }
  }
}

/** The one context of this document. @param {{toolbox: Toolbox, line: Line, limits: object}} parts */
export function makeModelContext(parts) {
  const context = new ModelContext(construction, parts);
  for (const type of EVENTS) defineHandler(context, type);
  parts.toolbox.tell = (type, toolName) => {
    context.dispatchEvent(assign(new Event(type), toolName ? { toolName } : {}));
  };
  return context;
}

/** `context.ontoolchange = …`, as event handlers on the platform work. @param {ModelContext} context @param {string} type */
function defineHandler(context, type) {
  /** @type {EventListener | null} */
  let handler = null;
  Object.defineProperty(ModelContext.prototype, `on${type}`, {
    configurable: true,
    get: () => handler,
    set: (value) => {
      if (handler) context.removeEventListener(type, handler);
      handler = typeof value === "function" ? value : null;
      if (handler) context.addEventListener(type, handler);
    },
  });
}
