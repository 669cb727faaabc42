/**
 * The border between the room and one mini-app. One bridge page lives for one launch.
 *
 * The server writes this module and those that it imports into the bridge's page, because that
 * page may load nothing. It knows neither the relay nor the person; it keeps no secret and writes
 * no markup but the app's.
 *
 * Room → bridge (window, once): `load_app` with a port. Then on that port: `call_tool`,
 * `cancel_tool`, `ping`, `close_app`. Bridge → room: `tools_updated`, `app_ready`, `tool_refused`,
 * `tool_result`, `pong`, `user_input`, `app_console`, `app_lost`, `app_stopped`, `closed`.
 */

import { Launch } from "./bridge/launch.js";

/**
 * Waits for the room's one `load_app` and starts that app.
 * @param {import("./bridge/tools.js").Contract} contract
 * @param {string} sdk the SDK's text
 */
export function startBridge(contract, sdk) {
  const room = window.parent;
  // In an opaque frame self.origin is "null" while location.origin is still the room's
  if (room === window || self.origin !== location.origin) {
    document.body.append(paragraph("This page runs mini-apps inside the Voicebox room."));
    return;
  }
  /** @type {Launch | undefined} */
  let launch;
  window.addEventListener("message", (event) => {
    if (event.source !== room || event.origin !== location.origin) {
      launch?.hear(event);
      return;
    }
    const [port] = event.ports;
    if (launch || event.data?.type !== "load_app" || !port) return;
    launch = new Launch(contract, event.data, port);
    launch.start(sdk);
  });
  room.postMessage({ type: "bridge_ready" }, location.origin);
}

/** @param {string} text */
function paragraph(text) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}
