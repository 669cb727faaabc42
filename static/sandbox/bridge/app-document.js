/** The document that an app runs in: our policy and SDK first, then the app, byte for byte. */

const APP_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "media-src data: blob:",
  "font-src data:",
  "connect-src data: blob:",
  "worker-src blob:",
  "frame-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * The app's document: ours first, then its bytes, never found by searching in them.
 * @param {string} sdk @param {object} boot @param {string} html
 */
export function appDocument(sdk, boot, html) {
  const settings = JSON.stringify(boot).replaceAll("<", "\\u003c");
  const script = sdk.replace('"{{boot}}"', () => settings);
  const policy = `<meta http-equiv="Content-Security-Policy" content="${APP_POLICY}">`;
  const app = html.startsWith("\ufeff") ? html.slice(1) : html;
  return `<!doctype html><meta charset="utf-8">${policy}<script>${script}</script>${app}`;
}
