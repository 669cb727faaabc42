/** What the vectors can't say: values that no JSON text holds, and who owns what. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { AppTools } from "../../static/sandbox/bridge/tools.js";
import { checkArguments, checkTool, parseArguments } from "../../static/sandbox/contract.js";

const ANY = { type: "object", properties: {} };

function refusedFor(value) {
  const verdict = checkArguments(ANY, { v: value });
  assert.equal(verdict.ok, false);
  assert.equal(typeof verdict.why, "string");
  return verdict.refused;
}

const holed = [1, 2];
delete holed[0];

for (const [what, value] of Object.entries({
  undefined: undefined,
  "a function": () => 1,
  "a symbol": Symbol("s"),
  "a BigInt": 1n,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "a date": new Date(0),
  "a map": new Map(),
  "an instance": new (class A {})(),
  "an object with a prototype of its own": Object.create({ inherited: 1 }),
  "a boxed text": new String("x"),
  "half of a surrogate pair": "\ud800",
  "a name with half of one": { "\udfff": 1 },
  "the forbidden name": JSON.parse('{"__proto__":1}'),
  "a symbol as a name": { [Symbol("s")]: 1 },
  "a hidden value": Object.defineProperty({}, "x", { value: 1, enumerable: false }),
  "a list with a hole": holed,
  "a decorated list": Object.assign([1], { extra: 1 }),
  "a list of another kind": new (class List extends Array {})(),
})) {
  test(`${what} is an invalid argument`, () => assert.equal(refusedFor(value), "invalid-argument"));
}

test("a getter is refused and never run", () => {
  let ran = false;
  const computed = Object.defineProperty({}, "x", {
    enumerable: true,
    get() {
      ran = true;
      return 1;
    },
  });
  assert.equal(refusedFor(computed), "invalid-argument");
  assert.equal(ran, false);
});

test("whatever a proxy's traps throw is an invalid argument", () => {
  const trap = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error("from the trap");
      },
    },
  );
  assert.equal(refusedFor(trap), "invalid-argument");
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.equal(refusedFor(proxy), "invalid-argument");
});

test("a cycle is out of bounds, not an endless walk", () => {
  const cycle = {};
  cycle.self = cycle;
  assert.equal(refusedFor(cycle), "invalid-argument-bounds");
});

test("the first fault in the order of the walk is answered", () => {
  const tooMany = new Array(3000).fill(0);
  const refused = (args) => checkArguments(ANY, args).refused;
  assert.equal(refused({ a: tooMany, "\ud800": 1 }), "invalid-argument-bounds");
  assert.equal(refused({ "\ud800": 1, a: tooMany }), "invalid-argument");
  assert.equal(refused({ "\ud800": 1, 7: tooMany }), "invalid-argument-bounds");
});

test("what runs is a copy without a prototype", () => {
  const given = { v: [{ constructor: 1 }] };
  const { value } = checkArguments(ANY, given);
  given.v[0].constructor = 2;
  assert.equal(Object.getPrototypeOf(value), null);
  assert.equal(Object.getPrototypeOf(value.v[0]), null);
  assert.equal(value.v[0].constructor, 1);
});

test("nothing that objects inherit is read from a schema", () => {
  const schema = { type: "object", properties: { toString: { type: "integer" } } };
  assert.equal(checkArguments(schema, { valueOf: 1 }).ok, true);
  assert.equal(checkArguments(schema, { toString: "x" }).refused, "invalid-argument-type");
  assert.equal(checkArguments({ type: "object" }, { toString: "x" }).ok, true);
});

test("a declaration that JSON can't carry is refused", () => {
  const cycle = { name: "t", description: "d" };
  cycle.self = cycle;
  const unwilling = {
    toJSON() {
      throw new Error("no");
    },
  };
  const pretending = { toJSON: () => "text" };
  const nothing = { toJSON: () => undefined };
  for (const tool of [undefined, () => 1, { x: 1n }, cycle, unwilling, pretending, nothing])
    assert.equal(checkTool(tool).refused, "invalid-tool-declaration");
});

test("an admitted declaration shares nothing with its sender", () => {
  const declared = {
    name: "t",
    description: "d",
    parameters: { type: "object", properties: { v: { type: "string", enum: ["a"] } } },
    execute: () => 1,
  };
  const { value } = checkTool(declared);
  declared.parameters.properties.v.enum.push("b");
  assert.deepEqual(Object.keys(value), ["name", "description", "parameters"]);
  assert.deepEqual(value.parameters.properties.v.enum, ["a"]);
});

test("a bridge passes on that a tool destroys something, and no other annotation", () => {
  const tools = new AppTools({ checkTool, checkArguments }, 16);
  const cases = [
    [{ destructiveHint: true, title: "x" }, { destructiveHint: true }],
    [{ destructiveHint: "true" }, undefined],
    [{ readOnlyHint: true }, undefined],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [index, [annotations, kept]] of cases.entries()) {
    const name = `t${index}`;
    const verdict = tools.admit(JSON.stringify({ name, description: "d", annotations }));
    assert.deepEqual(Object.keys(verdict.value), ["name", "description", "parameters"]);
    assert.deepEqual(tools.list[index].annotations, kept);
  }
});

test("a list of thousands of entries is checked against thousands of members", () => {
  const members = Array.from({ length: 10_000 }, (_, index) => index);
  const list = { type: "array", items: { type: "integer", enum: members } };
  const { value } = checkTool({
    name: "t",
    description: "d",
    parameters: { type: "object", properties: { list } },
  });
  assert.equal(checkArguments(value.parameters, { list: new Array(2_000).fill(9_999) }).ok, true);
  const verdict = checkArguments(value.parameters, { list: [10_000] });
  assert.equal(verdict.refused, "invalid-argument-enum");
  assert.ok(verdict.why.endsWith(", 6, 7, …"));
});

test("a hostile text is only a text", () => {
  const text = '"+(globalThis.canary=1)+"</script>`+canary+`\n\\';
  const schema = { type: "string", enum: [text] };
  const { value } = checkTool({
    name: "t",
    description: text,
    parameters: { type: "object", properties: { [text]: schema }, required: [text] },
  });
  assert.equal(checkArguments(value.parameters, { [text]: text }).ok, true);
  assert.equal(checkArguments(value.parameters, {}).refused, "missing-argument");
  assert.equal(globalThis.canary, undefined);
});

test("text that is not JSON is refused, and null stands for no arguments", () => {
  assert.equal(parseArguments("NaN").refused, "invalid-tool-arguments");
  assert.deepEqual(parseArguments(" [1] "), { ok: true, value: [1] });
  assert.deepEqual(Object.keys(checkArguments(ANY, null).value), []);
  assert.equal(checkArguments(ANY, undefined).refused, "invalid-tool-arguments");
});
