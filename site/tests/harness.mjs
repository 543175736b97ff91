// What the browser tests share: the command, a browser that may ask for nothing, and checks that are counted.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = await import(pathToFileURL(join(process.env.GATEWOOD_PLAYWRIGHT, "index.mjs")));

/** The folder for models, pages and pictures. */
export const folder = process.env.GATEWOOD_BROWSER_FOLDER;
mkdirSync(folder, { recursive: true });

/** A file of that folder. */
export const file = name => join(folder, name);

/** Runs the command, and gives back what it prints. */
export function gatewood(...words) {
  return execFileSync(process.env.GATEWOOD_COMMAND, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
}

let [passed, failed] = [0, 0];

/** One check, named. */
export async function check(name, run) {
  const started = performance.now();
  try {
    const said = await run();
    passed++;
    console.log(`ok ${name}${said ? `: ${said}` : ""} [${Math.round(performance.now() - started)} ms]`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${String(error.message ?? error).split("\n").slice(0, 6).join(" | ")}`);
  }
}

/** Fails unless something holds. */
export function ensure(holds, text) {
  if (!holds) throw new Error(text);
}

/** Fails unless two values are the same. */
export function equal(found, wanted, text = "") {
  ensure(JSON.stringify(found) === JSON.stringify(wanted), `${text} found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
}

/** The middle of some numbers. */
export function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}

const browser = await chromium.launch({
  executablePath: process.env.GATEWOOD_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** Opens a page of the folder, offline. Whatever it asks for, and every error, is listed. */
export async function open(name, { width = 1280, height = 900, dark = false, touch = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", hasTouch: touch });
  await context.setOffline(true);
  const page = await context.newPage();
  const [asked, errors, dialogs] = [[], [], []];
  page.on("request", request => { if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url()); });
  page.on("pageerror", error => errors.push(error.message));
  page.on("console", message => { if (message.type() === "error") errors.push(message.text()); });
  page.on("dialog", dialog => { dialogs.push(dialog.message()); dialog.dismiss(); });
  await page.goto(pathToFileURL(file(name)).href);
  return { page, asked, errors, dialogs, close: () => context.close() };
}

/** Ends the tests: the last line counts them. */
export async function finish() {
  await browser.close();
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
