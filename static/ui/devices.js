/** Which microphone: the browser's names for them, known once the person has allowed one. */

import { recall, remember } from "../connection/preferences.js";
import { element } from "./element.js";

export class DevicePicker {
  #select;

  /** @param {HTMLSelectElement} select @param {(deviceId: string) => void} chosen */
  constructor(select, chosen) {
    this.#select = select;
    select.addEventListener("change", () => {
      remember("microphone", select.value);
      chosen(select.value);
    });
    navigator.mediaDevices?.addEventListener("devicechange", () => void this.list());
    void this.list();
  }

  /** What was chosen here before, or "" for the browser's choice. */
  get remembered() {
    return recall("microphone") ?? "";
  }

  async list() {
    const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    const microphones = devices.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId);
    const first = /** @type {HTMLOptionElement} */ (this.#select.options[0]);
    const options = microphones
      .filter(({ deviceId }) => deviceId !== "default" && deviceId !== "communications")
      .map(({ deviceId, label }) => {
        const option = element("option", "", label || "Microphone");
        option.value = deviceId;
        return option;
      });
    this.#select.replaceChildren(first, ...options);
    this.#select.value = this.remembered;
    if (this.#select.selectedIndex < 0) this.#select.value = ""; // it is unplugged
  }
}
