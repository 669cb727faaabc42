/**
 * One launch of one app: starts it in an opaque frame, hands it one port, checks what crosses,
 * and ends it when it floods, reloads or goes away. Every call is answered exactly once.
 */

import { LineBudget } from "../line-budget.js";
import { appDocument } from "./app-document.js";
import { Breaker, weigh } from "./breaker.js";
import { Calls } from "./calls.js";
import { fromJson, isJson, utf8Length } from "./json.js";
import { Patience } from "./patience.js";
import { AppTools, nameOf } from "./tools.js";

/**
 * @typedef {import("./tools.js").Verdict} Verdict
 * @typedef {import("./tools.js").Contract} Contract
 * @typedef {{toolsPerAppMax: number, toolOutputMaxBytes: number, toolCallTimeoutMs: number,
 *   whyMaxChars: number, appMessagesPerSecondMax: number, appBytesPerSecondMax: number,
 *   appSilenceMaxMs: number, appStartMaxMs: number, appReadyQuietMs: number, appStorageMaxUnits: number,
 *   appConsoleLinesPerSecondMax: number, appConsoleLineMaxChars: number}} BridgeLimits
 * @typedef {{type: "load_app", appId: string, title: string, html: string, limits: BridgeLimits}} LoadApp
 * @typedef {{type: string, [key: string]: any}} Message
 */

/** What a window message counts: its data is not read before its sender is known. */
const WINDOW_MESSAGE_BYTES = 64;
/** What an app may say of its own call; every other code is somebody else's to say. */
const OF_THE_APP = new Set(["unknown-tool", "result-not-serialisable", "output-over-budget"]);

const LEVELS = new Set(["error", "warning", "uncaught"]);

export class Launch {
  #limits;
  #room;
  #load;
  #nonce = randomHex();
  #inner = document.createElement("iframe");
  #tools;
  #breaker;
  #calls = new Calls();
  #lines;
  /** The bridge's end of the app's port; it counts once the SDK has said the nonce on it. @type {MessagePort | undefined} */
  #port;
  #proven = false;
  #over = false;
  #patience;
  #dropped = 0;

  /** @param {Contract} contract @param {LoadApp} load @param {MessagePort} room */
  constructor(contract, load, room) {
    this.#limits = load.limits;
    this.#load = load;
    this.#room = room;
    this.#tools = new AppTools(contract, load.limits.toolsPerAppMax);
    this.#breaker = new Breaker(load.limits);
    this.#patience = new Patience(load.limits, () => this.#lose("its page was replaced"));
    this.#lines = new LineBudget(load.limits.appConsoleLinesPerSecondMax);
  }

