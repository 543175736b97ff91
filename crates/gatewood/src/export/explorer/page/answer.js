// What the model says of the present row, and why.

import { brief, classColour, fill, h, meter, named, percent, short, signed, whole } from "./dom.js";
import { columnWorth, contributions, hasContributions, leastChange, nearThresholds, profile } from "./explain.js";

/** Classes and columns that are listed. */
const LISTED = 10;

/** The panel with the answer. */
export function answerPanel(state) {
  const { data, machine } = state;
  const count = data.classes.length;
  const { isTree, value } = machine.circuit;
  const chip = h("span", { class: "chip", "aria-hidden": "true" });
  const name = h("strong", { class: "answer-class", "data-test": "class" });
  const chance = h("span", { class: "answer-chance", "data-test": "probability" });
  const margin = h("span", { class: "answer-margin", "data-test": "margin" });
  const about = h("p", { class: "answer-row" });
  const longest = Math.max(...data.classes.slice(0, 200).map(name => Math.min(16, name.length)));
  const bars = h("div", { class: "meters", style: { "--label": `${longest + 1}ch`, "--value": machine.circuit.margins > 1 ? "17ch" : "7ch" } });
  const lines = data.classes.slice(0, 200).map((_, place) => place);
  const head = h("div", { class: "answer-head", role: "status", "aria-live": "polite", "aria-atomic": "true" },
    chip, h("div", { class: "answer-words" }, name, h("span", { class: "answer-figures" }, chance, margin)));
  state.onChange(() => {
    const { place, probabilities, margins } = state.answer;
    if (value) {
      name.textContent = brief(machine.circuit.valueAt(margins), state.valueRange().range);
      name.dataset.value = machine.circuit.valueAt(margins);
      chip.style.setProperty("background", valueColour(state, margins));
      chance.textContent = data.label ? short(data.label, 30) : "value";
      margin.textContent = `${signed(margins[machine.circuit.main])} votes`;
      fill(about, rowText(state));
      fill(bars, fan(state));
      return;
    }
    fill(name, named(data.classes[place], 40));
    name.dataset.class = place;
    chip.style.setProperty("background", classColour(place, count));
    chance.textContent = isTree ? "" : percent(probabilities[place], 1);
    margin.textContent = isTree ? "a single tree has no probability"
      : margins.length === 1 ? `margin ${signed(margins[0])} votes` : `margin ${signed(margins[place])} votes`;
    fill(about, rowText(state));
    const shown = lines.length <= LISTED ? lines
      : lines.slice().sort((a, b) => probabilities[b] - probabilities[a]).slice(0, LISTED);
    fill(bars, isTree ? [] : shown.map(other => meter(named(data.classes[other], 16), probabilities[other],
      margins.length === 1 ? percent(probabilities[other], 2) : `${percent(probabilities[other], 2)} · ${signed(margins[other])}`,
      classColour(other, count), { "data-probability": probabilities[other], "data-margin": margins[margins.length === 1 ? 0 : other] })));
  });
  return h("section", { class: "card answer", "aria-label": "Answer" }, head, about, bars);
}

/** Where the present row comes from. */
function rowText(state) {
  const { rows, at, data, answer } = state;
  if (at === null || !rows) return "A row of your own.";
  const words = [`Row ${whole(rows.number(at))} of the data`];
  if (!state.isUnchanged) words.push(", changed");
  if (rows.labels && state.machine.circuit.value) {
    const { range } = state.valueRange();
    const off = state.machine.circuit.valueAt(answer.margins) - rows.labels[at];
    return [...words, `: the data say ${brief(rows.labels[at], range)}, the model is off by ${brief(off, range)}`];
  }
  if (rows.labels) {
    const label = rows.labels[at];
    const right = label === answer.place;
    return [...words, ": labelled ", named(data.classes[label], 30), " — ",
      h("span", { class: right ? "right" : "wrong" }, right ? "the model agrees" : "the model differs")];
  }
  return [...words, "."];
}

/** The quantiles of a value, from the lowest to the highest. */
function fan(state) {
  const { circuit } = state.machine;
  if (circuit.quantiles.length < 2) return [];
  const { low, range } = state.valueRange();
  return circuit.quantiles.map((level, place) => {
    const value = circuit.valueOf(state.answer.margins[place]);
    return meter(`quantile ${level}`, (value - low) / range, brief(value, range), "var(--accent)", { "data-quantile": level });
  });
}

/** The colour of a value: from low to high. */
export function valueColour(state, margins) {
  const { low, range } = state.valueRange();
  const share = Math.max(0, Math.min(1, (state.machine.circuit.valueAt(margins) - low) / range));
  return `color-mix(in oklab, var(--yes) ${Math.round(100 * share)}%, var(--no))`;
}

