/** Runs a call of the log once more: by a form that holds the arguments it had. */

import { openDialog } from "./dialog.js";
import { element } from "./element.js";
import { tryItForm } from "./try-it.js";

/**
 * @typedef {import("../protocol/messages.d.ts").DeclaredTool} DeclaredTool
 * @typedef {{name: string, args: unknown}} PastCall `args` undefined where nobody told them
 */

/**
 * @param {PastCall} past @param {readonly DeclaredTool[]} declared what can be called now
 * @param {import("./try-it.js").Call} call @returns {boolean} whether there is still such a tool
 */
export function openAgain({ name, args }, declared, call) {
  const tool = declared.find((one) => one.name === name);
  if (!tool) return false;
  const parameters = /** @type {import("./try-it.js").Parameters} */ (tool.parameters);
  const words =
    args === undefined
      ? "The arguments of that call are not known to this page."
      : "With the arguments of that call; change what you like.";
  const form = tryItForm(name, parameters, (given, signal) => call(name, given, signal), args);
  openDialog(`Run ${name} again`, [element("p", "empty", words), form]);
  return true;
}
