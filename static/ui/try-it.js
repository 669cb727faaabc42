/** A form made from a tool's schema, that calls the tool and shows what came of it. */

import { element } from "./element.js";
import { typedValue } from "./try-it-values.js";

/**
 * @typedef {import("./try-it-values.js").Property} Property
 * @typedef {{properties?: Record<string, Property>, required?: string[]}} Parameters
 * @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field
 * @typedef {{ok: boolean, result?: unknown, refused?: string, why?: string}} Outcome
 */

/**
 * @param {string} name the tool @param {Parameters} parameters an object's schema
 * @param {(args: object) => Promise<Outcome>} call
 */
export function tryItForm(name, { properties = {}, required = [] }, call) {
  const form = element("form", "try-it");
  form.autocomplete = "off";
  form.setAttribute("aria-label", `Try ${name}`);
  /** @type {[string, Property, Field][]} */
  const fields = Object.entries(properties).map(([key, property]) => {
    const field = fieldOf(property);
    form.append(labelled(key, property, field));
    return [key, property, field];
  });
  const args = () => argumentsOf(fields, required);
  letRun(form, () => tried(args, call));
  return form;
}

/** @param {HTMLFormElement} form @param {() => Promise<Outcome>} call */
function letRun(form, call) {
  const run = element("button", "quiet", "Run");
  run.type = "submit";
  const output = element("output", "try-outcome");
  form.append(run, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    run.disabled = true;
    output.textContent = "running…";
    show(output, await call());
    run.disabled = false;
  });
}

/** @param {() => object} args @param {(args: object) => Promise<Outcome>} call */
async function tried(args, call) {
  try {
    return await call(args());
  } catch (error) {
    return { ok: false, refused: "", why: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Leaves out what is empty, unless the schema requires it: an empty text is a text.
 * @param {[string, Property, Field][]} fields @param {string[]} required
 */
function argumentsOf(fields, required) {
  /** @type {Record<string, unknown>} */
  const args = {};
  for (const [key, property, field] of fields) {
    const checked = field instanceof HTMLInputElement && field.checked;
    if (property.type === "boolean") args[key] = checked;
    else if (field.value !== "" || required.includes(key))
      args[key] = typedValue(key, property, field.value);
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

/** @param {Property} property @returns {Field} */
function fieldOf({ type, enum: values }) {
  if (values) return choice(values);
  if (type === "boolean") return input("checkbox");
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

/** @param {unknown[]} values */
function choice(values) {
  const select = element("select");
  select.append(...values.map((value) => element("option", "", String(value))));
  return select;
}

/** @param {string} key @param {Property} property @param {Field} field */
function labelled(key, { type, description }, field) {
  const label = element("label", type === "boolean" ? "choice" : "field", `${key} `);
  if (description) label.append(element("span", "mic-hint", description));
  label.append(field);
  return label;
}
