// The explorer in a real browser: it says what `gatewood predict` says, asks for nothing, and answers at once.

import { writeFileSync } from "node:fs";
import { answersFast, compare } from "./answers.mjs";
import { check, ensure, equal, file, finish, gatewood, open } from "./harness.mjs";
import { csv, hostileTable, mixedTable, valueTable } from "./tables.mjs";

const settle = page => page.waitForTimeout(700);

/** Pictures of a page at two widths, light and dark. */
async function pictures(name, view, act = async () => {}) {
  for (const [width, height] of [[1280, 900], [390, 844]]) {
    for (const dark of [false, true]) {
      const { page, close } = await open(`${name}.html`, { width, height, dark });
      await page.click(`.tab[data-id=${view}]`);
      await act(page);
      await settle(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      ensure(wide <= width, `the page is ${wide} pixels wide on a screen of ${width}`);
      await page.screenshot({ path: file(`${name}-${view}-${width}-${dark ? "dark" : "light"}.png`) });
      await close();
    }
  }
}

// Images: the 3s and 5s that ship, once with spans and once with patterns, and the paper's tree.
gatewood("train", "mnist35", "--patterns", "0", "-o", "digits.gw", "--quiet");
gatewood("explore", "digits.gw", "--data", "mnist35", "-o", "digits.html");
gatewood("train", "mnist35", "--patterns", "300", "--rounds", "40", "-o", "patterns.gw", "--quiet");
gatewood("explore", "patterns.gw", "--data", "mnist35", "-o", "patterns.html", "--luts", "6");
gatewood("train", "mnist35", "--model", "tree", "--depth", "4", "-o", "tree.gw", "--quiet");
gatewood("explore", "tree.gw", "--data", "mnist35", "-o", "tree.html");

{
  const { page, asked, errors, close } = await open("digits.html");
  await check("digits: every row as predict says", () => compare(page, "digits.gw", "mnist35", 1000));
  await check("digits: a drawn 3 and a drawn 5 are read", async () => {
    const box = await page.locator("canvas.drawing").boundingBox();
    const stroke = async points => {
      const to = ([x, y]) => [box.x + box.width * x / 28, box.y + box.height * y / 28];
      await page.mouse.move(...to(points[0]));
      await page.mouse.down();
      for (const point of points.slice(1)) await page.mouse.move(...to(point), { steps: 4 });
      await page.mouse.up();
    };
    const read = () => page.locator("[data-test=class]").textContent();
    await page.click("[data-test=clear]");
    await stroke([[9, 7], [12, 5], [16, 5], [18, 8], [16, 11], [13, 13], [17, 15], [19, 18], [17, 22], [12, 23], [8, 21]]);
    equal(await read(), "3");
    await page.click("[data-test=clear]");
    await stroke([[19, 5], [11, 5], [10, 12], [15, 11], [18, 14], [18, 19], [14, 22], [9, 21]]);
    equal(await read(), "5");
    return "3 and 5";
  });
  await check("digits: stepping shows the next row", async () => {
    await page.click("[data-test=next]");
    ensure((await page.locator("[data-test=where]").textContent()).startsWith("2 of"), "the second row is not shown");
  });
  await check("digits: the keyboard draws", async () => {
    await page.click("[data-test=clear]");
    await page.focus("canvas.drawing");
    const before = await page.locator("[data-test=margin]").textContent();
    for (const key of ["ArrowDown", " ", "ArrowDown", " ", "ArrowDown", " "]) await page.keyboard.press(key);
    ensure(before !== await page.locator("[data-test=margin]").textContent(), "the margin did not change");
  });
  await check("digits: answers at once", () => answersFast(page));
  await check("digits: the circuit opens down to a truth table", async () => {
    await page.click(".tab[data-id=circuit]");
    await page.click(".tile[data-tree='5']");
    await page.locator("[data-test=tree] .node").first().click();
    equal(await page.locator("[data-test=gate] .truth .here").count(), 1);
    ensure((await page.locator(".tile").count()) >= 500, "tiles are missing");
  });
  await check("digits: nothing is asked for, no errors", async () => {
    equal([asked, errors], [[], []]);
    const blocked = await page.evaluate(() => fetch("https://example.org/").then(() => "sent", error => error.name));
    equal(blocked, "TypeError");
    ensure((await page.content()).includes("default-src 'none'"), "the policy is missing");
    ensure(errors.some(error => error.includes("Content Security Policy")), "it was not the policy that refused");
  });
  await close();
}

for (const name of ["patterns", "tree"]) {
  const { page, asked, errors, close } = await open(`${name}.html`);
  await check(`${name}: every row as predict says`, () => compare(page, `${name}.gw`, "mnist35", 1000));
  await check(`${name}: answers at once`, () => answersFast(page));
  await check(`${name}: a change of one pixel is the same as a new row`, async () => {
    const differ = await page.evaluate(() => {
      const { machine } = globalThis.explorer;
      let differ = 0;
      for (let step = 0; step < 50; step++) {
        const input = step * 37 % machine.row.length;
        machine.set(input, 1 - machine.row[input]);
        const kept = Array.from(machine.room.margins);
        machine.setRow(machine.row);
        if (kept.some((margin, place) => margin !== machine.room.margins[place])) differ++;
      }
      return differ;
    });
    equal(differ, 0);
  });
  await check(`${name}: no errors`, () => equal([asked, errors], [[], []]));
  await close();
}

// A table of numbers, categories, dates and texts, with gaps.
const table = mixedTable(1600);
writeFileSync(file("mixed.csv"), csv(table));
gatewood("train", "mixed.csv", "--label", "kind", "--rounds", "60", "-o", "mixed.gw", "--quiet");
gatewood("explore", "mixed.gw", "--data", "mixed.csv", "-o", "mixed.html");
{
  const { page, asked, errors, close } = await open("mixed.html");
  await check("table: every row as predict says", () => compare(page, "mixed.gw", "mixed.csv", 1000));
  await check("table: a slider moves the answer as predict says", async () => {
    await page.evaluate(() => globalThis.explorer.show(3));
    const slider = page.locator(".field", { hasText: "weight" }).locator("input[type=range]");
    const before = await page.locator("[data-test=margin]").textContent();
    let changed = false;
    for (const place of ["100", "400", "700", "950"]) {
      await slider.evaluate((element, value) => {
        element.value = value;
        element.dispatchEvent(new Event("input", { bubbles: true }));
      }, place);
      const { values, said, probability } = await page.evaluate(() => {
        const { machine, data, answer } = globalThis.explorer;
        return { values: machine.row.map((value, input) => value === null ? "" : machine.encoder.show(input, value)),
          names: data.inputs.map(input => input.name), said: data.classes[answer.place], probability: answer.probabilities };
      });
      const names = await page.evaluate(() => globalThis.explorer.data.inputs.map(input => input.name));
      writeFileSync(file("moved.csv"), csv([names, values, values]));
      const wanted = JSON.parse(gatewood("predict", "mixed.gw", "moved.csv", "--proba", "--json"));
      equal(said, wanted.predicted[0]);
      equal(probability.map(p => p.toFixed(6)), wanted.probabilities[0].map(p => p.toFixed(6)));
      changed ||= before !== await page.locator("[data-test=margin]").textContent();
    }
    ensure(changed, "the margin never changed");
  });
  await check("table: contributions are those of predict", async () => {
    await page.evaluate(() => globalThis.explorer.show(5));
    await page.waitForFunction(() => /exact/.test(document.querySelector("[aria-label=Contributions] .note").textContent), null, { timeout: 20000 });
    const [values, number, unit, names] = await page.evaluate(() => [JSON.parse(document.querySelector(".bars").dataset.values),
      globalThis.explorer.rows.number(5), globalThis.explorer.machine.circuit.unit, globalThis.explorer.data.inputs.map(input => input.name)]);
    const [head, ...lines] = gatewood("predict", "mixed.gw", "mixed.csv", "--contributions").trim().split("\n").map(line => line.split(","));
    const line = lines[number - 1];
    values.forEach((value, input) => {
      const wanted = Number(line[head.indexOf(`c_${names[input]}`)]);
      ensure(Math.abs(value * unit - wanted) < 2e-6, `${names[input]} adds ${value * unit}, not ${wanted}`);
    });
    return `${values.length} columns`;
  });
  await check("table: the least change that was found turns the answer", async () => {
    const before = await page.locator("[data-test=class]").textContent();
    await page.locator("[data-test=apply-change]").click({ timeout: 20000 });
    ensure(before !== await page.locator("[data-test=class]").textContent(), "the class stayed");
  });
  await check("table: a number of the confusion matrix leads to its rows", async () => {
    await page.click(".tab[data-id=rows]");
    await page.waitForSelector("[data-test=self-check][data-done=true]");
    equal(await page.locator("[data-test=self-check]").getAttribute("data-equal"), await page.evaluate(() => String(globalThis.explorer.rows.count)));
    const button = page.locator(".confusion .cell").first();
    const count = await button.textContent();
    await button.click();
    equal(await page.locator("[data-test=where]").textContent(), `1 of ${count}`);
  });
  await check("table: missing values", async () => {
    const field = page.locator(".field", { hasText: "weight" });
    await field.locator("button[aria-label*='is missing']").click();
    equal(await page.evaluate(() => globalThis.explorer.machine.row[globalThis.explorer.data.inputs.findIndex(i => i.name === "weight")]), null);
  });
  await check("table: answers at once", () => answersFast(page));
  await check("table: every control has a name", async () => {
    for (const view of ["try", "rows", "circuit", "model"]) {
      await page.click(`.tab[data-id=${view}]`);
      const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, canvas[role], [role=button]")]
        .filter(element => element.getAttribute("aria-hidden") !== "true" && !element.textContent.trim() && !element.getAttribute("aria-label")
          && !(element.labels && element.labels.length > 0)).map(element => element.outerHTML.slice(0, 120)));
      equal(nameless, [], view);
    }
  });
  await check("table: no requests, no errors", () => equal([asked, errors], [[], []]));
  await close();
}

