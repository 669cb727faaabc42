/**
 * The apps of this page and the relay's workspace socket: registrations out, calls in, answers
 * back. After a reconnect every running app's tools are registered again.
 */

import { RelaySocket } from "../connection/socket.js";
import { RunningApp } from "./running-app.js";

const SETTLE_MS = 20;
/** What an app and a model hear of a call that was cancelled on the page. */
const BY_HAND = "the person at the page ended it";

/**
 * @typedef {import("../protocol/messages.d.ts").WorkspaceServerMessage} WorkspaceServerMessage
 * @typedef {import("../protocol/messages.d.ts").ToolsRegistered} ToolsRegistered
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {import("../protocol/messages.d.ts").CallTool} CallTool
 * @typedef {import("../connection/socket.js").SocketStatus} SocketStatus
 * @typedef {import("./frame.js").Launch} Launch
 * @typedef {import("../protocol/messages.d.ts").Artifact} Artifact
 * @typedef {{opened: (app: RunningApp) => void, changed: (app: RunningApp) => void,
 *   closed: (app: RunningApp) => void, console: (app: RunningApp) => void,
 *   revived: (app: RunningApp, culprit: RunningApp) => void, input: (app: RunningApp) => void,
 *   trouble: (app: RunningApp, sentence: string) => void, toolFrame: (frame: ToolFrame) => void,
 *   called: (call: CallTool, cancel: () => void) => void,
 *   launchWanted: (miniApp: Artifact) => void, closeWanted: (appId: string) => void,
 *   deleteWanted: (miniApp: Artifact) => void, listChanged: () => void,
 *   refused: (code: string, why: string) => void, status: (status: SocketStatus) => void}} RegistryListeners
 */

export class MiniAppRegistry {
  #listeners;
  #socket;
  /** @type {Map<string, RunningApp>} */
  #apps = new Map();
  /** Apps whose tools changed since the last registration. @type {Set<RunningApp>} */
  #changed = new Set();
  /** @type {string | undefined} */
  #workspaceId;
  #attached = false;

  /** @param {string} token @param {string} room @param {RegistryListeners} listeners */
  constructor(token, room, listeners) {
    this.#listeners = listeners;
    this.#socket = new RelaySocket({
      path: "/workspace",
      hello: () => ({
        type: "hello",
        token,
        room,
        ...(this.#workspaceId && { workspaceId: this.#workspaceId }),
      }),
      onMessage: (message) => this.#take(message),
      onStatus: (status) => this.#status(status),
    });
    this.#socket.open();
  }

  /** @returns {RunningApp[]} */
  get apps() {
    return [...this.#apps.values()];
  }

  /** Starts an app; one that runs under the same id is closed first. @param {Launch} launch */
  launch(launch) {
    const old = this.#apps.get(launch.appId);
    if (old) void this.close(old);
    const app = new RunningApp(launch, {
      answer: (answer) => this.#socket.sendText(resultText(answer)),
      tools: (changed) => this.#announceSoon(changed),
      state: (changed) => this.#stateChanged(changed),
      toolRefused: (from, name, why) =>
        this.#listeners.trouble(from, `tool ${name} refused: ${why}`),
      input: this.#listeners.input,
      console: this.#listeners.console,
    });
    this.#apps.set(app.appId, app);
    this.#listeners.opened(app);
    return app;
  }

  /** Closes an app for good, unless another launch took its place. @param {RunningApp} app */
  stop(app) {
    if (this.#apps.get(app.appId) !== app) return;
    const hung = app.silent;
    void this.close(app);
    if (hung) this.#revive(app);
  }

  /**
   * Apps can share a process, so that one which hangs or crashes takes others with it, and only
   * the end of them all ends the process: those are started again.
   * @param {RunningApp} culprit
   */
  #revive(culprit) {
    const dragged = this.apps.filter((app) => app !== culprit && app.silent);
    for (const app of dragged) void this.close(app);
    for (const { launch } of dragged) this.#listeners.revived(this.launch(launch), culprit);
  }

  /** @param {RunningApp} app */
  async close(app) {
    if (this.#apps.get(app.appId) === app) this.#apps.delete(app.appId);
    this.#changed.delete(app);
    const closing = app.close();
    this.#socket.send({ type: "app_closed", appId: app.appId });
    this.#listeners.closed(app);
    await closing;
  }

  /** @param {RunningApp} app */
  #announceSoon(app) {
    this.#listeners.changed(app);
    if (this.#changed.size === 0) setTimeout(() => this.#announce(), SETTLE_MS);
    this.#changed.add(app);
  }

  #announce() {
    for (const app of this.#changed) this.#register(app);
    this.#changed.clear();
  }

  /** @param {RunningApp} app */
  #register({ appId, title, tools, over }) {
    if (over || !this.#attached) return;
    this.#socket.send({ type: "register_tools", appId, title: title.slice(0, 256), tools });
  }

  /** @param {RunningApp} app */
  #stateChanged(app) {
    if (this.#apps.get(app.appId) !== app) return;
    this.#listeners.changed(app);
    if (app.state === "starting") return;
    const state = app.state === "lost" ? "stopped" : app.state;
    this.#socket.send({ type: "app_state", appId: app.appId, state });
    if (app.state === "lost") this.#revive(app);
  }

  /** @param {SocketStatus} status */
  #status(status) {
    if (status.state !== "open") this.#attached = false;
    this.#listeners.status(status);
  }

  /** @param {WorkspaceServerMessage} message */
  #take(message) {
    switch (message.type) {
      case "welcome":
        this.#workspaceId = message.workspaceId;
        this.#attached = true;
        for (const app of this.#apps.values()) if (app.tools.length > 0) this.#register(app);
        return;
      case "call_tool":
        return this.#call(message);
      case "cancel_tool":
        for (const app of this.#apps.values()) app.cancel(message.callId, message.reason);
        return;
      case "tools_registered":
        return this.#registered(message);
      case "tool":
        return this.#listeners.toolFrame(message);
      case "launch_app":
        return this.#listeners.launchWanted(message.miniApp);
      case "close_app":
        return this.#listeners.closeWanted(message.appId);
      case "confirm_delete":
        return this.#listeners.deleteWanted(message.miniApp);
      case "mini_app":
      case "mini_app_deleted":
      case "mini_apps_changed":
        return this.#listeners.listChanged();
      case "refused":
        return this.#listeners.refused(message.refused, message.why);
      default: // a newer relay may say more
    }
  }

  /** @param {CallTool} call */
  #call(call) {
    const app = this.#apps.get(call.appId);
    if (app) {
      this.#listeners.called(call, () => app.cancel(call.callId, BY_HAND));
      return app.call(call);
    }
    const refused = "mini-app-unreachable";
    const why = "the app does not run here";
    this.#socket.sendText(resultText({ callId: call.callId, ok: false, refused, why }));
  }

  /** @param {ToolsRegistered} outcome */
  #registered({ appId, rejected }) {
    const app = this.#apps.get(appId);
    for (const { name, why } of app ? rejected : []) {
      this.#listeners.trouble(/** @type {RunningApp} */ (app), `tool ${name} refused: ${why}`);
    }
  }
}

/**
 * The answer as one message. The result is JSON text that the bridge has checked, and stays
 * text: parsing it here would only cost time and a nesting limit.
 * @param {import("./running-app.js").CallAnswer} answer
 */
function resultText(answer) {
  if (!answer.ok) return JSON.stringify({ ...answer, type: "tool_result" });
  const callId = JSON.stringify(answer.callId);
  return `{"type":"tool_result","callId":${callId},"ok":true,"result":${answer.json}}`;
}
