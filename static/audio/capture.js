/** The microphone as 20 ms PCM16 frames at the relay's rate. */

/**
 * @typedef {"refused" | "no-device" | "busy" | "insecure" | "lost"} MicrophoneTrouble
 * @typedef {{cancelEcho: boolean, deviceId: string}} MicrophoneWishes
 *   cancelEcho: false takes the sound as it is, for headphones; deviceId: "" is the browser's choice
 */

export class MicrophoneError extends Error {
  /** @param {MicrophoneTrouble} trouble */
  constructor(trouble) {
    super(`microphone: ${trouble}`);
    this.name = "MicrophoneError";
    this.trouble = trouble;
  }
}

/** @type {Record<string, MicrophoneTrouble>} */
const TROUBLES = {
  NotAllowedError: "refused",
  SecurityError: "refused",
  NotFoundError: "no-device",
  OverconstrainedError: "no-device",
  NotReadableError: "busy",
  AbortError: "busy",
};

/**
 * Asks for the microphone. Throws: MicrophoneError.
 * @param {MicrophoneWishes} wishes
 * @returns {Promise<MediaStream>}
 */
export async function askForMicrophone({ cancelEcho, deviceId }) {
  if (!navigator.mediaDevices) throw new MicrophoneError("insecure");
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        ...(deviceId && { deviceId }), // wished for, not demanded: it may be unplugged
        channelCount: 1,
        echoCancellation: cancelEcho,
        noiseSuppression: false, // it is made for ears; recognisers hear better without it
        autoGainControl: cancelEcho,
      },
    });
  } catch (error) {
    throw new MicrophoneError(TROUBLES[/** @type {Error} */ (error).name] ?? "no-device");
  }
}

export class Capture {
  #context;
  /** @type {(pcm: ArrayBuffer) => void} */
  #onFrame;

  /**
   * @param {MediaStream} stream stays the caller's
   * @param {number} rateHz
   * @param {(pcm: ArrayBuffer) => void} onFrame
   */
  static async open(stream, rateHz, onFrame) {
    const context = new AudioContext({ sampleRate: rateHz });
    const capture = new Capture(context, rateHz, onFrame);
    await context.audioWorklet.addModule(new URL("./capture-worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => capture.#onFrame(data);
    context.createMediaStreamSource(stream).connect(node);
    // Chromium may leave that promise open although the context runs; closing then rejects it
    context.resume().catch(() => {});
    return capture;
  }

  /** @param {AudioContext} context @param {number} rateHz @param {(pcm: ArrayBuffer) => void} onFrame */
  constructor(context, rateHz, onFrame) {
    this.#context = context;
    this.#onFrame = onFrame;
    this.rateHz = rateHz;
  }

  /** What is still on its way from the worklet is dropped. */
  close() {
    this.#onFrame = () => undefined;
    void this.#context.close();
  }
}

/** Loudness of a frame, 0 to 1. @param {ArrayBuffer} pcm */
export function levelOf(pcm) {
  const samples = new Int16Array(pcm);
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length) / 32_768;
}
