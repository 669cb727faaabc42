/** The dashboard: tool frames of a room as figures, a time series and a live list. */

import { RelaySocket } from "./connection/socket.js";
import { takeToken } from "./connection/token.js";
import { Board } from "./ui/board.js";
import { ConnectionLine } from "./ui/connection.js";
import { byId } from "./ui/element.js";
import { drawFigures, drawRefusals, drawSlowest } from "./ui/figures.js";
import { TimeSeries } from "./ui/time-series.js";
import { ToolLog } from "./ui/tool-log.js";

/** @typedef {import("./protocol/messages.d.ts").FramesServerMessage} FramesServerMessage */

const HISTORY = 1_000;

const div = HTMLElement;
const line = new ConnectionLine(byId("connection", div));
const log = new ToolLog(byId("tool-log", div), byId("log-empty", div), () => undefined);
const [chart] = document.getElementsByTagName("svg");
const series = chart && new TimeSeries(chart, byId("series-words", div));
const tables = {
  figures: byId("figures-rows", HTMLTableSectionElement),
  refusals: byId("refusals-rows", HTMLTableSectionElement),
  slowest: byId("slowest-rows", HTMLTableSectionElement),
};
const board = new Board((calls) => {
  byId("figures-empty", div).hidden = calls.length > 0;
  byId("board", div).hidden = calls.length === 0;
  byId("refusals", div).hidden = calls.every(({ ok }) => ok);
  drawFigures(calls, tables.figures);
  drawRefusals(calls, tables.refusals);
  drawSlowest(calls, tables.slowest);
  series?.draw(calls);
});
/** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".wide")).forEach((section) => {
  section.tabIndex = 0; // it scrolls where the screen is narrow
});
let lost = 0;
const token = takeToken();
const room = new URLSearchParams(location.search).get("room") ?? "main";

followFilter();
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

/** Keeps the filter in the address, so that a link to what is seen can be given away. */
function followFilter() {
  const field = byId("filter", HTMLInputElement);
  const apply = () => {
    log.filter(field.value);
    board.filter(field.value);
  };
  field.value = new URLSearchParams(location.search).get("filter") ?? "";
  field.addEventListener("input", () => {
    const address = new URL(location.href);
    if (field.value) address.searchParams.set("filter", field.value);
    else address.searchParams.delete("filter");
    history.replaceState(history.state, "", address);
    apply();
  });
  apply();
}

/** @param {FramesServerMessage} message */
function take(message) {
  switch (message.type) {
    case "tool":
      log.show(message);
      return board.count(message);
    case "dropped":
      return tellLost(message.count);
    case "refused":
      return line.show({ state: "refused", refused: message.refused });
    default: // a newer relay may say more
  }
}

/** @param {number} count */
function tellLost(count) {
  lost += count;
  const words = byId("lost", div);
  words.textContent = `${lost} frames came too fast for this page and are not counted.`;
  words.hidden = false;
}
