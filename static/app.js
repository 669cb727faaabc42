/** The room page: makes each part once and connects them. It draws and decides nothing itself. */

import { Api } from "./connection/api.js";
import { forgetToken, takeToken } from "./connection/token.js";
import { AppDesk } from "./miniapps/desk.js";
import { weakerHere } from "./miniapps/guarantees.js";
import { PageList } from "./miniapps/page-list.js";
import { Tray } from "./miniapps/tray.js";
import { ConnectionLine } from "./ui/connection.js";
import { byId } from "./ui/element.js";
import { ShelfList } from "./ui/shelf.js";
import { Stage } from "./ui/stage.js";
import { Toasts } from "./ui/toasts.js";
import { ToolLog } from "./ui/tool-log.js";
import { NO_TOKEN, TOKEN_REFUSED } from "./ui/words.js";
import { openVoice } from "./voice-desk.js";

const div = HTMLElement;
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
  const shelf = new ShelfList(byId("shelf", div), byId("shelf-empty", div), (name, args) =>
    api.call({ name, args, room: roomName }),
  );
  const desk = openDesk(key, api, (frame) => {
    log.show(frame);
    shelf.count(frame);
  });
  const log = new ToolLog(byId("tool-log", div), byId("log-empty", div), (id) => desk.titleOf(id));
  byId("log-filter", HTMLInputElement).addEventListener("input", ({ target }) =>
    log.filter(/** @type {HTMLInputElement} */ (target).value),
  );
  openVoice({ key, roomName, log, toasts });
  showGuarantees();
  void desk.list();
  void listShelf(api, shelf);
}

/** @param {Api} api @param {ShelfList} shelf */
async function listShelf(api, shelf) {
  try {
    const [tools, declared] = await Promise.all([api.shelf(), api.tools(roomName)]);
    shelf.fill(tools, declared);
  } catch (error) {
    toasts.warn(`The shelf did not load: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {string} key @param {Api} api @param {(frame: import("./protocol/messages.d.ts").ToolFrame) => void} toolFrame */
function openDesk(key, api, toolFrame) {
  const stage = new Stage(byId("mini-app-container", div), byId("stage-empty", div), {
    stop: (app) => desk.stop(app),
    restart: (app) => desk.restart(app),
    leave: (app) => tray.focus(app.appId),
  });
  const tray = new Tray(byId("tray", div), {
    press: (miniApp) => desk.press(miniApp),
    remove: (miniApp) => desk.ask(miniApp),
  });
  const pages = new PageList(byId("pages", div), byId("page-list", div), byId("pages-count", div), {
    open: (page) => desk.open(page),
    save: (page) => void desk.save(page),
    remove: (page) => desk.ask(page),
  });
  const parts = { api, stage, tray, pages, toasts };
  const desk = new AppDesk(key, roomName, parts, {
    toolFrame,
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
