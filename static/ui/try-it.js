/** A form made from a tool's schema, that calls the tool and shows what came of it. */

import { button, element } from "./element.js";
import { otherArguments, textOf, typedValue } from "./try-it-values.js";

/**
 * @typedef {import("./try-it-values.js").Property} Property
 * @typedef {{properties?: Record<string, Property>, required?: string[]}} Parameters
 * @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} FieldElement
 * @typedef {{key: string, property: Property, needed: boolean, element: FieldElement}} Field
 * @typedef {{ok: boolean, callId?: string, result?: unknown, refused?: string, why?: string}} Outcome
 * @typedef {(name: string, args: object, signal: AbortSignal) => Promise<Outcome>} Call
 */

const CANCELLED = { ok: false, refused: "cancelled", why: "you cancelled the call." };

/**
 * @param {string} name the tool @param {Parameters} parameters an object's schema
 * @param {(args: object, signal: AbortSignal) => Promise<Outcome>} call
 * @param {unknown} [args] what the fields hold at first
 */
export function tryItForm(name, { properties = {}, required = [] }, call, args) {
  const form = element("form", "try-it");
  form.autocomplete = "off";
  form.setAttribute("aria-label", `Try ${name}`);
  const given = Object(args);
  const fields = Object.entries(properties).map(([key, property]) => {
    const needed = required.includes(key);
    const field = { key, property, needed, element: fieldOf(property, needed) };
    if (Object.hasOwn(given, key)) fill(field, given[key]);
    form.append(labelled(field));
    return field;
  });
  const others = addOthers(form, otherArguments(args, properties));
  letRun(form, (signal) => tried(() => argumentsOf(fields, others), call, signal));
  return form;
}

/** A field for what the schema does not name, where there is such. @param {HTMLFormElement} form @param {object} others @returns {() => object} */
function addOthers(form, others) {
  if (Object.keys(others).length === 0) return () => ({});
  const property = { type: "object", description: "as JSON" };
  const field = {
    key: "other arguments",
    property,
    needed: true,
    element: fieldOf(property, true),
  };
  fill(field, others);
  form.append(labelled(field));
  return () => /** @type {object} */ (typedValue(field.key, property, field.element.value));
}

/** @param {HTMLFormElement} form @param {(signal: AbortSignal) => Promise<Outcome>} call */
function letRun(form, call) {
  const run = element("button", "quiet", "Run");
  run.type = "submit";
  let ending = new AbortController();
  const cancel = button("Cancel", () => ending.abort(), "quiet");
  cancel.hidden = true;
  const row = element("div", "row");
  row.append(run, cancel);
  const output = element("output", "try-outcome");
  form.append(row, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!cancel.hidden) return; // one call at a time
    ending = new AbortController();
    cancel.hidden = false;
    output.dataset.state = "running";
    output.textContent = "running…";
    show(output, await call(ending.signal));
    if (cancel === document.activeElement) run.focus();
    cancel.hidden = true;
  });
}

/**
 * @param {() => object} args @param {(args: object, signal: AbortSignal) => Promise<Outcome>} call
 * @param {AbortSignal} signal
 */
async function tried(args, call, signal) {
  try {
    return await call(args(), signal);
  } catch (error) {
    if (signal.aborted) return CANCELLED;
    return { ok: false, refused: "", why: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Leaves out what is empty, unless the schema requires it: an empty text is a text.
 * @param {Field[]} fields @param {() => object} others
 */
function argumentsOf(fields, others) {
  /** @type {Record<string, unknown>} */
  const args = { ...others() };
  for (const { key, property, needed, element: field } of fields) {
    if (isCheckbox(field)) args[key] = field.checked;
    else if (field.value !== "" || needed) args[key] = typedValue(key, property, field.value);
  }
  return args;
}

/** @param {HTMLElement} output @param {Outcome} outcome */
function show(output, { ok, result, refused, why }) {
  output.dataset.state = ok ? "ok" : "refused";
  const text = typeof result === "string" ? result : JSON.stringify(result, null, 1);
  if (ok) output.textContent = text;
  else output.replaceChildren(`Refused: ${why} `, element("code", "log-code", refused));
}

/** @param {Field} field @param {unknown} value */
function fill({ element: field }, value) {
  if (isCheckbox(field)) field.checked = value === true;
  else field.value = field instanceof HTMLSelectElement ? String(value) : textOf(value);
}

/** @param {Property} property @param {boolean} needed @returns {FieldElement} */
function fieldOf({ type, enum: values }, needed) {
  if (values) return choice(values, needed);
  if (type === "boolean") return needed ? input("checkbox") : choice([true, false], needed);
  if (type === "number" || type === "integer") return input("number");
  const field = element("textarea");
  field.rows = 1;
  return field;
}

/** @param {string} type */
function input(type) {
  const made = element("input");
  made.type = type;
  if (type === "number") made.step = "any";
  return made;
}

/** @param {unknown[]} values @param {boolean} needed else it can be left open */
function choice(values, needed) {
  const select = element("select");
  if (!needed) select.append(element("option", "", ""));
  select.append(...values.map((value) => element("option", "", String(value))));
  return select;
}

/** @param {Field} field */
function labelled({ key, property: { description }, element: field }) {
  const label = element("label", isCheckbox(field) ? "choice" : "field", `${key} `);
  if (description) label.append(element("span", "mic-hint", description));
  label.append(field);
  return label;
}

/** @param {FieldElement} field @returns {field is HTMLInputElement} */
function isCheckbox(field) {
  return field instanceof HTMLInputElement && field.type === "checkbox";
}
