/** The referee: every vector of the folder that TOOL_VECTORS names (default tests/vectors). */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppTools } from "../../static/sandbox/bridge/tools.js";
import { checkArguments, checkTool, parseArguments } from "../../static/sandbox/contract.js";
import { agrees, readVectors } from "./vectors.js";

function checkText(parameters, text) {
  const parsed = parseArguments(text);
  return parsed.ok ? checkArguments(parameters, parsed.value) : parsed;
}

function assertAgrees(verdict, expected, note) {
  assert.ok(agrees(verdict, expected), `${note} ${JSON.stringify({ verdict, expected })}`);
}

describe("declaration vectors", () => {
  for (const { id, note, tool, expect } of readVectors("declarations"))
    test(id, () => assertAgrees(checkTool(tool), expect, note));
});

describe("argument vectors", () => {
  for (const { id, note, parameters, args_json, expect } of readVectors("arguments")) {
    test(id, () => assertAgrees(checkText(parameters, args_json), expect, note));
    test(`${id}, with the schema in its normal form`, () => {
      const tool = checkTool({ name: "t", description: "t", parameters });
      assert.equal(tool.ok, true);
      assertAgrees(checkText(tool.value.parameters, args_json), expect, note);
    });
  }
});

/** The bridges of a few apps, asked in the words of the vectors; exposed names are the relay's. */
class Bridges {
  #apps = new Map();

  #of(app) {
    if (!this.#apps.has(app)) this.#apps.set(app, new AppTools({ checkTool, checkArguments }, 16));
    return this.#apps.get(app);
  }

  register({ app, tool }) {
    const verdict = this.#of(app).admit(tool);
    return verdict.ok ? { ok: true, name: verdict.value.name } : verdict;
  }

  unregister({ app, name }) {
    const removed = this.#of(app).remove(name);
    return removed ? { ok: true, name } : { ok: false, refused: "unknown-tool", why: "not there" };
  }

  close({ app }) {
    this.#apps.delete(app);
    return { ok: true };
  }

  list({ app }) {
    return { ok: true, names: this.#of(app).list.map(({ name }) => name) };
  }

  call({ app, name, args_json }) {
    const tool = this.#of(app).list.find((known) => known.name === name);
    if (!tool) return this.#of(app).check(name, {});
    const parsed = parseArguments(args_json);
    // In these vectors the transport has read the text, and says so in its own word
    if (!parsed.ok) return { ...parsed, refused: "bad-json" };
    const verdict = this.#of(app).check(name, parsed.value);
    if (!verdict.ok) return verdict;
    return { ok: true, app, name, description: tool.description, value: verdict.value };
  }
}

describe("registry vectors, as far as they are a bridge's", () => {
  for (const { id, note, ops, expect } of readVectors("registry"))
    test(id, () => {
      const bridges = new Bridges();
      for (const [index, op] of ops.entries())
        if (op.op in bridges) assertAgrees(bridges[op.op](op), expect[index], `${note} (${index})`);
    });
});
