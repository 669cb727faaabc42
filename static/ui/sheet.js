/**
 * The apps on a narrow screen: a sheet that opens from the bottom edge, below the microphone. On
 * a wide one they are a part of the page, and nothing here happens.
 *
 * A closed sheet can't be reached, but its apps stay on the screen, unseen: what the browser takes
 * for hidden no longer runs.
 */

const NARROW = "(max-width: 43.75rem)";
const DRAG_MIN_PX = 30;

export class Sheet {
  #sheet;
  #handle;
  #body;
  #narrow = matchMedia(NARROW);
  /** Where the keyboard was before. @type {Element | null} */
  #from = null;
  #dragged = false;

  /** @param {HTMLElement} sheet @param {HTMLButtonElement} handle @param {HTMLElement} body */
  constructor(sheet, handle, body) {
    this.#sheet = sheet;
    this.#handle = handle;
    this.#body = body;
    handle.addEventListener("click", ({ detail }) => this.#toggle(detail === 0));
    this.#letDrag();
    this.#narrow.addEventListener("change", () => this.#show(false));
    document.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("focusin", ({ target }) => this.#left(target));
    this.#show(false);
  }

  get #isOpen() {
    return this.#sheet.dataset.open === "true";
  }

  /** Opens, where there is a sheet; the keyboard stays where it is. */
  open() {
    if (!this.#narrow.matches || this.#isOpen) return;
    this.#from = document.activeElement;
    this.#show(true);
  }

  /** Closes; the keyboard returns to where it was. */
  close() {
    if (!this.#isOpen) return;
    const held = this.#body.contains(document.activeElement);
    this.#show(false);
    const from = this.#from instanceof HTMLElement && this.#from.isConnected ? this.#from : null;
    if (held) (from && from !== document.body ? from : this.#handle).focus();
  }

  /** @param {boolean} byKey */
  #toggle(byKey) {
    if (this.#dragged && !byKey) return; // the end of a drag is not a press
    if (this.#isOpen) this.close();
    else this.open();
  }

  /** @param {boolean} open */
  #show(open) {
    this.#sheet.dataset.open = String(open);
    this.#handle.setAttribute("aria-expanded", String(open));
    this.#body.inert = this.#narrow.matches && !open;
    if (!open) this.#body.querySelector(".app")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #key({ key, defaultPrevented }) {
    if (key !== "Escape" || defaultPrevented || document.querySelector("dialog[open]")) return;
    this.close();
  }

  /** Who goes to what the sheet covers shall see it. @param {EventTarget | null} target */
  #left(target) {
    if (!this.#isOpen || !(target instanceof Element) || this.#sheet.contains(target)) return;
    if (!target.closest(".top, .talk, .toasts, dialog")) this.#show(false);
  }

  #letDrag() {
    let start = 0;
    this.#handle.addEventListener("pointerdown", ({ clientY, pointerId }) => {
      start = clientY;
      this.#dragged = false;
      this.#handle.setPointerCapture(pointerId);
    });
    this.#handle.addEventListener("pointerup", ({ clientY }) => {
      const moved = clientY - start;
      this.#dragged = Math.abs(moved) >= DRAG_MIN_PX;
      if (!this.#dragged) return;
      if (moved > 0) this.close();
      else this.open();
    });
  }
}
