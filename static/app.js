/** The room page: makes each part once and connects them. It draws and decides nothing itself. */

import { Api, wordsOf } from "./connection/api.js";
import { forgetToken, takeToken } from "./connection/token.js";
import { AppDesk } from "./miniapps/desk.js";
import { weakerHere } from "./miniapps/guarantees.js";
import { PageList } from "./miniapps/page-list.js";
import { Tray } from "./miniapps/tray.js";
import { openAgain } from "./ui/again.js";
import { ConnectionLine } from "./ui/connection.js";
import { byId } from "./ui/element.js";
import { Sheet } from "./ui/sheet.js";
import { ShelfList } from "./ui/shelf.js";
import { Stage } from "./ui/stage.js";
import { Toasts } from "./ui/toasts.js";
import { ToolLog } from "./ui/tool-log.js";
import { NO_TOKEN, TOKEN_REFUSED } from "./ui/words.js";
import { openVoice } from "./voice-desk.js";

const div = HTMLElement;
const button = HTMLButtonElement;
const toasts = new Toasts(byId("toasts", div), byId("messages", div), byId("messages-count", div));
const line = new ConnectionLine(byId("connection", div));
const token = takeToken();
const roomName = new URLSearchParams(location.search).get("room") ?? "main";

if (token) openRoom(token);
else {
  line.show({ state: "refused", refused: "no token" });
  toasts.warn(NO_TOKEN);
}

/** @param {string} key the token */
function openRoom(key) {
  const api = new Api(key);
  /** @type {import("./ui/try-it.js").Call} */
  const call = async (name, args, signal) => {
    const outcome = await api.call({ name, args, room: roomName }, signal);
    if (outcome.callId) log.know(outcome.callId, { args });
    return outcome;
  };
  const shelf = new ShelfList(byId("shelf", div), byId("shelf-empty", div), {
    call,
    look: async () => (await api.shelf()).worker,
  });
  const desk = openDesk(key, api, {
    toolFrame: (frame) => {
      log.show(frame);
      shelf.count(frame);
    },
    called: ({ callId, args }, cancel) => log.know(callId, { args, cancel }),
  });
  const log = openLog(
    (id) => desk.titleOf(id),
    (past) => void runAgain(api, past, call),
  );
  openVoice({ key, roomName, log, toasts });
  showGuarantees();
  void desk.list();
  void listShelf(api, shelf);
}

/** @param {(appId: string) => string | undefined} titleOf @param {(past: import("./ui/again.js").PastCall) => void} again */
function openLog(titleOf, again) {
  const log = new ToolLog(byId("tool-log", div), byId("log-empty", div), { titleOf, again });
  byId("log-filter", HTMLInputElement).addEventListener("input", ({ target }) =>
    log.filter(/** @type {HTMLInputElement} */ (target).value),
  );
  return log;
}

/** @param {Api} api @param {import("./ui/again.js").PastCall} past @param {import("./ui/try-it.js").Call} call */
async function runAgain(api, past, call) {
  try {
    if (openAgain(past, await api.tools(roomName), call)) return;
    toasts.warn(`Nothing offers ${past.name} now. Launch its app, then run it again.`);
  } catch (error) {
    toasts.warn(`The list of tools did not load: ${wordsOf(error)}`);
  }
}

/** @param {Api} api @param {ShelfList} shelf */
async function listShelf(api, shelf) {
  try {
    const [found, declared] = await Promise.all([api.shelf(), api.tools(roomName)]);
    shelf.fill(found, declared);
  } catch (error) {
    toasts.warn(`The shelf did not load: ${wordsOf(error)}`);
  }
}

/**
 * @param {string} key @param {Api} api
 * @param {Pick<import("./miniapps/desk.js").DeskListeners, "toolFrame" | "called">} calls
 */
function openDesk(key, api, calls) {
  const sheet = new Sheet(byId("apps", div), byId("apps-handle", button), byId("apps-body", div));
  const behind = ["tray", "pages", "tool-calls"].map((id) => byId(id, div));
  const stage = new Stage(byId("mini-app-container", div), byId("stage-empty", div), behind, {
    stop: (app) => desk.stop(app),
    restart: (app) => desk.restart(app),
    leave: (app) => tray.focus(app.appId),
    counted: (running, added) => {
      byId("apps-note", div).textContent = running > 0 ? `${running} open` : "";
      if (added) sheet.open();
    },
  });
  const tray = new Tray(byId("tray", div), {
    press: (miniApp) => desk.press(miniApp),
    source: (miniApp) => void desk.source(miniApp),
    remove: (miniApp) => desk.ask(miniApp),
  });
  const pages = new PageList(byId("pages", div), byId("page-list", div), byId("pages-count", div), {
    open: (page) => desk.open(page),
    save: (page) => void desk.save(page),
    source: (page) => void desk.source(page),
    remove: (page) => desk.ask(page),
  });
  const parts = { api, stage, tray, pages, toasts };
  const desk = new AppDesk(key, roomName, parts, {
    ...calls,
    status: (status) => {
      line.show(status);
      if (status.state === "refused") tokenRefused(status.refused);
    },
  });
  return desk;
}

/** Says what this browser does not enforce for apps. */
function showGuarantees() {
  const weaker = byId("weaker", div);
  weaker.textContent = weakerHere(/** @type {any} */ (navigator));
  weaker.hidden = weaker.textContent === "";
}

/** @param {string} code */
function tokenRefused(code) {
  forgetToken();
  toasts.warn(`${TOKEN_REFUSED} (${code})`);
}
