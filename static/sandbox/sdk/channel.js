/** The private port to the bridge: given once, never within the app's reach. */

import {
  assign,
  closePort,
  eventData,
  eventPorts,
  eventSource,
  listen,
  post,
  startPort,
  stopEvent,
} from "./primitives.js";

/** @typedef {{type: string, [key: string]: any}} AppMessage */

/** A refusal as an error for the app. @param {string} refused the code @param {string} why */
export function refusal(refused, why) {
  return assign(new TypeError(`${refused}: ${why}`), { refused, why });
}

/**
 * Waits for the bridge's handshake; what is sent before it leaves after it.
 * @param {{nonce: string, receive: (message: AppMessage) => void}} options
 */
export function openChannel({ nonce, receive }) {
  const bridge = window.parent;
  /** @type {MessagePort | undefined} */
  let port;
  /** @type {AppMessage[]} */
  let outbox = [];
  /** @type {Map<number, {resolve: () => void, reject: (error: Error) => void}>} */
  const requests = new Map();
  let lastRequest = 0;

  /** @param {AppMessage} message */
  function send(message) {
    if (port) post(port, message);
    else outbox[outbox.length] = message;
  }

  /** @param {AppMessage} message @returns {Promise<void>} resolves when the bridge agrees */
  function ask(message) {
    lastRequest += 1;
    const requestId = lastRequest;
    return new Promise((resolve, reject) => {
      requests.set(requestId, { resolve, reject });
      send({ ...message, requestId });
    });
  }

  /** @param {AppMessage} message */
  function take(message) {
    if (message.type !== "answer") return receive(message);
    const request = requests.get(message.requestId);
    requests.delete(message.requestId);
    if (message.ok) request?.resolve();
    else request?.reject(refusal(message.refused, message.why));
  }

  /** @param {MessagePort} given */
  function attach(given) {
    port = given;
    listen(given, "message", (/** @type {MessageEvent} */ event) => take(eventData(event)));
    startPort(given);
    post(given, { type: "attached", nonce });
    for (let i = 0; i < outbox.length; i += 1) post(given, outbox[i]);
    outbox = [];
  }

  /** @param {MessageEvent} event */
  function handshake(event) {
    if (port || eventSource(event) !== bridge) return;
    if (eventData(event)?.type !== "mini_app_handshake") return;
    stopEvent(event);
    attach(eventPorts(event)[0]);
  }
  listen(window, "message", handshake, true); // capturing, so that no listener of the app is earlier

  return {
    send,
    ask,
    /** Says that the SDK runs; the bridge answers with the port. */
    knock: () => bridge.postMessage({ type: "mini_app_ready", nonce }, "*"),
    close: () => port && closePort(port),
  };
}
