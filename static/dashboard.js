/** The dashboard: tool frames of a room as a live list, and figures for each tool. */

import { RelaySocket } from "./connection/socket.js";
import { takeToken } from "./connection/token.js";
import { ConnectionLine } from "./ui/connection.js";
import { byId } from "./ui/element.js";
import { Figures } from "./ui/figures.js";
import { ToolLog } from "./ui/tool-log.js";

/** @typedef {import("./protocol/messages.d.ts").FramesServerMessage} FramesServerMessage */

const HISTORY = 200;

const line = new ConnectionLine(byId("connection", HTMLElement));
const log = new ToolLog(
  byId("tool-log", HTMLElement),
  byId("log-empty", HTMLElement),
  () => undefined,
);
const figures = new Figures(
  byId("figures", HTMLTableElement),
  byId("figures-rows", HTMLTableSectionElement),
  byId("figures-empty", HTMLElement),
);
const token = takeToken();
const room = new URLSearchParams(location.search).get("room") ?? "main";

if (token) follow(token);
else line.show({ state: "refused", refused: "no token: open the link that the relay printed" });

/** @param {string} key the token */
function follow(key) {
  const socket = new RelaySocket({
    path: "/frames",
    hello: () => ({ type: "hello", token: key, room, last: HISTORY }),
    onMessage: take,
    onStatus: (status) => line.show(status),
  });
  socket.open();
}

/** @param {FramesServerMessage} message */
function take(message) {
  switch (message.type) {
    case "tool":
      log.show(message);
      return figures.count(message);
    case "dropped":
      return figures.lost(message.count);
    case "refused":
      return line.show({ state: "refused", refused: message.refused });
    default: // a newer relay may say more
  }
}
