/**
 * One socket to the relay: text is a message, binary is audio. Says hello first and comes back
 * with a growing pause after a break; a refused hello ends it. It knows no message by meaning.
 */

/**
 * @typedef {import("../protocol/messages.d.ts").Hello} Hello
 * @typedef {import("../protocol/messages.d.ts").LiveClientMessage
 *   | import("../protocol/messages.d.ts").WorkspaceClientMessage} ClientMessage
 * @typedef {{state: "connecting" | "open" | "closed"} | {state: "waiting", retryInMs: number}
 *   | {state: "refused", refused: string}} SocketStatus
 */

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
const REFUSED = 1008;

/** @param {number} attempt how many tries failed in a row, from 1 @param {number} chance 0 to 1 */
export function pauseMs(attempt, chance) {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return longest * (0.5 + chance / 2);
}

export class RelaySocket {
  #path;
  #hello;
  #onMessage;
  #onAudio;
  #onStatus;
  /** @type {WebSocket | undefined} */
  #socket;
  #attempt = 0;
  #retry = 0;

  /**
   * @param {{path: string, hello: () => Hello, onMessage: (message: any) => void,
   *   onAudio?: (pcm: ArrayBuffer) => void, onStatus: (status: SocketStatus) => void}} options
   *   `hello` is asked for again at each reconnect; messages are told apart by their `type`
   */
  constructor({ path, hello, onMessage, onAudio, onStatus }) {
    this.#path = path;
    this.#hello = hello;
    this.#onMessage = onMessage;
    this.#onAudio = onAudio;
    this.#onStatus = onStatus;
  }

  open() {
    clearTimeout(this.#retry);
    const socket = new WebSocket(location.origin.replace(/^http/, "ws") + this.#path);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = ({ data }) => this.#received(data);
    socket.onclose = ({ code, reason }) => this.#closed(socket, code, reason);
    this.#socket = socket;
    this.#onStatus({ state: "connecting" });
  }

  /** @param {ClientMessage} message @returns {boolean} whether it left */
  send(message) {
    return this.sendText(JSON.stringify(message));
  }

  /** @param {string} text one message, as JSON @returns {boolean} whether it left */
  sendText(text) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  /** Drops the frame when the socket is not open. @param {ArrayBuffer} pcm */
  sendAudio(pcm) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(pcm);
  }

  /** Ends it; no reconnect. */
  close() {
    clearTimeout(this.#retry);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(1000);
    this.#onStatus({ state: "closed" });
  }

  /** @param {WebSocket} socket */
  #opened(socket) {
    socket.send(JSON.stringify(this.#hello()));
    this.#onStatus({ state: "open" });
  }

  /** @param {string | ArrayBuffer} data */
  #received(data) {
    this.#attempt = 0;
    if (typeof data === "string") this.#onMessage(JSON.parse(data));
    else this.#onAudio?.(data);
  }

  /** @param {WebSocket} socket @param {number} code @param {string} reason */
  #closed(socket, code, reason) {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (code === REFUSED) {
      this.#onStatus({ state: "refused", refused: reason });
      return;
    }
    this.#attempt += 1;
    const retryInMs = pauseMs(this.#attempt, Math.random());
    this.#retry = setTimeout(() => this.open(), retryInMs);
    this.#onStatus({ state: "waiting", retryInMs });
  }
}
