/** Text that a person takes out of the page: to the clipboard, or as a file. */

/** @param {string} text @returns {Promise<boolean>} whether the browser let it */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or no clipboard on this address
  }
}

/** @param {string} text @param {string} fileName */
export function saveText(text, fileName) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href)); // the browser has read it by then
}
