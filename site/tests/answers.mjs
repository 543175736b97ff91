// What a page answers, beside what the command says, and how soon.

import { ensure, equal, gatewood, median } from "./harness.mjs";

/** What the page computes for its rows: class, probabilities, and whether the margins are those it was given. */
const computeRows = () => {
  const { machine, rows } = globalThis.explorer;
  const room = machine.circuit.room();
  return Array.from({ length: rows.count }, (_, row) => {
    machine.encoder.encode(rows.list(row), room.values);
    machine.circuit.run(room);
    return {
      row: rows.number(row),
      place: machine.circuit.classOf(room.margins),
      probabilities: machine.circuit.probabilities(room.margins),
      isSame: rows.predictions[row].margins.every((margin, place) => margin === room.margins[place]),
    };
  });
};

/** Compares all rows of a page with what `predict` says of the data. */
export async function compare(page, model, data, least) {
  const rows = await page.evaluate(computeRows);
  ensure(rows.length >= least, `${rows.length} rows are in the page`);
  // A single tree has no probabilities.
  const isTree = await page.evaluate(() => globalThis.explorer.machine.circuit.isTree);
  const said = JSON.parse(gatewood("predict", model, data, ...(isTree ? [] : ["--proba"]), "--json"));
  for (const { row, place, probabilities, isSame } of rows) {
    equal(said.classes[place], said.predicted[row - 1], `row ${row}:`);
    ensure(isSame, `the margins of row ${row} differ`);
    if (!isTree) equal(probabilities.map(p => p.toFixed(9)), said.probabilities[row - 1].map(p => p.toFixed(9)), `row ${row}:`);
  }
  return `${rows.length} rows`;
}

/** The time from a change to the answer being drawn, in milliseconds, for many changes. */
const measure = async () => {
  const state = globalThis.explorer;
  const times = [];
  const inputs = state.data.inputs.length;
  for (let step = 0; step < 60; step++) {
    const input = step * 7919 % inputs;
    const cells = state.machine.cells(input);
    const value = cells.length > 0 ? cells[step % cells.length].value : state.machine.row[input];
    const started = performance.now();
    state.set(input, value);
    // The answer is in the page; laying it out is part of the time.
    void document.querySelector("[data-test=class]").getBoundingClientRect();
    times.push(performance.now() - started);
    await new Promise(done => setTimeout(done, 12));
  }
  return times;
};

/** Fails unless the page answers a change in less than 50 milliseconds. */
export async function answersFast(page) {
  const times = await page.evaluate(measure);
  const middle = median(times);
  ensure(middle < 50, `the median is ${middle.toFixed(1)} ms`);
  return `median ${middle.toFixed(2)} ms, worst ${Math.max(...times).toFixed(1)} ms`;
}
