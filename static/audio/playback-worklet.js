/** Plays PCM16 as it comes, in order; silence between, and at once after a flush. Tells how loud. */

import { Loudness } from "./loudness.js";
import { SampleQueue } from "./sample-queue.js";

class PlaybackProcessor extends AudioWorkletProcessor {
  #queue;
  #loudness = new Loudness(sampleRate);

  /** @param {AudioWorkletNodeOptions} options `queueMaxMs` among the processor's */
  constructor({ processorOptions }) {
    super();
    this.#queue = new SampleQueue((sampleRate * processorOptions.queueMaxMs) / 1000);
    this.port.onmessage = ({ data }) => {
      if (data === "flush") this.#queue.clear();
      else this.#queue.push(new Int16Array(data));
    };
  }

  /** @param {Float32Array[][]} _inputs @param {Float32Array[][]} outputs */
  process(_inputs, [output]) {
    const channel = output?.[0];
    if (!channel) return true;
    this.#queue.fill(channel);
    const level = this.#loudness.pass(channel);
    if (level !== undefined) this.port.postMessage(level);
    return true;
  }
}

registerProcessor("playback", PlaybackProcessor);
