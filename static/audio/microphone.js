/**
 * The person's microphone while it is wanted: which device, muted or not, its frames at the
 * relay's rate, and whether anything but dead silence comes from it.
 */

import { askForMicrophone, Capture, levelOf } from "./capture.js";

const SILENT_MS_MAX = 5_000;
const FRAME_MS = 20;

/**
 * @typedef {{frame: (pcm: ArrayBuffer) => void, level: (level: number) => void,
 *   lost: () => void, deaf: (deaf: boolean) => void}} MicrophoneListeners
 */

export class Microphone {
  #listeners;
  /** @type {MediaStream | undefined} */
  #stream;
  /** @type {Capture | undefined} */
  #capture;
  #rateHz = 0;
  #silentMs = 0;
  #deaf = false;
  #muted = false;

  /** @param {MicrophoneListeners} listeners */
  constructor(listeners) {
    this.#listeners = listeners;
  }

  get muted() {
    return this.#muted;
  }

  /** Muted, silence is sent: the relay must find the end of what was being said. */
  set muted(muted) {
    this.#muted = muted;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = !muted;
  }

  /**
   * Asks for it; an earlier one is let go. Throws: MicrophoneError.
   * @param {import("./capture.js").MicrophoneWishes} wishes
   * @param {() => boolean} wanted asked again once the person has answered
   */
  async open(wishes, wanted) {
    const stream = await askForMicrophone(wishes);
    this.release();
    if (!wanted()) return stopTracks(stream);
    this.#stream = stream;
    this.#silentMs = 0;
    this.#deaf = false;
    this.muted = this.#muted;
    for (const track of stream.getAudioTracks()) {
      track.addEventListener("ended", () => stream === this.#stream && this.#listeners.lost());
    }
    if (this.#rateHz) await this.tune(this.#rateHz);
  }

  /** @param {number} rateHz of the frames */
  async tune(rateHz) {
    this.#rateHz = rateHz;
    const stream = this.#stream;
    if (!stream || this.#capture?.rateHz === rateHz) return;
    this.#capture?.close();
    const capture = await Capture.open(stream, rateHz, (pcm) => this.#hear(pcm));
    if (stream === this.#stream) this.#capture = capture;
    else capture.close(); // let go, or another one, meanwhile
  }

  release() {
    this.#capture?.close();
    this.#capture = undefined;
    if (this.#stream) stopTracks(this.#stream);
    this.#stream = undefined;
    this.#listeners.level(0);
  }

  /** @param {ArrayBuffer} pcm */
  #hear(pcm) {
    const level = levelOf(pcm);
    this.#listeners.level(level);
    this.#silentMs = level === 0 && !this.#muted ? this.#silentMs + FRAME_MS : 0;
    const deaf = this.#silentMs >= SILENT_MS_MAX;
    if (deaf !== this.#deaf) this.#listeners.deaf(deaf);
    this.#deaf = deaf;
    this.#listeners.frame(pcm);
  }
}

/** @param {MediaStream} stream */
function stopTracks(stream) {
  for (const track of stream.getTracks()) track.stop();
}