// A value in place of classes.
writeFileSync(file("values.csv"), csv(valueTable(1200)));
gatewood("train", "values.csv", "--label", "cost", "--objective", "squared", "--rounds", "60", "-o", "values.gw", "--quiet");
gatewood("explore", "values.gw", "--data", "values.csv", "-o", "values.html");
{
  const { page, asked, errors, close } = await open("values.html");
  await check("values: every row as predict says", async () => {
    const rows = await page.evaluate(() => {
      const { machine, rows } = globalThis.explorer;
      const room = machine.circuit.room();
      return Array.from({ length: rows.count }, (_, row) => {
        machine.encoder.encode(rows.list(row), room.values);
        machine.circuit.run(room);
        return [rows.number(row), machine.circuit.valueAt(machine.circuit.said(room.margins))];
      });
    });
    const said = gatewood("predict", "values.gw", "values.csv").trim().split("\n").slice(1).map(line => Number(line.split(",")[1]));
    rows.forEach(([row, value]) => equal(value, said[row - 1], `row ${row}:`));
    ensure(rows.length >= 1000, `${rows.length} rows`);
    return `${rows.length} rows`;
  });
  await check("values: a slider moves the value", async () => {
    const before = await page.locator("[data-test=class]").textContent();
    const slider = page.locator(".field", { hasText: "weight" }).locator("input[type=range]");
    await slider.focus();
    for (let step = 0; step < 40; step++) await page.keyboard.press("ArrowRight");
    ensure(before !== await page.locator("[data-test=class]").textContent(), "the value stayed");
  });
  await check("values: a point leads to its row", async () => {
    await page.click(".tab[data-id=rows]");
    await page.locator(".plot .small").nth(10).click({ force: true });
    equal(await page.locator("[data-test=where]").textContent(), "1 of 1");
  });
  await check("values: answers at once", () => answersFast(page));
  await check("values: no requests, no errors", () => equal([asked, errors], [[], []]));
  await close();
}