/** What each column adds, as bars. */
export function contributionPanel(state) {
  const { data, machine } = state;
  const list = h("div", { class: "bars", style: { "min-height": `${23 * Math.min(LISTED, data.inputs.length)}px` } });
  const note = h("p", { class: "note" });
  const heading = h("h2", {}, "What each column adds");
  const exact = hasContributions(machine) && state.rows !== null && state.rows.count > 0;
  let background = null;
  const { value } = machine.circuit;
  const show = (votes, of, remark) => {
    const values = value ? votes.map(vote => vote * value.scale) : votes;
    const order = data.inputs.map((_, input) => input).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
    const most = Math.max(Math.abs(values[order[0]] ?? 1), 1e-9);
    fill(list, order.slice(0, LISTED).filter(input => values[input] !== 0).map(input =>
      diverging(data.inputs[input].name, machine.encoder.show(input, machine.row[input]), values[input], most)));
    list.dataset.values = JSON.stringify(values);
    fill(note, value ? [value.log ? "In the logarithm of " : "In units of ", named(data.label ?? "the value", 30)] : ["In votes for ", named(of, 30)], `. ${remark}`);
  };
  state.onQuiet(function* () {
    const margin = state.margin();
    const of = value ? "" : machine.circuit.margins === 1 ? data.classes[1] : data.classes[margin];
    if (exact) {
      background ??= makeBackground(state);
      for (const found of contributions(machine, background, margin)) {
        const kind = found.estimated ? "estimated" : found.done < found.of ? "first estimate" : "exact Shapley values";
        show(found.values, of, `From a mean of ${value ? brief(machine.circuit.valueOf(found.mean)) : signed(found.mean, 1)} over ${found.done} rows: ${kind}.`);
        yield;
      }
      return;
    }
    const values = [];
    for (let input = 0; input < data.inputs.length; input++) {
      const answers = profile(machine, input);
      const mean = answers.reduce((sum, { margins }) => sum + margins[margin], 0) / Math.max(1, answers.length);
      values.push(answers.length === 0 ? 0 : machine.room.margins[margin] - mean);
      yield;
    }
    show(values, of, "The row's margin less its mean over all ranges of that column alone.");
  });
  return machine.circuit.isTree ? null : h("section", { class: "card", "aria-label": "Contributions" }, heading, list, note);
}

function makeBackground(state) {
  const { machine, rows } = state;
  return rows.background.map(row => {
    const room = machine.circuit.room();
    machine.encoder.encode(rows.list(row), room.values);
    machine.circuit.run(room);
    return { values: room.values, margins: Array.from(room.margins) };
  });
}

function diverging(name, value, amount, most) {
  const share = Math.abs(amount) / most * 50;
  const digits = Math.max(0, Math.min(8, 2 - Math.floor(Math.log10(most))));
  return h("div", { class: "bar-row" },
    h("span", { class: "bar-name" }, named(name, 24), h("span", { class: "bar-own" }, " ", named(value, 18))),
    h("span", { class: "bar-track", "aria-hidden": "true" },
      h("span", { class: amount < 0 ? "bar down" : "bar up", style: { width: `${share}%`, left: `${amount < 0 ? 50 - share : 50}%` } })),
    h("span", { class: "bar-value" }, signed(amount, digits)));
}

/** The least change that turns the answer, found by search. */
export function changePanel(state) {
  const { data, machine } = state;
  if (machine.circuit.value) return null;
  const text = h("div", { class: "change" }, "Searching…");
  state.onQuiet(function* () {
    const found = yield* leastChange(machine, state.fixed, input => state.scale(input));
    if (!found) {
      fill(text, h("p", {}, "No change of up to four columns was found that turns the answer."));
      return;
    }
    fill(text,
      h("p", {}, "It would be ", h("strong", {}, named(data.classes[found.to], 40)), " with"),
      h("ul", {}, found.changes.map(([input, value]) => h("li", { "data-input": input },
        named(data.inputs[input].name, 30), " ", h("strong", {}, named(machine.encoder.show(input, value), 30)),
        " in place of ", named(machine.encoder.show(input, machine.row[input]), 30)))),
      h("p", {}, h("button", { type: "button", class: "button", onclick: () => state.apply(found.changes), "data-test": "apply-change" }, "Make this change")));
  });
  return h("section", { class: "card", "aria-label": "Least change" }, h("h2", {}, "Least change that turns it"), text,
    h("p", { class: "note" }, "Found by a search in this page, not proven to be the least: gatewood explain proves it. ",
      "Columns with a closed lock stay as they are."));
}

/** Thresholds near the row. */
export function nearPanel(state) {
  const { data, machine } = state;
  const list = h("ul", { class: "near" });
  const numbers = data.inputs.some(input => input.kind === "number" || input.kind === "date");
  if (!numbers) return null;
  const { value } = machine.circuit;
  state.onQuiet(function* () {
    const margin = state.margin();
    const found = nearThresholds(machine, margin, input => state.scale(input)).slice(0, 8);
    yield;
    fill(list, found.map(({ input, threshold, way, change, turns }) => h("li", {},
      named(data.inputs[input].name, 26), ` ${way} `, h("strong", {}, near(machine, state, input, threshold)), ": ",
      h("span", { class: change < 0 ? "down-text" : "up-text" }, value ? signedBrief(change * value.scale) : `${signed(change)} votes`),
      turns ? h("span", { class: "badge" }, "turns the answer") : null)));
    if (found.length === 0) fill(list, h("li", {}, "No threshold of the model is near."));
  });
  return h("section", { class: "card", "aria-label": "Near thresholds" }, h("h2", {}, "Thresholds that are near"), list);
}

function signedBrief(number) {
  return (number < 0 ? "−" : "+") + brief(Math.abs(number));
}

function near(machine, state, input, threshold) {
  if (machine.data.inputs[input].kind === "date") return short(machine.encoder.show(input, threshold));
  return brief(threshold, state.scale(input).range);
}

/** What counts for the present class: its margin, less that of the next. */
export function lead(state) {
  const { margins, place } = state.answer;
  const { value, main } = state.machine.circuit;
  if (value) return [[main, 1]];
  if (margins.length === 1) return [[0, place === 1 ? 1 : -1]];
  let next = place === 0 ? 1 : 0;
  margins.forEach((margin, other) => { if (other !== place && margin > margins[next]) next = other; });
  return [[place, 1], [next, -1]];
}

/** What each column that leaves read is worth to the present answer. */
export function worthHere(state) {
  return columnWorth(state.machine, lead(state));
}
