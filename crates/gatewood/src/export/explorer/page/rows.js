// The rows of the data: stepping, filters, the confusion matrix and calibration.

import { brief, h, meter, named, percent, svg, whole } from "./dom.js";

/** Which of the rows are stepped through. */
export function rowStepper(state) {
  const { rows, data } = state;
  if (!rows || rows.count === 0) return null;
  const filters = [["all", "all rows"]];
  const { isTree, value } = state.machine.circuit;
  if (rows.labels) filters.push(value ? ["far", "the furthest off"] : ["wrong", "wrong rows"]);
  if (!isTree && !value) filters.push(["unsure", "the least sure"]);
  data.classes.slice(0, 50).forEach((name, place) => filters.push([`said-${place}`, `answer: ${name}`]));
  const menu = h("select", { class: "menu", "aria-label": "Which rows", onchange: () => choose(menu.value) },
    filters.map(([value, name]) => h("option", { value }, name.length > 40 ? name.slice(0, 39) + "…" : name)));
  let chosen = select(state, "all");
  let place = 0;
  const where = h("span", { class: "where", "data-test": "where" });
  const go = to => {
    if (chosen.length === 0) return;
    place = (to + chosen.length) % chosen.length;
    state.show(chosen[place]);
  };
  const back = h("button", { type: "button", class: "button", "aria-label": "Previous row", onclick: () => go(place - 1) }, "‹");
  const on = h("button", { type: "button", class: "button", "aria-label": "Next row", "data-test": "next", onclick: () => go(place + 1) }, "›");
  const draw = () => {
    where.textContent = chosen.length === 0 ? "none" : `${whole(place + 1)} of ${whole(chosen.length)}`;
  };
  function choose(filter) {
    chosen = typeof filter === "string" ? select(state, filter) : filter;
    place = 0;
    if (chosen.length > 0) go(0);
    draw();
  }
  state.onChange(draw);
  state.chooseRows = choose;
  return h("div", { class: "stepper", role: "group", "aria-label": "Rows of the data" }, menu, back, where, on);
}

/** The rows that a filter lets through. */
function select(state, filter) {
  const { rows } = state;
  const all = rows.predictions.map((_, row) => row);
  if (filter === "far") {
    const off = all.map(row => Math.abs(errorOf(state, row)));
    return all.sort((a, b) => off[b] - off[a]).slice(0, Math.max(20, Math.ceil(all.length / 10)));
  }
  if (filter === "wrong") return all.filter(row => rows.labels[row] !== rows.predictions[row].place);
  if (filter === "unsure") {
    const sure = all.map(row => Math.max(...state.machine.circuit.probabilities(rows.predictions[row].margins)));
    return all.sort((a, b) => sure[a] - sure[b]).slice(0, Math.max(20, Math.ceil(all.length / 10)));
  }
  if (filter.startsWith("said-")) return all.filter(row => rows.predictions[row].place === Number(filter.slice(5)));
  return all;
}

/** What the model does with the rows of the page. */
export function rowsView(state, showTry) {
  const { rows, machine } = state;
  if (!rows || rows.count === 0) {
    return h("section", { class: "card" }, h("h2", {}, "No rows"),
      h("p", {}, "This page was made without data. ", h("code", {}, "gatewood explore MODEL --data DATA"), " puts rows in it."));
  }
  const about = rows.count < rows.total ? `${whole(rows.count)} of ${whole(rows.total)} rows, evenly spread.` : `All ${whole(rows.count)} rows.`;
  const check = h("p", { class: "note", "data-test": "self-check" }, "");
  selfCheck(state, check);
  const parts = [h("p", {}, about), check];
  if (machine.circuit.value) {
    return h("div", { class: "stack" }, h("section", { class: "card", "aria-label": "Rows" }, parts), rows.labels ? scatter(state, showTry) : null);
  }
  if (rows.labels) {
    parts.unshift(h("h2", {}, `Error ${percent(rows.predictions.filter(({ place }, row) => place !== rows.labels[row]).length / rows.count, 2)}`));
  }
  return h("div", { class: "stack" },
    h("section", { class: "card", "aria-label": "Rows" }, parts),
    rows.labels ? confusion(state, showTry) : null,
    rows.labels && !machine.circuit.isTree ? calibration(state) : null,
    h("section", { class: "card" }, h("h2", {}, "How sure it is"), certainties(state, showTry)));
}

