/**
 * The last calls of a room, one column of numbers for each fact.
 *
 * All memory is taken at once: a call writes one slot, and what a call costs does not depend on how
 * many came before. It draws nothing and knows no clock but the relay's.
 */

import { bucketOf } from "./digest.js";
import { Names } from "./names.js";

/** @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame */

export const CALLS_MAX = 100_000;
const TOOLS_MAX = 1_000;
const CODES_MAX = 200;
/** A reconnect repeats the relay's history, which is no longer than this. */
const IDS_MAX = 2_000;
const OK = "";

export class CallRing {
  /** Of each slot: which tool, by its number in `tools`. */
  tool;
  /** Of each slot: which refusal, by its number in `codes`; 0 is a success. */
  code;
  /** Of each slot: milliseconds from the reading of the call to its outcome. */
  ms;
  /** Of each slot: the digest's bucket of `ms`. */
  bucket;
  /** Of each slot: milliseconds of those that were spent waiting for a place. */
  queuedMs;
  /** Of each slot: Unix time of the outcome in milliseconds. */
  at;
  /** `host name`; a host has no space. */
  tools = new Names(TOOLS_MAX, "none (others)");
  codes = new Names(CODES_MAX, "(others)");
  #next = 0;
  #count = 0;
  /** @type {Set<string>} */
  #ids = new Set();

  /** @param {number} [capacity] calls that are kept */
  constructor(capacity = CALLS_MAX) {
    this.tool = new Uint16Array(capacity);
    this.code = new Uint16Array(capacity);
    this.ms = new Float32Array(capacity);
    this.bucket = new Uint16Array(capacity);
    this.queuedMs = new Float32Array(capacity);
    this.at = new Float64Array(capacity);
    this.codes.numberOf(OK);
  }

  /** How many calls are kept. */
  get size() {
    return this.#count;
  }

  get capacity() {
    return this.ms.length;
  }

  /** Bytes of the columns, and how many texts are remembered beside them. */
  get footprint() {
    const columns = [this.tool, this.code, this.ms, this.bucket, this.queuedMs, this.at];
    return {
      bytes: columns.reduce((sum, { byteLength }) => sum + byteLength, 0),
      texts: this.tools.size + this.codes.size + this.#ids.size,
    };
  }

  /** @param {ToolFrame} frame in state `done` @returns {boolean} false when it is here already */
  add({ callId, name, host, ok, refused, durationMs, queuedMs, at }) {
    if (this.#ids.has(callId)) return false;
    this.#remember(callId);
    const slot = this.#next;
    this.tool[slot] = this.tools.numberOf(`${host} ${name}`);
    this.code[slot] = this.codes.numberOf(ok ? OK : refused || "(no code)");
    this.ms[slot] = Math.max(0, durationMs ?? 0);
    this.bucket[slot] = bucketOf(this.ms[slot] ?? 0);
    this.queuedMs[slot] = Math.max(0, queuedMs ?? 0);
    this.at[slot] = (at && Date.parse(at)) || Date.now();
    this.#next = (slot + 1) % this.capacity;
    this.#count = Math.min(this.#count + 1, this.capacity);
    return true;
  }

  /** Whether the call is known to have its outcome. @param {string} callId */
  has(callId) {
    return this.#ids.has(callId);
  }

  /** Unix time in ms of the earliest call that is kept; infinite without any. */
  get earliest() {
    return this.at
      .subarray(0, this.#count)
      .reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  }

  /** The slots of the newest `count` calls that `holds` takes, the newest first. @param {number} count @param {(slot: number) => boolean} holds */
  newest(count, holds) {
    const found = [];
    for (let back = 1; back <= this.#count && found.length < count; back += 1) {
      const slot = (this.#next - back + this.capacity) % this.capacity;
      if (holds(slot)) found.push(slot);
    }
    return found;
  }

  /** A call as words and numbers. @param {number} slot */
  call(slot) {
    return {
      ...toolOf(this.tools.text(this.tool[slot] ?? 0)),
      code: this.codes.text(this.code[slot] ?? 0),
      ms: this.ms[slot] ?? 0,
      queuedMs: this.queuedMs[slot] ?? 0,
      at: this.at[slot] ?? 0,
    };
  }

  /** @param {string} callId */
  #remember(callId) {
    this.#ids.add(callId);
    if (this.#ids.size <= IDS_MAX) return;
    const [oldest] = this.#ids;
    if (oldest !== undefined) this.#ids.delete(oldest);
  }
}

/** @param {string} text an entry of `tools` */
export function toolOf(text) {
  const space = text.indexOf(" ");
  return { host: text.slice(0, space), name: text.slice(space + 1) };
}
