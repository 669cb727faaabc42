/**
 * One conversation on /live: the microphone and typed turns up, sound and messages down.
 *
 * It opens the socket when the person first speaks or types and sends no audio before the relay
 * is ready. It knows no element of the page.
 */

import { MicrophoneError } from "../audio/capture.js";
import { Microphone } from "../audio/microphone.js";
import { Playback } from "../audio/playback.js";
import { LIMITS } from "../protocol/limits.js";
import { RelaySocket } from "./socket.js";
import { TalkEdges } from "./talk-edges.js";

/**
 * @typedef {import("../protocol/messages.d.ts").LiveServerMessage} LiveServerMessage
 * @typedef {import("../protocol/messages.d.ts").Rate} Rate
 * @typedef {import("../protocol/messages.d.ts").State} State
 * @typedef {import("../audio/capture.js").MicrophoneTrouble} MicrophoneTrouble
 * @typedef {"Off" | "Connecting" | "Listening" | "Thinking" | "Speaking" | "Muted" | "Can't hear you"} Word
 * @typedef {{word: (word: Word) => void, heard: (level: number) => void, spoken: (level: number) => void,
 *   message: (message: LiveServerMessage) => void, trouble: (trouble: MicrophoneTrouble) => void,
 *   refused: (code: string) => void, opened: () => void}} VoiceListeners
 *   heard and spoken: how loud the microphone and the answer are, 0 to 1; opened: the person let the page have a microphone
 */

const WAITING_TURNS_MAX = 8;

export class Voice {
  #listeners;
  #socket;
  #phase = /** @type {"closed" | "connecting" | "ready"} */ ("closed");
  #doing = /** @type {"Listening" | "Thinking" | "Speaking"} */ ("Listening");
  #wanted = false;
  #deaf = false;
  #microphone;
  #edges;
  #byHand = false;
  /** @type {Playback | undefined} */
  #playback;
  /** Typed turns that wait for `ready`. @type {string[]} */
  #waiting = [];
  /** Messages in their order: opening audio for one takes time. */
  #work = Promise.resolve();

  /** Whether the answer's own sound is taken out of the microphone's. */
  cancelEcho = true;
  /** The microphone that is wished for; "" is the browser's choice. */
  deviceId = "";

