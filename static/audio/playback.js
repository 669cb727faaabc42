/** The answer's sound: PCM16 in, loudspeaker out. Plays, and stops at once when told. */

export class Playback {
  #context;
  #node;
  #onLevel;

  /**
   * @param {number} rateHz @param {number} queueMaxMs
   * @param {(level: number) => void} onLevel loudness of what is heard, 0 to 1, twenty times a second
   */
  static async open(rateHz, queueMaxMs, onLevel) {
    const context = new AudioContext({ sampleRate: rateHz });
    await context.audioWorklet.addModule(new URL("./playback-worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "playback", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { queueMaxMs },
    });
    node.port.onmessage = ({ data }) => onLevel(data);
    node.connect(context.destination);
    // Without a gesture it stays suspended until there is one; closing before that rejects it
    context.resume().catch(() => {});
    return new Playback(context, node, rateHz, onLevel);
  }

  /** @param {AudioContext} context @param {AudioWorkletNode} node @param {number} rateHz @param {(level: number) => void} onLevel */
  constructor(context, node, rateHz, onLevel) {
    this.#context = context;
    this.#node = node;
    this.#onLevel = onLevel;
    this.rateHz = rateHz;
  }

  /** @param {ArrayBuffer} pcm given away */
  play(pcm) {
    if (this.#context.state === "suspended") this.#context.resume().catch(() => {});
    this.#node.port.postMessage(pcm, [pcm]);
  }

  flush() {
    this.#node.port.postMessage("flush");
  }

  close() {
    this.#node.port.onmessage = null;
    this.#onLevel(0);
    void this.#context.close();
  }
}
