/** What the SDK needs of the platform, taken before the app can replace it. */

export const { apply } = Reflect;

/** @param {Function} method @returns {(self: any, ...args: any[]) => any} */
const uncurry =
  (method) =>
  (self, ...args) =>
    apply(method, self, args);
/** @param {object} prototype @param {string} key */
const getter = (prototype, key) =>
  uncurry(/** @type {any} */ (Object.getOwnPropertyDescriptor(prototype, key)).get);

export const { assign } = Object;
export const { parse, stringify } = JSON;
export const later = window.setTimeout.bind(window);
export const forget = window.clearTimeout.bind(window);
export const now = performance.now.bind(performance);
export const Controller = AbortController;

export const post = uncurry(MessagePort.prototype.postMessage);
export const startPort = uncurry(MessagePort.prototype.start);
export const closePort = uncurry(MessagePort.prototype.close);
export const listen = uncurry(EventTarget.prototype.addEventListener);
export const stopEvent = uncurry(Event.prototype.stopImmediatePropagation);
export const encode = uncurry(TextEncoder.prototype.encode).bind(null, new TextEncoder());
export const classOf = uncurry(Object.prototype.toString);
export const eventData = getter(MessageEvent.prototype, "data");
export const eventPorts = getter(MessageEvent.prototype, "ports");
export const eventSource = getter(MessageEvent.prototype, "source");