  /** @param {string} token @param {string} room @param {VoiceListeners} listeners */
  constructor(token, room, listeners) {
    this.#listeners = listeners;
    this.#edges = new TalkEdges(
      (kind) => this.#socket.send({ type: "activity", kind }),
      () => this.#tell(),
    );
    this.#microphone = new Microphone({
      frame: (pcm) => this.#hear(pcm),
      level: (level) => listeners.heard(level),
      lost: () => this.#lose("lost"),
      deaf: (deaf) => {
        this.#deaf = deaf;
        this.#tell();
      },
    });
    this.#socket = new RelaySocket({
      path: "/live",
      hello: () => ({ type: "hello", token, room, echoCancellation: this.cancelEcho }),
      onMessage: (message) => this.#inTurn(() => this.#take(message)),
      onAudio: (pcm) => this.#inTurn(async () => this.#playback?.play(pcm)),
      onStatus: (status) => this.#status(status),
    });
  }

  /** Whether the person wants to be heard. */
  get wanted() {
    return this.#wanted;
  }

  /** Whether what is said now reaches the relay. */
  get heard() {
    return this.#wanted && (this.#byHand ? this.#edges.held : !this.muted);
  }

  /** Whether the microphone is silenced although the conversation goes on. */
  get muted() {
    return this.#microphone.muted;
  }

  set muted(muted) {
    this.#microphone.muted = muted;
    this.#tell();
  }

  /** Whether the person says where speech starts and ends. */
  get byHand() {
    return this.#byHand;
  }

  /** A conversation that was once told an edge goes by edges alone, so it ends here. */
  set byHand(byHand) {
    if (byHand === this.#byHand) return;
    this.#byHand = byHand;
    this.muted = false;
    if (this.#phase !== "closed") this.stop();
  }

  /** Push-to-talk: speech starts, with a conversation where there is none. */
  press() {
    this.#edges.press();
    if (!this.#wanted) void this.start();
  }

  /** Push-to-talk: speech ends. */
  release() {
    this.#edges.release();
  }

  /** Asks for the microphone and opens the conversation. */
  async start() {
    this.#wanted = true;
    this.#deaf = false;
    this.#tell();
    try {
      await this.#microphone.open(this, () => this.#wanted);
      this.#listeners.opened();
      if (this.#wanted) this.#connect();
    } catch (error) {
      if (!(error instanceof MicrophoneError)) throw error;
      this.#lose(error.trouble);
    }
  }

  /** Ends the conversation and lets go of the microphone. */
  stop() {
    this.#wanted = false;
    this.#deaf = false;
    this.#microphone.muted = false;
    this.#socket.send({ type: "stop" });
    this.#socket.close();
    this.#playback?.flush();
    this.#microphone.release();
    this.#tell();
  }

  /** @param {string} text */
  say(text) {
    if (this.#phase === "ready") {
      this.#socket.send({ type: "text", text });
      return;
    }
    if (this.#waiting.length < WAITING_TURNS_MAX) this.#waiting.push(text);
    this.#connect();
  }

  #connect() {
    if (this.#phase !== "closed") return;
    this.#phase = "connecting";
    this.#tell();
    this.#socket.open();
  }

  /** @param {MicrophoneTrouble} trouble */
  #lose(trouble) {
    this.#wanted = false;
    this.#deaf = true;
    this.#microphone.release();
    this.#listeners.trouble(trouble);
    this.#tell();
  }

  /** @param {ArrayBuffer} pcm */
  #hear(pcm) {
    if (this.#phase !== "ready") return;
    if (!this.#byHand || this.#edges.open) this.#socket.sendAudio(pcm);
  }

  /** @param {import("./socket.js").SocketStatus} status */
  #status(status) {
    if (status.state === "open") return;
    this.#phase = status.state === "closed" || status.state === "refused" ? "closed" : "connecting";
    this.#doing = "Listening";
    this.#edges.forget();
    if (status.state === "refused") {
      this.#listeners.refused(status.refused);
      this.#wanted = false;
      this.#microphone.release();
    }
    this.#tell();
  }

  /** @param {() => Promise<void>} step */
  #inTurn(step) {
    this.#work = this.#work.then(step).catch((error) => reportError(error));
  }

  /** @param {LiveServerMessage} message */
  async #take(message) {
    if (message.type === "rate") await this.#tune(message);
    else if (message.type === "state") this.#become(message);
    else if (message.type === "flush") this.#playback?.flush();
    this.#listeners.message(message);
  }

  /** @param {Rate} rate */
  async #tune({ inputRate, outputRate }) {
    if (this.#playback?.rateHz !== outputRate) {
      this.#playback?.close();
      this.#playback = await Playback.open(outputRate, LIMITS.playoutQueueMaxMs, (level) =>
        this.#listeners.spoken(level),
      );
    }
    await this.#microphone.tune(inputRate);
  }

  /** @param {State} message */
  #become({ state }) {
    switch (state) {
      case "ready":
      case "resumed":
        this.#phase = "ready";
        for (const text of this.#waiting.splice(0)) this.say(text);
        break;
      case "connecting":
      case "reconnecting":
        this.#phase = "connecting";
        break;
      case "thinking":
        this.#doing = "Thinking";
        break;
      case "speaking":
        this.#doing = "Speaking";
        break;
      case "listening":
      case "interrupted":
      case "turn-complete":
        this.#doing = "Listening";
        break;
      case "go-away":
        return;
      case "closed":
        return this.stop();
      default:
        throw new Error(`unknown state ${/** @type {never} */ (state)}`);
    }
    this.#edges.ready(this.#byHand && this.#phase === "ready");
    this.#tell();
  }

  #tell() {
    this.#listeners.word(this.#word());
  }

  /** @returns {Word} */
  #word() {
    if (this.#deaf) return "Can't hear you";
    if (this.#phase === "connecting" || (this.#wanted && this.#phase === "closed"))
      return "Connecting";
    if (this.#phase === "closed") return "Off";
    if (this.#doing !== "Listening" || this.heard) return this.#doing;
    return this.#wanted && this.muted ? "Muted" : "Off";
  }
}
