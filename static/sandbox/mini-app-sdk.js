/**
 * What a mini-app finds in its window: the WebMCP standard, `webMcp`, and a Storage in memory.
 *
 * The server joins this module with those that it imports into one script; the bridge puts it,
 * with the launch's nonce, before the app's first byte. All talk goes over one private port. The
 * app may replace any global later, so what touches the port is taken first and kept in closures:
 * the app never gets hold of the port or the nonce. Declarations and arguments are checked by the
 * bridge, not here.
 */

import { openChannel, refusal } from "./sdk/channel.js";
import { reportConsole } from "./sdk/console.js";
import { ModelContext, makeModelContext } from "./sdk/model-context.js";
import { listen, now } from "./sdk/primitives.js";
import { memoryStorage } from "./sdk/storage.js";
import { describe, Toolbox } from "./sdk/toolbox.js";

/**
 * @typedef {import("./sdk/toolbox.js").AppTool} AppTool
 * @typedef {import("./sdk/channel.js").AppMessage} AppMessage
 * @typedef {{nonce: string, linesBefore: number, limits: import("./sdk/toolbox.js").ToolboxLimits
 *   & import("./sdk/console.js").ConsoleLimits & {appStorageMaxUnits: number}}} Boot
 */

const INPUT_PAUSE_MS = 100;

/** @param {Boot} boot */
export function startSdk({ nonce, limits, linesBefore }) {
  document.currentScript?.remove(); // its text holds the nonce
  const channel = openChannel({ nonce, receive });
  const toolbox = new Toolbox(channel, limits);

  /** @param {AppMessage} message */
  function receive(message) {
    switch (message.type) {
      case "ping":
        return channel.send({ type: "pong", count: message.count, silenced: silenced() });
      case "call_tool":
        return void toolbox.run(message.callId, message.name, message.args);
      case "cancel_tool":
        return toolbox.cancel(message.callId, message.reason);
      case "close":
        toolbox.cancelAll("the app is being closed");
        channel.send({ type: "closed" });
        return channel.close();
      default: // a newer bridge may say more
    }
  }

  furnish(toolbox, makeModelContext({ toolbox, line: channel, limits }), limits.appStorageMaxUnits);
  reportInput(() => channel.send({ type: "user_input" }));
  const silenced = reportConsole(
    (level, text) => channel.send({ type: "app_console", level, text }),
    limits,
    linesBefore,
  );
  channel.knock();
}

/** Puts into the window what an app may use. @param {Toolbox} toolbox @param {ModelContext} context @param {number} storageMaxUnits */
function furnish(toolbox, context, storageMaxUnits) {
  const webMcp = Object.freeze({
    /** @param {AppTool} tool */
    async registerTool(tool) {
      if (typeof tool?.execute !== "function") {
        throw refusal("invalid-tool-declaration", "a tool needs an execute function");
      }
      await toolbox.enrol(describe(tool, tool.name, tool.parameters ?? tool.inputSchema));
    },
    ready: () => toolbox.ready(),
  });
  give(window, "webMcp", webMcp, false);
  give(window, "ModelContext", ModelContext, true);
  give(document, "modelContext", context, false);
  give(navigator, "modelContext", context, true);
  give(window, "localStorage", memoryStorage(storageMaxUnits), true);
  give(window, "sessionStorage", memoryStorage(storageMaxUnits), true);
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel"]) {
    // Closed by Connection-Allowlist where the browser knows it; elsewhere this is the next best
    Reflect.deleteProperty(window, name);
  }
}

/** @param {object} target @param {string} key @param {unknown} value @param {boolean} configurable */
function give(target, key, value, configurable) {
  Object.defineProperty(target, key, { value, configurable, enumerable: true, writable: false });
}

/** Tells of real clicks: isTrusted cannot be redefined, and only the SDK reaches the port. @param {() => void} tell */
function reportInput(tell) {
  let last = Number.NEGATIVE_INFINITY;
  const heard = (/** @type {PointerEvent} */ event) => {
    if (!event.isTrusted || now() - last < INPUT_PAUSE_MS) return;
    last = now();
    tell();
  };
  listen(window, "pointerdown", heard, true);
}
