// The playground's library, outside of a browser: it learns what the command learns, byte for byte.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { csv, mixedTable, valueTable } from "./tables.mjs";
import { unpack } from "../playground/unpack.js";

const folder = process.env.GATEWOOD_FOLDER;

/** The page's worker, with its answers as promises. */
const waiting = new Map();
const answer = ({ id, json, bytes, progress }) => {
  if (progress) return;
  waiting.get(id)(json.error ? { error: json.error } : { json, bytes });
  waiting.delete(id);
};
const worker = readFileSync(new URL("../playground/worker.js", import.meta.url), "utf8");
const handle = new Function("postMessage", `let onmessage; ${worker}; return onmessage;`)(answer);
let asked = 0;
async function ask(message) {
  const id = ++asked;
  const answered = new Promise(resolve => waiting.set(id, resolve));
  handle({ data: { id, ...message } });
  const { error, ...rest } = await answered;
  if (error) throw new Error(error);
  return rest;
}

/** The file of a model that the library learns, and that of the command. */
async function learn(load, bytes, learning, words) {
  await ask({ request: { ask: "load", ...load }, bytes });
  await ask({ request: { ask: "learn", ...learning } });
  const here = Buffer.from((await ask({ request: { ask: "model" } })).bytes);
  execFileSync(process.env.GATEWOOD_COMMAND, ["train", ...words, "-o", "command.gw", "--quiet"], { cwd: folder });
  return [here, readFileSync(join(folder, "command.gw"))];
}

function table(name, rows) {
  writeFileSync(join(folder, name), csv(rows));
  return readFileSync(join(folder, name));
}

const digits = readFileSync(new URL("../../crates/gatewood-data/assets/mnist35.bin", import.meta.url));
const mixed = mixedTable(1200);
const two = mixed.map((row, at) => [...row.slice(0, -1), at > 0 && row.at(-1) === "fig" ? "pear" : row.at(-1)]);
const CASES = {
  "three classes of a mixed table": () => learn({ file: "three.csv" }, table("three.csv", mixed), {}, ["three.csv"]),
  "two classes of a mixed table": () => learn({ file: "two.csv" }, table("two.csv", two), {}, ["two.csv"]),
  "values": () => learn({ file: "values.csv", label: "cost" }, table("values.csv", valueTable(1200)), {}, ["values.csv", "--label", "cost"]),
  "images": () => learn({ set: "mnist35" }, digits, { settings: { rounds: 12, patterns: 40 } }, ["mnist35", "--rounds", "12", "--patterns", "40"]),
  "the paper's tree": () => learn({ set: "mnist35" }, digits, { model: "tree", settings: { arity: 3, depth: 3, climb: 300 } }, ["mnist35", "--model", "tree", "--arity", "3", "--depth", "3", "--climb", "300"]),
};

const library = readFileSync(process.env.GATEWOOD_LIBRARY);
await ask({ module: await WebAssembly.compile(library) });
let failed = 0;
const inPage = /id="library">([^<]*)</.exec(readFileSync(process.env.GATEWOOD_PAGE, "utf8"))[1];
if (library.equals(unpack(Uint8Array.from(Buffer.from(inPage, "base64"))))) {
  console.log(`ok the page has the library, packed: ${library.length} bytes`);
} else {
  failed++;
  console.log("FAILED the page has another library");
}
for (const [name, run] of Object.entries(CASES)) {
  try {
    const [here, command] = await run();
    if (!here.equals(command)) throw new Error(`${here.length} bytes here, ${command.length} of the command differ`);
    console.log(`ok ${name}: ${here.length} bytes, as the command learns them`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${error.message}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;
