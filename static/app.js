/** The room page: makes each part once and connects them. It draws and decides nothing itself. */

import { Api, ApiRefusal } from "./connection/api.js";
import { forgetToken, takeToken } from "./connection/token.js";
import { Voice } from "./connection/voice.js";
import { watchAmbientMessages } from "./miniapps/ambient.js";
import { FocusGuard } from "./miniapps/focus-guard.js";
import { weakerHere } from "./miniapps/guarantees.js";
import { MiniAppRegistry } from "./miniapps/registry.js";
import { Tray } from "./miniapps/tray.js";
import { LIMITS } from "./protocol/limits.js";
import { Captions } from "./ui/captions.js";
import { ConnectionLine } from "./ui/connection.js";
import { byId } from "./ui/element.js";
import { MicrophoneControl } from "./ui/microphone.js";
import { Stage } from "./ui/stage.js";
import { Toasts } from "./ui/toasts.js";
import { ToolLog } from "./ui/tool-log.js";
import { MICROPHONE_TROUBLES } from "./ui/words.js";

/**
 * @typedef {import("./miniapps/running-app.js").RunningApp} RunningApp
 * @typedef {import("./connection/api.js").MiniApp} MiniApp
 * @typedef {import("./protocol/messages.d.ts").LiveServerMessage} LiveServerMessage
 */

const div = HTMLElement;
const toasts = new Toasts(byId("toasts", div), byId("messages", div), byId("messages-count", div));
const line = new ConnectionLine(byId("connection", div));
const token = takeToken();
const roomName = new URLSearchParams(location.search).get("room") ?? "main";

if (token) openRoom(token);
else {
  line.show({ state: "refused", refused: "no token" });
  toasts.warn("This page needs the link that the relay printed at its start: it holds the token.");
}

/** @param {string} key the token */
function openRoom(key) {
  const api = new Api(key);
  const stage = new Stage(byId("mini-app-container", div), byId("stage-empty", div), {
    stop: (app) => stop(app),
    restart: (app) => restart(app),
  });
  const tray = new Tray(byId("tray", div), (miniApp) => void press(miniApp));
  const captions = new Captions(byId("captions", div), byId("captions-empty", div));
  const log = new ToolLog(byId("tool-log", div), byId("log-empty", div), titleOf);
  const microphone = new MicrophoneControl(
    byId("mic", HTMLButtonElement),
    byId("mic-state", div),
    byId("mic-hint", div),
    () => (voice.wanted ? voice.stop() : void voice.start()),
  );
  const registry = new MiniAppRegistry(key, roomName, {
    opened: (app) => {
      stage.add(app);
      mark(app);
    },
    changed: (app) => appChanged(app),
    closed: (app) => {
      stage.remove(app);
      tray.mark(app.appId, { running: false, note: "" });
    },
    input: (app) => guard.clicked(app),
    trouble: (app, sentence) => toasts.tell(`${app.title}: ${sentence}`),
    toolFrame: (frame) => log.show(frame),
    refused: (code, why) => toasts.warn(`${code}: ${why}`),
    status: (status) => {
      line.show(status);
      if (status.state === "refused") tokenRefused(status.refused);
    },
  });
  const guard = new FocusGuard({
    apps: () => registry.apps,
    limits: LIMITS,
    onSteals: (app) => {
      const action = { label: `Stop ${app.title}`, run: () => stop(app) };
      toasts.warn(`${app.title} keeps taking the keyboard.`, action);
    },
  });
  watchAmbientMessages({ apps: () => registry.apps, messagesMax: LIMITS.appMessagesPerSecondMax });
  const voice = new Voice(key, roomName, {
    word: (word) => microphone.show(word, voice?.wanted ?? false),
    level: (level) => microphone.level(level),
    message: (message) => liveMessage(message),
    trouble: (trouble) => toasts.warn(MICROPHONE_TROUBLES[trouble]),
    refused: (code) => toasts.warn(`The relay refused the conversation: ${code}.`),
  });
  say(voice);
  void fillTray();

  async function fillTray() {
    try {
      tray.fill(await api.miniApps());
    } catch (error) {
      toasts.warn(`The list of apps did not load: ${wordsOf(error)}`);
    }
    const weaker = byId("weaker", div);
    weaker.textContent = weakerHere(/** @type {any} */ (navigator));
    weaker.hidden = weaker.textContent === "";
  }

  /** @param {MiniApp} miniApp */
  async function press(miniApp) {
    const running = registry.apps.find(({ appId }) => appId === miniApp.appId);
    if (running) return stop(running);
    try {
      const { appId, title, html } = await api.miniApp(miniApp.appId);
      guard.allow(registry.launch({ appId, title, html }));
    } catch (error) {
      toasts.warn(`${miniApp.title} could not be launched: ${wordsOf(error)}`);
    }
  }

  /** @param {RunningApp} app */
  function stop(app) {
    for (const { title } of registry.stop(app)) {
      toasts.tell(`${title} was started again: it hung together with ${app.title}.`);
    }
  }

  /** @param {RunningApp} app */
  function restart(app) {
    guard.allow(registry.launch(app.launch));
  }

  /** @param {RunningApp} app */
  function appChanged(app) {
    stage.show(app);
    mark(app);
    if (app.state === "lost") toasts.warn(`${app.title} lost its connection: ${app.reason}`);
    if (app.state === "stopped") toasts.warn(`${app.title} stopped: ${app.reason}`);
    if (app.state === "not-responding") {
      const action = { label: `Stop ${app.title}`, run: () => stop(app) };
      toasts.warn(`${app.title} is not responding.`, action);
    }
  }

  /** @param {RunningApp} app */
  function mark(app) {
    const names = app.tools.map(({ name }) => name).join(", ");
    tray.mark(app.appId, { running: true, note: names && `Tools: ${names}` });
  }

  /** @param {string} appId */
  function titleOf(appId) {
    return registry.apps.find((app) => app.appId === appId)?.title;
  }

  /** @param {LiveServerMessage} message */
  function liveMessage(message) {
    switch (message.type) {
      case "text":
        return captions.show(message);
      case "tool":
        return log.show(message);
      case "state":
        if (message.state === "interrupted") captions.interrupted(message.turnId ?? "");
        if (message.state === "closed" && message.code !== 1000) {
          toasts.warn(`The conversation ended: ${message.reason ?? message.code}`);
        }
        return;
      case "error":
        return toasts.warn(`${message.message} (${message.code})`);
      case "refused":
        return toasts.warn(`${message.why} (${message.refused})`);
      case "rate":
      case "flush":
      case "tools":
        return;
      default: // a newer relay may say more
    }
  }
}

/** @param {Voice} voice */
function say(voice) {
  const form = byId("say", HTMLFormElement);
  const field = byId("say-text", HTMLInputElement);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text) voice.say(text);
    field.value = "";
  });
}

/** @param {string} code */
function tokenRefused(code) {
  forgetToken();
  toasts.warn(`The relay refused this page (${code}). Open the link that it printed at its start.`);
}

/** @param {unknown} error */
function wordsOf(error) {
  if (error instanceof ApiRefusal) return `${error.message} (${error.refused})`;
  return error instanceof Error ? error.message : String(error);
}
