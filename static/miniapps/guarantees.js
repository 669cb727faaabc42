/** What this browser does not enforce for apps, as a sentence for the person. */

const ALLOWLIST_SINCE = 152;

/**
 * Empty where everything holds. Chromium alone shows its brands, and it alone closes WebRTC for a
 * frame (since 152) and gives sandboxed frames a process of their own.
 * @param {{userAgentData?: {brands: {brand: string, version: string}[]}}} navigator
 */
export function weakerHere({ userAgentData }) {
  const chromium = userAgentData?.brands.find(({ brand }) => brand === "Chromium");
  if (!chromium) {
    return "In this browser an app that hangs can freeze the page, and one can still reach the network through WebRTC in a frame of its own. Launch only apps that you trust.";
  }
  if (Number(chromium.version) < ALLOWLIST_SINCE) {
    return "This browser is too old to close WebRTC for apps. Launch only apps that you trust, or update it.";
  }
  return "";
}

/** What an app's card says of the network in this browser. @param {Parameters<typeof weakerHere>[0]} navigator */
export function networkHere(navigator) {
  return weakerHere(navigator) ? "network: only WebRTC is not closed here" : "network: none";
}
