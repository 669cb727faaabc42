/** Whether the relay is there, in one line. */

/** @typedef {import("../connection/socket.js").SocketStatus} SocketStatus */

export class ConnectionLine {
  #line;
  #countdown = 0;

  /** @param {HTMLElement} line */
  constructor(line) {
    this.#line = line;
  }

  /** @param {SocketStatus} status */
  show(status) {
    clearInterval(this.#countdown);
    this.#line.dataset.state = status.state;
    switch (status.state) {
      case "connecting":
        return this.#say("Connecting to the relay");
      case "open":
        return this.#say("Connected");
      case "closed":
        return this.#say("Disconnected");
      case "refused":
        return this.#say(`Refused: ${status.refused}`);
      case "waiting":
        return this.#count(performance.now() + status.retryInMs);
      default:
        throw new Error(`unknown status ${/** @type {never} */ (status)}`);
    }
  }

  /** @param {number} until */
  #count(until) {
    const show = () => {
      const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      this.#say(`Relay not reachable, trying again in ${seconds} s`);
    };
    show();
    this.#countdown = setInterval(show, 500);
  }

  /** @param {string} text */
  #say(text) {
    if (this.#line.textContent !== text) this.#line.textContent = text;
  }
}
