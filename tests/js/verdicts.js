/** Answers contract questions, one JSON line in and one out, as `voicebox check --jsonl` does. */

import { readFileSync } from "node:fs";
import { checkArguments, checkTool, parseArguments } from "../../static/sandbox/contract.js";

function verdict(question) {
  if (Object.hasOwn(question, "tool")) return checkTool(question.tool);
  const parsed = parseArguments(question.args_json);
  return parsed.ok ? checkArguments(question.parameters, parsed.value) : parsed;
}

const lines = readFileSync(0, "utf8").split("\n").filter(Boolean);
process.stdout.write(
  lines.map((line) => `${JSON.stringify(verdict(JSON.parse(line)))}\n`).join(""),
);
