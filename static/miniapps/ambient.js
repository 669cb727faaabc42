/**
 * The room's own breaker: apps have nothing to say to this window, so one that floods it ends.
 * The data of such a message is never read, and each costs next to nothing: a flood that has left
 * its app can't be called back.
 */

const WINDOW_MS = 1_000;

/**
 * @param {{apps: () => readonly import("./running-app.js").RunningApp[], messagesMax: number,
 *   signal?: AbortSignal}} options messagesMax counts the messages of one frame in a second
 */
export function watchAmbientMessages({ apps, messagesMax, signal }) {
  /** @type {WeakMap<object, {since: number, count: number}>} */
  const counts = new WeakMap();

  /** @param {MessageEvent} event */
  function count({ source, timeStamp }) {
    if (source === null) return; // its frame is gone already
    let counted = counts.get(source);
    if (!counted || timeStamp - counted.since >= WINDOW_MS) {
      counted = { since: timeStamp, count: 0 };
      counts.set(source, counted);
    }
    counted.count += 1;
    if (counted.count !== messagesMax + 1) return;
    const app = apps().find(({ frame }) => frame.holds(/** @type {Window} */ (source)));
    app?.stop("too many messages");
  }

  window.addEventListener("message", count, signal && { signal });
}
