// What an AudioWorklet's own global scope offers and TypeScript's `dom` library leaves out.

declare const currentFrame: number;
declare const currentTime: number;
declare const sampleRate: number;

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

interface AudioWorkletProcessorConstructor {
  new (
    options: AudioWorkletNodeOptions,
  ): AudioWorkletProcessor & {
    process(
      inputs: readonly (readonly Float32Array[])[],
      outputs: readonly (readonly Float32Array[])[],
      parameters: Readonly<Record<string, Float32Array>>,
    ): boolean;
  };
}

declare function registerProcessor(name: string, make: AudioWorkletProcessorConstructor): void;
