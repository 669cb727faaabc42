/** Makes the parts of a conversation on the room page and connects them; draws nothing itself. */

import { Voice } from "./connection/voice.js";
import { Captions } from "./ui/captions.js";
import { DevicePicker } from "./ui/devices.js";
import { byId } from "./ui/element.js";
import { holdKey } from "./ui/held-key.js";
import { LevelMeter } from "./ui/level-meter.js";
import { MicrophoneControl } from "./ui/microphone.js";
import { offerShortcuts } from "./ui/shortcuts.js";
import { TalkMode } from "./ui/sound-settings.js";
import { copyText, saveText } from "./ui/take-along.js";
import { MICROPHONE_TROUBLES } from "./ui/words.js";

/**
 * @typedef {import("./protocol/messages.d.ts").LiveServerMessage} LiveServerMessage
 * @typedef {{key: string, roomName: string, log: import("./ui/tool-log.js").ToolLog,
 *   toasts: import("./ui/toasts.js").Toasts}} VoiceParts key: the token
 */

const div = HTMLElement;

/** @param {VoiceParts} parts */
export function openVoice({ key, roomName, log, toasts }) {
  const captions = openCaptions(toasts);
  const microphone = openMicrophone(() => voice);
  const meter = HTMLMeterElement;
  const heard = new LevelMeter(byId("heard-level", meter), (level) => microphone.level(level));
  const spoken = new LevelMeter(byId("spoken-level", meter));
  const voice = new Voice(key, roomName, {
    word: (word) => {
      microphone.show(word, voice.heard);
      showMute(voice);
    },
    opened: () => void devices.list(),
    heard: (level) => heard.show(level),
    spoken: (level) => spoken.show(level),
    message: (message) => take(message, { captions, log, toasts }),
    trouble: (trouble) => toasts.warn(MICROPHONE_TROUBLES[trouble]),
    refused: (code) => toasts.warn(`The relay refused the conversation: ${code}.`),
  });
  const devices = letChoose(voice);
  letMute(voice);
  letHold(voice, microphone);
  letCancelEcho(voice);
  letType((text) => voice.say(text));
}

/** @param {() => Voice} voice known by the time that someone presses */
function openMicrophone(voice) {
  const button = byId("mic", HTMLButtonElement);
  return new MicrophoneControl(button, byId("mic-state", div), byId("mic-hint", div), {
    press: () => (voice().wanted ? voice().stop() : void voice().start()),
    hold: () => voice().press(),
    release: () => voice().release(),
  });
}

/** @param {Voice} voice @param {MicrophoneControl} microphone */
function letHold(voice, microphone) {
  const apply = () => {
    voice.byHand = mode.held;
    microphone.heldBy(mode.held ? mode.key.label : undefined);
    byId("shortcuts-talk", div).textContent = mode.key.label;
  };
  const mode = new TalkMode(
    byId("hold", HTMLInputElement),
    byId("talk-key", HTMLButtonElement),
    apply,
  );
  holdKey({
    key: () => mode.key,
    enabled: () => mode.held && !mode.asking,
    press: () => voice.press(),
    release: () => voice.release(),
  });
  apply();
}

/** @param {VoiceParts["toasts"]} toasts */
function openCaptions(toasts) {
  const tools = byId("captions-tools", div);
  const captions = new Captions(byId("captions", div), byId("captions-empty", div), tools);
  byId("captions-copy", HTMLButtonElement).addEventListener("click", async () => {
    if (await copyText(captions.text())) toasts.tell("The captions are in the clipboard.");
    else toasts.warn("The browser does not let this page copy. Save the captions instead.");
  });
  byId("captions-save", HTMLButtonElement).addEventListener("click", () =>
    saveText(captions.text(), "captions.txt"),
  );
  return captions;
}

/** @param {Voice} voice */
function letChoose(voice) {
  const devices = new DevicePicker(byId("device", HTMLSelectElement), (deviceId) => {
    voice.deviceId = deviceId;
    if (voice.wanted) void voice.start();
  });
  voice.deviceId = devices.remembered;
  return devices;
}

/** @param {Voice} voice */
function letMute(voice) {
  const toggle = () => {
    if (canMute(voice)) voice.muted = !voice.muted;
  };
  byId("mute", HTMLButtonElement).addEventListener("click", toggle);
  offerShortcuts(
    byId("shortcuts", HTMLDialogElement),
    byId("shortcuts-open", HTMLButtonElement),
    byId("single-keys", HTMLInputElement),
    { m: toggle },
  );
}

/** Push-to-talk needs no mute: nothing is heard but what is held. @param {Voice} voice */
function canMute(voice) {
  return voice.wanted && !voice.byHand;
}

/** @param {Voice} voice */
function showMute(voice) {
  const mute = byId("mute", HTMLButtonElement);
  mute.hidden = !canMute(voice);
  mute.setAttribute("aria-pressed", String(voice.muted));
}

/** @param {Voice} voice */
function letCancelEcho(voice) {
  const cancelEcho = byId("cancel-echo", HTMLInputElement);
  cancelEcho.addEventListener("change", () => {
    voice.cancelEcho = cancelEcho.checked;
    if (voice.wanted) void voice.start();
  });
}

/** @param {(text: string) => void} say */
function letType(say) {
  const form = byId("say", HTMLFormElement);
  const field = byId("say-text", HTMLInputElement);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text) say(text);
    field.value = "";
  });
}

/**
 * @param {LiveServerMessage} message
 * @param {{captions: Captions, log: VoiceParts["log"], toasts: VoiceParts["toasts"]}} parts
 */
function take(message, { captions, log, toasts }) {
  switch (message.type) {
    case "text":
      return captions.show(message);
    case "tool":
      return log.show(message);
    case "state":
      if (message.state === "interrupted") captions.interrupted(message.turnId ?? "");
      if (message.state === "closed" && message.code !== 1000) {
        toasts.warn(`The conversation ended: ${message.reason ?? message.code}`);
      }
      return;
    case "error":
      return toasts.warn(`${message.message} (${message.code})`);
    case "refused":
      return toasts.warn(`${message.why} (${message.refused})`);
    default: // rates and sound are the voice's; a newer relay may say more
  }
}
