// Pages of large models, learned from sets that do not ship: what they say, and how soon.

import { existsSync } from "node:fs";
import { answersFast, compare } from "./answers.mjs";
import { check, equal, file, finish, gatewood, open } from "./harness.mjs";

for (const [set, ...settings] of [["adult"], ["mnist"], ["mnist", "--patterns", "0"]]) {
  const name = settings.length > 0 ? `${set}-plain` : set;
  if (!existsSync(file(`${name}.gw`))) gatewood("train", set, ...settings, "-o", `${name}.gw`, "--quiet");
  gatewood("explore", `${name}.gw`, "--data", set, "-o", `${name}.html`);
  const { page, asked, errors, close } = await open(`${name}.html`);
  await check(`${name}: every row as predict says`, () => compare(page, `${name}.gw`, set, 1000));
  await check(`${name}: answers at once`, () => answersFast(page));
  await check(`${name}: no requests, no errors`, () => equal([asked, errors], [[], []]));
  await close();
}
await finish();
