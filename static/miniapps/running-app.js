/**
 * One launched app: its frame, its tools, its calls, and how it is doing.
 *
 * Every call that enters is answered exactly once, also when the app ends. It knows neither the
 * relay's socket nor how an app is drawn.
 */

import { LIMITS } from "../protocol/limits.js";
import { AppConsole } from "./app-console.js";
import { MiniAppFrame } from "./frame.js";
import { Watchdog } from "./watchdog.js";

const FAREWELL_MS = 250;

/**
 * @typedef {import("./frame.js").BridgeMessage} BridgeMessage
 * @typedef {import("./frame.js").ToolDeclaration} ToolDeclaration
 * @typedef {import("../protocol/messages.d.ts").CallTool} CallTool
 * @typedef {{callId: string, ok: true, json: string}
 *   | {callId: string, ok: false, refused: string, why: string}} CallAnswer
 * @typedef {"starting" | "running" | "not-responding" | "lost" | "stopped"} AppState
 * @typedef {{answer: (answer: CallAnswer) => void, tools: (app: RunningApp) => void,
 *   state: (app: RunningApp) => void, toolRefused: (app: RunningApp, name: string, why: string) => void,
 *   input: (app: RunningApp) => void, console: (app: RunningApp) => void}} AppListeners
 */

export class RunningApp {
  #listeners;
  #watchdog;
  /** @type {Set<string>} */
  #pending = new Set();
  #farewell = () => {};

  /** @type {ToolDeclaration[]} */
  tools = [];
  /** @type {AppState} */
  state = "starting";
  /** Why it stopped or was lost; a sentence. */
  reason = "";
  /** Late, foreign and unknown messages of the app. */
  dropped = 0;
  console = new AppConsole(LIMITS.appConsoleLinesMax);

  /** @param {import("./frame.js").Launch} launch @param {AppListeners} listeners */
  constructor(launch, listeners) {
    this.launch = launch;
    this.appId = launch.appId;
    this.title = launch.title;
    this.#listeners = listeners;
    this.frame = new MiniAppFrame(launch, (message) => this.#take(message));
    this.#watchdog = new Watchdog({
      ping: (count) => this.frame.send({ type: "ping", count }),
      onChange: (alive) => this.#become(alive ? "running" : "not-responding"),
      limits: LIMITS,
    });
  }

  get over() {
    return this.state === "stopped" || this.state === "lost";
  }

  /** Whether it answers no ping: it hangs, or shares a process with an app that does. */
  get silent() {
    return !this.over && this.#watchdog.silentMs > LIMITS.appPingIntervalMs;
  }

  /** @param {CallTool} call */
  call({ callId, name, args, deadlineMs }) {
    if (this.#pending.has(callId)) return;
    this.#pending.add(callId);
    if (this.over) {
      this.#answer({
        callId,
        ok: false,
        refused: "mini-app-unreachable",
        why: "the app has ended",
      });
      return;
    }
    this.frame.send({ type: "call_tool", callId, name, args, deadlineMs });
  }

  /** @param {string} callId @param {string} reason @returns {boolean} whether the call was here */
  cancel(callId, reason) {
    if (!this.#pending.has(callId)) return false;
    this.frame.send({ type: "cancel_tool", callId, reason });
    return true;
  }

  /** Ends the app; its signals abort first, where it still answers. */
  async close() {
    if (!this.over) {
      const told = new Promise((resolve) => {
        this.#farewell = () => resolve(undefined);
        setTimeout(resolve, FAREWELL_MS);
      });
      this.frame.send({ type: "close_app" });
      this.#end("stopped", "closed");
      await told;
    }
    this.frame.remove();
  }

  /** Ends the app at once. @param {string} reason */
  stop(reason) {
    this.#end("stopped", reason);
    this.frame.remove();
  }

  /** @param {BridgeMessage} message */
  #take(message) {
    if (this.over && message.type !== "closed") return; // it was on its way when the app ended
    switch (message.type) {
      case "tool_result":
        return this.#answer(message);
      case "tools_updated":
      case "app_ready":
        return this.#retool(message.tools);
      case "tool_refused":
        return this.#listeners.toolRefused(this, message.name, message.why);
      case "pong":
        this.dropped = message.dropped;
        this.#watchdog.heard();
        if (this.console.silence(message.silenced)) this.#listeners.console(this);
        return this.#become("running");
      case "user_input":
        return this.#listeners.input(this);
      case "app_console":
        this.console.add(message.level, message.text);
        return this.#listeners.console(this);
      case "app_lost":
        return this.#end("lost", message.reason);
      case "app_stopped":
        return this.stop(message.reason);
      case "closed":
        return this.#farewell();
      default:
        throw new Error(`unknown message of the bridge: ${JSON.stringify(message)}`);
    }
  }

  /** @param {ToolDeclaration[]} tools */
  #retool(tools) {
    this.tools = tools;
    this.#watchdog.heard();
    this.#become("running");
    this.#listeners.tools(this);
  }

  /** @param {CallAnswer} answer */
  #answer(answer) {
    if (this.#pending.delete(answer.callId)) this.#listeners.answer(answer);
  }

  /** @param {AppState} state */
  #become(state) {
    if (this.over || state === this.state) return;
    this.state = state;
    this.#listeners.state(this);
  }

  /** @param {"stopped" | "lost"} state @param {string} reason */
  #end(state, reason) {
    if (this.over) return;
    this.#watchdog.stop();
    this.reason = reason;
    this.tools = [];
    this.#become(state);
    for (const callId of [...this.#pending]) {
      const why = `the app has ended: ${reason}`;
      this.#answer({ callId, ok: false, refused: "mini-app-unreachable", why });
    }
  }
}