/** How far the value of a row is from its label. */
function errorOf(state, row) {
  return state.machine.circuit.valueAt(state.rows.predictions[row].margins) - state.rows.labels[row];
}

/** The values that the model says beside those of the data. */
function scatter(state, showTry) {
  const { rows, machine } = state;
  const errors = rows.labels.map((_, row) => errorOf(state, row));
  const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / rows.count;
  const square = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / rows.count);
  const said = rows.predictions.map(({ margins }) => machine.circuit.valueAt(margins));
  const all = [...rows.labels, ...said];
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const [side, left, top] = [300, 52, 8];
  const at = value => (value - low) / Math.max(high - low, 1e-12) * side;
  const drawing = svg("svg", { viewBox: `0 0 ${side + left + 24} ${side + top + 36}`, class: "plot wide", role: "img",
    "aria-label": `Values of the data and of the model for ${rows.count} rows: the mean error is ${brief(mean)}` },
  svg("rect", { x: left, y: top, width: side, height: side, class: "frame" }),
  svg("line", { x1: left, y1: top + side, x2: left + side, y2: top, class: "diagonal" }),
  rows.labels.map((label, row) => svg("circle", { cx: left + at(label), cy: top + side - at(said[row]), r: 2.6, class: "dot small",
    onclick: () => { state.chooseRows([row]); showTry(); } }, svg("title", {}, `row ${rows.number(row)}: ${brief(label)} in the data, ${brief(said[row])} here`))),
  [low, (low + high) / 2, high].map(value => [
    svg("text", { x: left + at(value), y: top + side + 14, "text-anchor": "middle" }, brief(value, high - low)),
    svg("text", { x: left - 4, y: top + side - at(value) + 4, "text-anchor": "end" }, brief(value, high - low)),
  ]),
  svg("text", { x: left + side / 2, y: top + side + 31, "text-anchor": "middle" }, "value of the data"));
  return h("section", { class: "card", "aria-label": "Errors" }, h("h2", {}, `Off by ${brief(mean)} in the mean; root of the mean square ${brief(square)}`),
    h("p", { class: "note" }, "What the model says, by what the data say. A point leads to its row."), drawing);
}

/** Runs every row again in this page and compares with what the library said. */
function selfCheck(state, text) {
  const { rows, machine } = state;
  const room = machine.circuit.room();
  let [row, equal] = [0, 0];
  const slice = () => {
    const until = performance.now() + 8;
    while (row < rows.count && performance.now() < until) {
      machine.encoder.encode(rows.list(row), room.values);
      machine.circuit.run(room);
      const said = machine.circuit.said(room.margins);
      if (rows.predictions[row].margins.every((margin, place) => margin === said[place])) equal++;
      row++;
    }
    text.textContent = `This page computed ${whole(row)} of these rows itself: ${whole(equal)} have the margins that gatewood predict gave.`;
    text.classList.toggle("wrong", equal !== row);
    text.dataset.done = String(row === rows.count);
    text.dataset.equal = String(equal);
    if (row < rows.count) setTimeout(slice, 0);
  };
  setTimeout(slice, 200);
}

function confusion(state, showTry) {
  const { rows, data } = state;
  const count = data.classes.length;
  const shown = Math.min(count, 30);
  const table = Array.from({ length: count }, () => Array.from({ length: count }, () => []));
  rows.predictions.forEach(({ place }, row) => table[rows.labels[row]][place].push(row));
  const most = Math.max(1, ...table.slice(0, shown).flatMap((line, label) => line.slice(0, shown).filter((_, place) => place !== label).map(list => list.length)));
  const cell = (label, place) => {
    const list = table[label][place];
    const share = label === place ? 0 : list.length / most;
    return h("td", { class: label === place ? "same" : "" }, list.length === 0 ? h("span", { class: "none" }, "0") : h("button", {
      type: "button", class: "cell", title: "Step through these rows",
      "aria-label": `${list.length} rows labelled ${data.classes[label].slice(0, 60)}, answered ${data.classes[place].slice(0, 60)}: step through them`,
      style: { "--share": String(share) }, onclick: () => { state.chooseRows(list); showTry(); },
    }, whole(list.length)));
  };
  const places = Array.from({ length: shown }, (_, place) => place);
  return h("section", { class: "card", "aria-label": "Confusion matrix" },
    h("h2", {}, "Confusion matrix"),
    h("p", { class: "note" }, "Labels in lines, answers in columns. A number leads to its rows."),
    h("div", { class: "scroll" }, h("table", { class: "confusion" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "label"), places.map(place => h("th", { scope: "col" }, named(data.classes[place], 14))))),
      h("tbody", {}, places.map(label => h("tr", {}, h("th", { scope: "row" }, named(data.classes[label], 20)), places.map(place => cell(label, place))))))),
    shown < count ? h("p", { class: "note" }, `The first ${shown} of ${count} classes.`) : null);
}

