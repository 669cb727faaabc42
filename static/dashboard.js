/** The dashboard page: makes each part once and connects them. It decides nothing itself. */

import { RelaySocket } from "./connection/socket.js";
import { takeToken } from "./connection/token.js";
import { Board } from "./dashboard/board.js";
import { openCharts } from "./dashboard/charts.js";
import { Controls } from "./dashboard/controls.js";
import { openParts } from "./dashboard/parts.js";
import { ConnectionLine } from "./ui/connection.js";
import { byId } from "./ui/element.js";

/** @typedef {import("./protocol/messages.d.ts").FramesServerMessage} FramesServerMessage */

const HISTORY = 1_000;
const CLOCK_MS = 1_000;

const div = HTMLElement;
const line = new ConnectionLine(byId("connection", div));
const controls = new Controls((view) => board.show(view));
const drawParts = openParts(() => board.drawSoon());
const drawCharts = openCharts({
  rate: byId("rate-chart", div),
  times: byId("times-chart", div),
  histogram: byId("histogram-chart", div),
});
const board = new Board(controls.view, (picture) => {
  controls.offerSeen(picture.ring);
  drawParts(picture);
  drawCharts(picture);
});
const token = takeToken();
const room = new URLSearchParams(location.search).get("room") ?? "main";

board.drawSoon();
setInterval(() => document.hidden || board.drawSoon(), CLOCK_MS); // time passes without calls too
if (token) follow(token);
else line.show({ state: "refused", refused: "no token: open the link that the relay printed" });

/** @param {string} key the token */
function follow(key) {
  let wasOpen = false;
  const socket = new RelaySocket({
    path: "/frames",
    hello: () => ({ type: "hello", token: key, room, last: HISTORY }),
    onMessage: take,
    onStatus: (status) => {
      line.show(status);
      if (status.state === "open") board.interruptions.end(Date.now());
      else if (wasOpen) board.interrupt();
      wasOpen ||= status.state === "open";
    },
  });
  socket.open();
}

/** @param {FramesServerMessage} message */
function take(message) {
  switch (message.type) {
    case "tool":
      return board.count(message);
    case "dropped":
      board.interruptions.lost += message.count;
      return board.drawSoon();
    case "refused":
      return line.show({ state: "refused", refused: message.refused });
    default: // a newer relay may say more
  }
}
