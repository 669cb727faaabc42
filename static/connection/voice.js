/**
 * One conversation on /live: the microphone and typed turns up, sound and messages down.
 *
 * It opens the socket when the person first speaks or types and sends no audio before the relay
 * is ready. It knows no element of the page.
 */

import { askForMicrophone, Capture, levelOf, MicrophoneError } from "../audio/capture.js";
import { Playback } from "../audio/playback.js";
import { LIMITS } from "../protocol/limits.js";
import { RelaySocket } from "./socket.js";

/**
 * @typedef {import("../protocol/messages.d.ts").LiveServerMessage} LiveServerMessage
 * @typedef {import("../protocol/messages.d.ts").Rate} Rate
 * @typedef {import("../protocol/messages.d.ts").State} State
 * @typedef {import("../audio/capture.js").MicrophoneTrouble} MicrophoneTrouble
 * @typedef {"Off" | "Connecting" | "Listening" | "Thinking" | "Speaking" | "Can't hear you"} Word
 * @typedef {{word: (word: Word) => void, level: (level: number) => void,
 *   message: (message: LiveServerMessage) => void, trouble: (trouble: MicrophoneTrouble) => void,
 *   refused: (code: string) => void}} VoiceListeners
 */

const SILENT_MS_MAX = 5_000;
const FRAME_MS = 20;
const WAITING_TURNS_MAX = 8;

export class Voice {
  #listeners;
  #socket;
  #phase = /** @type {"closed" | "connecting" | "ready"} */ ("closed");
  #doing = /** @type {"Listening" | "Thinking" | "Speaking"} */ ("Listening");
  #wanted = false;
  #deaf = false;
  #silentMs = 0;
  #inputRateHz = 0;
  /** @type {MediaStream | undefined} */
  #stream;
  /** @type {Capture | undefined} */
  #capture;
  /** @type {Playback | undefined} */
  #playback;
  /** Typed turns that wait for `ready`. @type {string[]} */
  #waiting = [];
  /** Messages in their order: opening audio for one takes time. */
  #work = Promise.resolve();

  /** Whether the answer's own sound is taken out of the microphone's. */
  cancelEcho = true;

  /** @param {string} token @param {string} room @param {VoiceListeners} listeners */
  constructor(token, room, listeners) {
    this.#listeners = listeners;
    this.#socket = new RelaySocket({
      path: "/live",
      hello: () => ({ type: "hello", token, room }),
      onMessage: (message) => this.#inTurn(() => this.#take(message)),
      onAudio: (pcm) => this.#inTurn(async () => this.#playback?.play(pcm)),
      onStatus: (status) => this.#status(status),
    });
  }

  /** Whether the person wants to be heard. */
  get wanted() {
    return this.#wanted;
  }

  /** Asks for the microphone and opens the conversation. */
  async start() {
    this.#wanted = true;
    this.#deaf = false;
    this.#tell();
    try {
      await this.#openMicrophone();
    } catch (error) {
      if (!(error instanceof MicrophoneError)) throw error;
      this.#lose(error.trouble);
    }
  }

  /** Ends the conversation and lets go of the microphone. */
  stop() {
    this.#wanted = false;
    this.#deaf = false;
    this.#socket.send({ type: "stop" });
    this.#socket.close();
    this.#playback?.flush();
    this.#releaseMicrophone();
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

  async #openMicrophone() {
    const stream = await askForMicrophone(this.cancelEcho);
    this.#releaseMicrophone(); // of an earlier start
    this.#stream = stream;
    if (!this.#wanted) return this.#releaseMicrophone(); // stopped while the question stood
    for (const track of stream.getAudioTracks()) {
      track.addEventListener("ended", () => this.#lose("lost"));
    }
    if (this.#playback) await this.#listen(this.#inputRateHz);
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
    this.#releaseMicrophone();
    this.#listeners.trouble(trouble);
    this.#tell();
  }

  #releaseMicrophone() {
    this.#capture?.close();
    this.#capture = undefined;
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = undefined;
    this.#listeners.level(0);
  }

  /** @param {number} rateHz */
  async #listen(rateHz) {
    if (!this.#stream || this.#capture?.rateHz === rateHz) return;
    this.#capture?.close();
    this.#capture = await Capture.open(this.#stream, rateHz, (pcm) => this.#hear(pcm));
    if (!this.#stream) this.#releaseMicrophone();
  }

  /** @param {ArrayBuffer} pcm */
  #hear(pcm) {
    const level = levelOf(pcm);
    this.#listeners.level(level);
    this.#silentMs = level === 0 ? this.#silentMs + FRAME_MS : 0;
    const deaf = this.#silentMs >= SILENT_MS_MAX;
    if (deaf !== this.#deaf) {
      this.#deaf = deaf;
      this.#tell();
    }
    if (this.#phase === "ready") this.#socket.sendAudio(pcm);
  }

  /** @param {import("./socket.js").SocketStatus} status */
  #status(status) {
    if (status.state === "open") return;
    this.#phase = status.state === "closed" || status.state === "refused" ? "closed" : "connecting";
    this.#doing = "Listening";
    if (status.state === "refused") {
      this.#listeners.refused(status.refused);
      this.#wanted = false;
      this.#releaseMicrophone();
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
    this.#inputRateHz = inputRate;
    if (this.#playback?.rateHz !== outputRate) {
      this.#playback?.close();
      this.#playback = await Playback.open(outputRate, LIMITS.playoutQueueMaxMs);
    }
    await this.#listen(inputRate);
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
    return this.#doing === "Listening" && !this.#wanted ? "Off" : this.#doing;
  }
}