/** How often the answer is right, by how sure it is. */
function calibration(state) {
  const { rows, machine, data } = state;
  const bins = Array.from({ length: 10 }, () => ({ rows: 0, right: 0, sum: 0 }));
  const isTwo = data.classes.length === 2;
  rows.predictions.forEach(({ place, margins }, row) => {
    const probabilities = machine.circuit.probabilities(margins);
    // Two classes: the probability of the second; else that of the answer.
    const said = isTwo ? probabilities[1] : probabilities[place];
    const right = isTwo ? rows.labels[row] === 1 : rows.labels[row] === place;
    const bin = bins[Math.min(9, Math.floor(said * 10))];
    bin.rows++;
    bin.sum += said;
    if (right) bin.right++;
  });
  const [side, left, top] = [220, 34, 8];
  const x = share => left + share * side;
  const y = share => top + (1 - share) * side;
  const points = bins.filter(bin => bin.rows > 0);
  const largest = Math.max(...points.map(bin => bin.rows));
  const drawing = svg("svg", { viewBox: `0 0 ${side + left + 24} ${side + top + 34}`, class: "plot", role: "img",
    "aria-label": `Calibration: ${points.map(bin => `said ${percent(bin.sum / bin.rows, 0)}, was ${percent(bin.right / bin.rows, 0)} of ${bin.rows} rows`).join("; ")}` },
  svg("rect", { x: left, y: top, width: side, height: side, class: "frame" }),
  svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "diagonal" }),
  [0, 0.5, 1].map(share => [
    svg("text", { x: x(share), y: top + side + 14, "text-anchor": "middle" }, percent(share, 0)),
    svg("text", { x: left - 4, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0)),
  ]),
  svg("polyline", { points: points.map(bin => `${x(bin.sum / bin.rows)},${y(bin.right / bin.rows)}`).join(" "), class: "curve" }),
  points.map(bin => svg("circle", { cx: x(bin.sum / bin.rows), cy: y(bin.right / bin.rows), r: 3 + 6 * Math.sqrt(bin.rows / largest), class: "dot" },
    svg("title", {}, `${bin.rows} rows: said ${percent(bin.sum / bin.rows)}, was ${percent(bin.right / bin.rows)}`))),
  svg("text", { x: left + side / 2, y: top + side + 30, "text-anchor": "middle" }, "probability that the model says"));
  return h("section", { class: "card", "aria-label": "Calibration" }, h("h2", {}, "Calibration"),
    h("p", { class: "note" }, isTwo ? ["How often the label is ", named(data.classes[1], 30), ", by its probability. On the diagonal, probabilities are true."]
      : "How often the answer is right, by its probability. On the diagonal, probabilities are true."), drawing);
}

/** Rows by how sure the answer is. */
function certainties(state, showTry) {
  const { rows, machine, data } = state;
  if (machine.circuit.isTree) return h("p", { class: "note" }, "A single tree says a class and no probability.");
  const [low, steps] = [1 / data.classes.length, 5];
  const edges = Array.from({ length: steps + 1 }, (_, step) => low + (1 - low) * step / steps);
  const lists = Array.from({ length: steps }, () => []);
  rows.predictions.forEach(({ place, margins }, row) => {
    const said = machine.circuit.probabilities(margins)[place];
    lists[Math.min(steps - 1, Math.floor((said - low) / (1 - low) * steps))].push(row);
  });
  const most = Math.max(1, ...lists.map(list => list.length));
  return h("div", { class: "meters", style: { "--label": "12ch" } }, lists.map((list, step) => {
    const wrong = rows.labels ? list.filter(row => rows.labels[row] !== rows.predictions[row].place).length : 0;
    const line = meter(`${percent(edges[step], 0)} – ${percent(edges[step + 1], 0)}`, list.length / most,
      rows.labels ? `${whole(list.length)} rows, ${whole(wrong)} wrong` : `${whole(list.length)} rows`, "var(--accent)");
    return h("button", { type: "button", class: "meter-button", disabled: list.length === 0, onclick: () => { state.chooseRows(list); showTry(); } }, line);
  }));
}
