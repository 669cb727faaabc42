/**
 * One key that talks while it is held. It never takes a key from a text field, and lets go when
 * the window loses the keyboard: a key-up elsewhere is not seen here.
 */

const NOT_FOR_TALKING = new Set(["Space", "Enter", "NumpadEnter", "Tab", "Escape"]);
const TYPED_INTO = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

/** @typedef {{code: string, label: string}} Key the place on the keyboard, and what it types */

/** @type {Key} */
export const FIRST_KEY = { code: "Backquote", label: "`" };

/** Whether a key that is pressed there is text. @param {EventTarget | null} target */
export function takesText(target) {
  return target instanceof Element && target.closest(TYPED_INTO) !== null;
}

/** @param {KeyboardEvent} event */
export function hasModifier({ ctrlKey, altKey, metaKey }) {
  return ctrlKey || altKey || metaKey;
}

/** The key, where it can be held for talking: not one that presses, moves on or closes. @param {KeyboardEvent} event @returns {Key | undefined} */
export function keyOf(event) {
  const { code, key } = event;
  if (!code || hasModifier(event) || NOT_FOR_TALKING.has(code)) return undefined;
  if (/^(Shift|Control|Alt|Meta|CapsLock)/.test(code)) return undefined;
  return { code, label: key === "Dead" ? code : key };
}

/**
 * @param {{key: () => Key, enabled: () => boolean, press: () => void, release: () => void}} options
 */
export function holdKey({ key, enabled, press, release }) {
  let held = false;
  const letGo = () => {
    if (!held) return;
    held = false;
    release();
  };
  addEventListener("keydown", (event) => {
    if (!enabled() || event.code !== key().code || hasModifier(event)) return;
    if (takesText(event.target)) return;
    event.preventDefault();
    if (held || event.repeat) return;
    held = true;
    press();
  });
  addEventListener("keyup", ({ code }) => code === key().code && letGo());
  addEventListener("blur", letGo);
  document.addEventListener("visibilitychange", letGo);
}
