/** Sentences for people: the cause, then what to do. */

/** @type {Record<import("../miniapps/running-app.js").AppState, string>} */
export const APP_STATES = {
  starting: "Starting",
  running: "Running",
  "not-responding": "Not responding",
  lost: "Lost its connection",
  stopped: "Stopped",
};

/** @type {Record<import("../audio/capture.js").MicrophoneTrouble, string>} */
export const MICROPHONE_TROUBLES = {
  refused:
    "The browser does not let this page hear you. Allow the microphone for it, then press again.",
  "no-device": "No microphone was found. Plug one in, then press again. Typing works meanwhile.",
  busy: "The microphone is in use by something else. Close that, then press again.",
  insecure:
    "The browser gives a microphone only to https pages and to this computer's own address.",
  lost: "The microphone went away. Plug it in, then press again.",
};

export const NO_TOKEN =
  "This page needs the link that the relay printed at its start: it holds the token.";
export const TOKEN_REFUSED =
  "The relay does not know this page's token. Open the link that it printed at its start.";