// Quantiles of the same values.
gatewood("train", "values.csv", "--label", "cost", "--objective", "quantile:0.1,0.5,0.9", "--rounds", "40", "-o", "quantiles.gw", "--quiet");
gatewood("explore", "quantiles.gw", "--data", "values.csv", "-o", "quantiles.html");
{
  const { page, errors, close } = await open("quantiles.html");
  await check("quantiles: every row as predict says, none crosses", async () => {
    const rows = await page.evaluate(() => {
      const { machine, rows } = globalThis.explorer;
      const room = machine.circuit.room();
      return Array.from({ length: rows.count }, (_, row) => {
        machine.encoder.encode(rows.list(row), room.values);
        machine.circuit.run(room);
        return [rows.number(row), Array.from(machine.circuit.said(room.margins), margin => machine.circuit.valueOf(margin))];
      });
    });
    const said = gatewood("predict", "quantiles.gw", "values.csv").trim().split("\n").slice(1).map(line => line.split(",").slice(1, 4).map(Number));
    rows.forEach(([row, values]) => {
      equal(values, said[row - 1], `row ${row}:`);
      ensure(values[0] <= values[1] && values[1] <= values[2], `the quantiles of row ${row} cross: ${values}`);
    });
    return `${rows.length} rows`;
  });
  await check("quantiles: the fan shows them", async () => {
    equal(await page.locator("[data-quantile]").evaluateAll(meters => meters.map(meter => meter.dataset.quantile)), ["0.1", "0.5", "0.9"]);
    equal(errors, []);
  });
  await close();
}

