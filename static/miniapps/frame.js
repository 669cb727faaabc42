/**
 * The outer frame of one launch: makes it, proves it, hands it the app and one port.
 *
 * Only messages with this page's exact origin from exactly this frame's window count. It knows
 * neither tools nor the relay; what the bridge says goes to `onMessage`.
 */

import { LIMITS } from "../protocol/limits.js";

const BRIDGE = "/mini-app-bridge.html";

/**
 * @typedef {import("../protocol/messages.d.ts").JsonValue} JsonValue
 * @typedef {{appId: string, title: string, html: string}} Launch
 * @typedef {{name: string, description: string, parameters: JsonValue,
 *   annotations?: {destructiveHint: true}}} ToolDeclaration
 * @typedef {{type: "tools_updated" | "app_ready", tools: ToolDeclaration[]}
 *   | {type: "tool_refused", name: string, refused: string, why: string}
 *   | {type: "tool_result", callId: string, ok: true, json: string}
 *   | {type: "tool_result", callId: string, ok: false, refused: string, why: string}
 *   | {type: "pong", count: number, dropped: number, silenced: number}
 *   | {type: "user_input"}
 *   | {type: "app_console", level: import("./app-console.js").Level, text: string}
 *   | {type: "app_lost" | "app_stopped", reason: string} | {type: "closed"}} BridgeMessage
 * @typedef {{type: "call_tool", callId: string, name: string, args: unknown, deadlineMs: number}
 *   | {type: "cancel_tool", callId: string, reason: string}
 *   | {type: "ping", count: number} | {type: "close_app"}} RoomMessage
 */

export class MiniAppFrame {
  #launch;
  #onMessage;
  #listening = new AbortController();
  #port = new MessageChannel();

  /** @param {Launch} launch @param {(message: BridgeMessage) => void} onMessage */
  constructor(launch, onMessage) {
    this.#launch = launch;
    this.#onMessage = onMessage;
    this.element = document.createElement("iframe");
    this.element.className = "mini-app-outer-frame";
    this.element.title = launch.title;
    this.element.src = `${BRIDGE}?appId=${encodeURIComponent(launch.appId)}`;
    const { signal } = this.#listening;
    window.addEventListener("message", (event) => this.#handOver(event), { signal });
  }

  /** @param {RoomMessage} message */
  send(message) {
    this.#port.port1.postMessage(message);
  }

  /** Whether `source` is this frame, the app in it, or a frame of the app's. @param {Window} source */
  holds(source) {
    const outer = this.element.contentWindow;
    for (let at = source; at !== at.parent; at = at.parent) {
      if (at === outer) return true;
    }
    return false;
  }

  remove() {
    this.#listening.abort();
    this.#port.port1.close();
    this.element.remove();
  }

  /** @param {MessageEvent} event */
  #handOver({ source, origin, data }) {
    if (source !== this.element.contentWindow || origin !== location.origin) return;
    if (data?.type !== "bridge_ready") return;
    this.#listening.abort();
    const { port1, port2 } = this.#port;
    port1.onmessage = (message) => this.#onMessage(message.data);
    const load = { type: "load_app", ...this.#launch, limits: LIMITS };
    this.element.contentWindow?.postMessage(load, location.origin, [port2]);
  }
}
