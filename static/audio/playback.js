/** The answer's sound: PCM16 in, loudspeaker out. Plays, and stops at once when told. */

export class Playback {
  #context;
  #node;

  /** @param {number} rateHz @param {number} queueMaxMs */
  static async open(rateHz, queueMaxMs) {
    const context = new AudioContext({ sampleRate: rateHz });
    await context.audioWorklet.addModule(new URL("./playback-worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "playback", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { queueMaxMs },
    });
    node.connect(context.destination);
    void context.resume(); // without a gesture it stays suspended until there is one
    return new Playback(context, node, rateHz);
  }

  /** @param {AudioContext} context @param {AudioWorkletNode} node @param {number} rateHz */
  constructor(context, node, rateHz) {
    this.#context = context;
    this.#node = node;
    this.rateHz = rateHz;
  }

  /** @param {ArrayBuffer} pcm given away */
  play(pcm) {
    if (this.#context.state === "suspended") void this.#context.resume();
    this.#node.port.postMessage(pcm, [pcm]);
  }

  flush() {
    this.#node.port.postMessage("flush");
  }

  close() {
    void this.#context.close();
  }
}