// Names that try to be something else.
for (let seed = 1; seed <= 4; seed++) {
  await check(`hostile names, seed ${seed}, are text`, async () => {
    const { rows, names, classes } = hostileTable(seed);
    writeFileSync(file("hostile.csv"), csv(rows));
    gatewood("train", "hostile.csv", "--label", "-1", "--rounds", "20", "-o", "hostile.gw", "--quiet");
    gatewood("explore", "hostile.gw", "--data", "hostile.csv", "-o", "hostile.html");
    const { page, asked, errors, dialogs, close } = await open("hostile.html");
    for (const view of ["rows", "circuit", "model", "try"]) {
      await page.click(`.tab[data-id=${view}]`);
      await page.waitForTimeout(150);
    }
    const found = await page.evaluate(() => ({
      hacked: globalThis.hacked, scripts: document.scripts.length, images: document.querySelectorAll("img, iframe, object, embed, form, a").length,
      names: globalThis.explorer.data.inputs.map(input => input.name), classes: globalThis.explorer.data.classes,
      shown: [...document.querySelectorAll(".field-name bdi")].map(element => element.title || element.textContent),
      wide: document.documentElement.scrollWidth,
    }));
    equal([found.hacked, found.scripts, found.images, asked, errors, dialogs], [undefined, 2, 0, [], [], []]);
    ensure(found.names.every(name => names.includes(name)) && found.names.length > 3, "names were changed");
    ensure(found.classes.every(name => classes.includes(name)), "classes were changed");
    ensure(found.shown.length > 3 && found.shown.every(name => names.some(whole => whole.slice(0, 1000) === name)), `names are shown as ${JSON.stringify(found.shown)}`);
    ensure(found.wide <= 1280, `the page is ${found.wide} pixels wide`);
    await compare(page, "hostile.gw", "hostile.csv", 100);
    await close();
    return `${found.names.length} columns, ${found.classes.length} classes`;
  });
}

await check("pictures of the digits", () => pictures("digits", "try"));
await check("pictures of the circuit", () => pictures("digits", "circuit", page => page.click(".tile[data-tree='7']")));
await check("pictures of the table", () => pictures("mixed", "try"));
await check("pictures of a value", () => pictures("values", "rows"));
await check("pictures of the rows", () => pictures("mixed", "rows"));
await finish();
