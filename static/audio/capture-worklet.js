/** Cuts the microphone into 20 ms frames of PCM16 and hands each to the page. */

const FRAME_MS = 20;

class CaptureProcessor extends AudioWorkletProcessor {
  #frame = new Int16Array((sampleRate * FRAME_MS) / 1000);
  #filled = 0;

  /** @param {Float32Array[][]} inputs */
  process([input]) {
    const samples = input?.[0];
    if (!samples) return true;
    for (const sample of samples) {
      const bounded = Math.max(-1, Math.min(1, sample));
      this.#frame[this.#filled] = Math.round(bounded * 32_767);
      this.#filled += 1;
      if (this.#filled === this.#frame.length) this.#send();
    }
    return true;
  }

  #send() {
    const { buffer } = this.#frame;
    this.#frame = new Int16Array(this.#frame.length);
    this.#filled = 0;
    this.port.postMessage(buffer, [buffer]);
  }
}

registerProcessor("capture", CaptureProcessor);
