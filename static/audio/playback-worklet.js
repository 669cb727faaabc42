/** Plays PCM16 as it comes, in order; silence between, and at once after a flush. */

import { SampleQueue } from "./sample-queue.js";

class PlaybackProcessor extends AudioWorkletProcessor {
  #queue;

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
    if (channel) this.#queue.fill(channel);
    return true;
  }
}

registerProcessor("playback", PlaybackProcessor);
