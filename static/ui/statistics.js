/** Figures of calls, from the calls alone: percentiles, refusals by code, slowest, over time. */

/**
 * @typedef {import("../protocol/messages.d.ts").ToolFrame} ToolFrame
 * @typedef {{callId: string, name: string, host: string, ok: boolean, code: string, ms: number,
 *   queuedMs: number, at: number}} Call a call whose outcome stands; `at` is Unix time in ms
 * @typedef {{name: string, host: string, calls: number, refused: number, p50: number, p95: number,
 *   p99: number, slowest: number, queued: number}} ToolFigures milliseconds; `queued` is the p95
 * @typedef {{calls: number, refused: number}} Bin
 */

/** @param {ToolFrame} frame in state `done` @returns {Call} */
export function callOf({ callId, name, host, ok, refused, durationMs, queuedMs, at }) {
  return {
    callId,
    name,
    host,
    ok: ok ?? false,
    code: refused ?? "",
    ms: durationMs ?? 0,
    queuedMs: queuedMs ?? 0,
    at: at ? Date.parse(at) : Date.now(),
  };
}

/** The value below which `share` of the sorted values lie. @param {ArrayLike<number>} sorted @param {number} share */
export function percentile(sorted, share) {
  const index = Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1);
  return sorted[Math.max(0, index)] ?? 0;
}

/** One row for each tool and host, the most called first. @param {readonly Call[]} calls @returns {ToolFigures[]} */
export function figuresOf(calls) {
  /** @type {Map<string, Call[]>} */
  const tools = new Map();
  for (const call of calls) {
    const key = `${call.host} ${call.name}`;
    const known = tools.get(key);
    if (known) known.push(call);
    else tools.set(key, [call]);
  }
  return [...tools.values()].map(figuresOfOne).sort((a, b) => b.calls - a.calls);
}

/** @param {Call[]} calls of one tool, at least one @returns {ToolFigures} */
function figuresOfOne(calls) {
  const [{ name, host }] = /** @type {[Call]} */ (/** @type {unknown} */ (calls));
  const times = Float64Array.from(calls, ({ ms }) => ms).sort();
  const queued = Float64Array.from(calls, ({ queuedMs }) => queuedMs).sort();
  return {
    name,
    host,
    calls: calls.length,
    refused: calls.filter(({ ok }) => !ok).length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    slowest: percentile(times, 1),
    queued: percentile(queued, 0.95),
  };
}

/** Each refusal code and how often, the most frequent first. @param {readonly Call[]} calls @returns {[code: string, count: number][]} */
export function refusalsOf(calls) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { ok, code } of calls) if (!ok) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** @param {readonly Call[]} calls @param {number} count */
export function slowestOf(calls, count) {
  return calls.toSorted((a, b) => b.ms - a.ms).slice(0, count);
}

/**
 * Calls and refusals in each of the last `count` bins, the oldest first.
 * @param {readonly Call[]} calls @param {{now: number, binMs: number, count: number}} axis
 * @returns {Bin[]}
 */
export function binsOf(calls, { now, binMs, count }) {
  const bins = Array.from({ length: count }, () => ({ calls: 0, refused: 0 }));
  for (const { at, ok } of calls) {
    const bin = bins[count - 1 - Math.floor(Math.max(0, now - at) / binMs)];
    if (!bin) continue;
    bin.calls += 1;
    if (!ok) bin.refused += 1;
  }
  return bins;
}