  /** @param {string} sdk the SDK's text */
  start(sdk) {
    this.#room.onmessage = ({ data }) => this.#fromRoom(data);
    const inner = this.#inner;
    inner.id = "inner-app";
    inner.title = this.#load.title;
    inner.setAttribute("sandbox", "allow-scripts");
    inner.setAttribute("allow", "");
    inner.addEventListener("load", () => this.#loaded());
    inner.srcdoc = appDocument(sdk, this.#boot(sdk), this.#load.html);
    document.body.append(inner);
  }

  /** @param {string} sdk */
  #boot(sdk) {
    const { toolsPerAppMax, toolOutputMaxBytes, whyMaxChars } = this.#limits;
    const { appReadyQuietMs, appStorageMaxUnits } = this.#limits;
    const { appConsoleLinesPerSecondMax, appConsoleLineMaxChars } = this.#limits;
    const output = { toolOutputMaxBytes, whyMaxChars };
    const lines = { appConsoleLinesPerSecondMax, appConsoleLineMaxChars };
    const limits = { toolsPerAppMax, ...output, ...lines, appReadyQuietMs, appStorageMaxUnits };
    return { nonce: this.#nonce, limits, linesBefore: sdk.split("\n").length - 1 };
  }

  /** A window message that is not the room's: the app's first word, or noise. @param {MessageEvent} event */
  hear(event) {
    if (this.#over || !this.#within(WINDOW_MESSAGE_BYTES)) return;
    if (event.source !== this.#inner.contentWindow) return;
    const { data } = event;
    if (data?.type !== "mini_app_ready" || data.nonce !== this.#nonce) return;
    if (this.#port) this.#lose("its page was loaded again");
    else this.#handOver();
  }

  #handOver() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = (event) => this.#fromApp(event);
    port1.addEventListener("close", () => this.#lose("its page went away"));
    // Without the nonce: whoever else stands there by now can't prove to be the app
    this.#inner.contentWindow?.postMessage({ type: "mini_app_handshake" }, "*", [port2]);
    this.#patience.knocked();
  }

  /** After a load the app must answer: it may be another document, or none of ours. */
  #loaded() {
    this.#patience.loaded();
    this.#port?.postMessage({ type: "ping", count: 0 });
  }

  // ---- From the room ------------------------------------------------------------------------

  /** @param {Message} message */
  #fromRoom(message) {
    switch (message.type) {
      case "call_tool":
        return this.#call(message);
      case "cancel_tool":
        return this.#cancel(message.callId, message.reason);
      case "ping":
        return this.#port?.postMessage({ type: "ping", count: message.count });
      case "close_app":
        return this.#close();
      default:
        throw new Error(`unknown message of the room: ${message.type}`);
    }
  }

  /** @param {Message} call */
  #call({ callId, name, args, deadlineMs }) {
    if (this.#calls.has(callId)) return;
    if (!this.#proven || this.#over) {
      return this.#refuse(callId, "mini-app-unreachable", "the app is not connected");
    }
    const verdict = this.#tools.check(name, args);
    if (!verdict.ok) return this.#refuse(callId, verdict.refused, verdict.why);
    const ms = Math.min(deadlineMs, this.#limits.toolCallTimeoutMs);
    this.#calls.add(callId, ms, () => {
      this.#cancelInApp(callId, "timeout");
      this.#refuse(callId, "time-exceeded", `tool execution timed out after ${ms}ms`);
    });
    this.#port?.postMessage({ type: "call_tool", callId, name, args: verdict.value });
  }

  /** @param {string} callId @param {string} reason */
  #cancel(callId, reason) {
    if (!this.#calls.has(callId)) return;
    this.#cancelInApp(callId, reason);
    this.#refuse(callId, "cancelled", `the call was cancelled: ${reason}`);
  }

  /** @param {string} callId @param {string} reason */
  #cancelInApp(callId, reason) {
    this.#port?.postMessage({ type: "cancel_tool", callId, reason });
  }

  /** Ends politely: the app's signals abort first. */
  #close() {
    this.#refuseAll("the app was closed");
    if (!this.#proven || this.#over) this.#room.postMessage({ type: "closed" });
    else this.#port?.postMessage({ type: "close" });
  }

  // ---- From the app -------------------------------------------------------------------------

  /** @param {MessageEvent} event */
  #fromApp({ data, ports }) {
    for (const port of ports) port.close();
    if (this.#over || !this.#within(weigh(data))) return;
    if (!this.#proven) {
      this.#proven = data?.type === "attached" && data.nonce === this.#nonce;
      if (this.#proven) this.#patience.answered();
      return;
    }
    this.#patience.answered();
    switch (data?.type) {
      case "register_tool":
        return this.#register(data.requestId, data.tool);
      case "unregister_tool":
        if (this.#tools.remove(data.name)) this.#tellTools("tools_updated");
        return;
      case "check_arguments":
        return this.#answer(data.requestId, this.#tools.check(data.name, fromJson(data.args)));
      case "tool_result":
        return this.#result(data);
      case "app_ready":
        return this.#tellTools("app_ready");
      case "pong":
        return this.#pong(data);
      case "user_input":
      case "closed":
        return this.#room.postMessage({ type: data.type });
      case "app_console":
        return this.#line(data);
      default:
        this.#dropped += 1;
    }
  }

  /** @param {Message} pong */
  #pong({ count, silenced }) {
    const told = Number.isSafeInteger(silenced) && silenced > 0 ? silenced : 0;
    const lines = { silenced: this.#lines.silenced + told };
    this.#room.postMessage({ type: "pong", count, dropped: this.#dropped, ...lines });
  }

  /** @param {Message} line */
  #line({ level, text }) {
    if (!this.#lines.admits(performance.now()) || typeof text !== "string") return;
    const shown = text.slice(0, this.#limits.appConsoleLineMaxChars);
    const known = LEVELS.has(level) ? level : "error";
    this.#room.postMessage({ type: "app_console", level: known, text: shown });
  }

  /** @param {unknown} requestId @param {unknown} tool a declaration, as JSON text or as an object */
  #register(requestId, tool) {
    const verdict = this.#tools.admit(tool);
    if (verdict.ok) {
      this.#tellTools("tools_updated");
    } else {
      const { refused, why } = verdict;
      const name = this.#sentence(nameOf(tool));
      this.#room.postMessage({ type: "tool_refused", name, refused, why });
    }
    this.#answer(requestId, verdict);
  }

  /** @param {unknown} requestId @param {Verdict} verdict */
  #answer(requestId, verdict) {
    const rest = verdict.ok ? {} : { refused: verdict.refused, why: verdict.why };
    this.#port?.postMessage({ type: "answer", requestId, ok: verdict.ok, ...rest });
  }

  /** @param {Message} result */
  #result({ callId, ok, json, refused, why }) {
    if (!this.#calls.settle(callId)) {
      this.#dropped += 1;
    } else if (ok !== true) {
      const code = OF_THE_APP.has(refused) ? refused : "mini-app-tool-failed";
      this.#refuse(callId, code, this.#sentence(why));
    } else if (typeof json !== "string" || !isJson(json)) {
      this.#refuse(callId, "result-not-serialisable", "the result is not JSON");
    } else if (utf8Length(json) > this.#limits.toolOutputMaxBytes) {
      this.#refuse(callId, "output-over-budget", "output over budget (max 64KB)");
    } else {
      this.#room.postMessage({ type: "tool_result", callId, ok: true, json });
    }
  }

  // ---- Answers and ends -----------------------------------------------------------------------

  /** @param {string} callId @param {string} refused @param {string} why */
  #refuse(callId, refused, why) {
    this.#calls.settle(callId);
    this.#room.postMessage({ type: "tool_result", callId, ok: false, refused, why });
  }

  /** @param {string} why */
  #refuseAll(why) {
    for (const callId of this.#calls.ids) this.#refuse(callId, "mini-app-unreachable", why);
  }

  /** @param {"tools_updated" | "app_ready"} type */
  #tellTools(type) {
    this.#room.postMessage({ type, tools: this.#tools.list });
  }

  /** The channel is gone for good; a document that comes later gets none. @param {string} reason */
  #lose(reason) {
    if (this.#over) return;
    this.#end();
    this.#refuseAll(reason);
    this.#room.postMessage({ type: "app_lost", reason });
  }

  #end() {
    this.#over = true;
    this.#port?.close();
    this.#tools.clear();
  }

  /** Counts one message of `bytes`; ends an app that sends too much. @param {number} bytes */
  #within(bytes) {
    if (this.#breaker.admits(bytes, performance.now())) return true;
    this.#end();
    this.#inner.remove();
    this.#refuseAll("the app was stopped");
    this.#room.postMessage({ type: "app_stopped", reason: "too many messages" });
    return false;
  }

  /** @param {unknown} text */
  #sentence(text) {
    return typeof text === "string" ? text.slice(0, this.#limits.whyMaxChars) : "";
  }
}

function randomHex() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
