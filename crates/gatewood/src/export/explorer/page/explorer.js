// The explorer of one model: everything that the page shows.

import { fill, h, meter, named, percent, tabs, whole } from "./dom.js";
import { State } from "./state.js";
import { answerPanel, changePanel, contributionPanel, nearPanel } from "./answer.js";
import { tableForm } from "./table.js";
import { imageView } from "./image.js";
import { rowStepper, rowsView } from "./rows.js";
import { groveView } from "./grove.js";

/** Shows a model in an element; gives back what it shows. */
export function explore(element, data) {
  const state = new State(data);
  const isImage = data.image !== null;
  const circuit = groveView(state);
  const stepper = rowStepper(state);
  const drawn = isImage ? imageView(state) : null;
  const entry = drawn ? drawn.element : tableForm(state);
  const answer = answerPanel(state);
  const side = drawn ? [drawn.features] : [contributionPanel(state), changePanel(state), nearPanel(state)].filter(Boolean);
  const views = {
    try: h("div", { class: "stack" }, stepper ? h("section", { class: "card slim" }, stepper) : null, entry),
    rows: rowsView(state, () => bar.choose("try")),
    circuit: circuit.element,
    model: modelView(state),
  };
  const panel = h("div", { class: "view", role: "tabpanel" });
  const bar = tabs([{ id: "try", name: isImage ? "Draw" : "Try" }, { id: "rows", name: "Rows" }, { id: "circuit", name: "Circuit" }, { id: "model", name: "Model" }],
    "Views", id => {
      fill(panel, views[id]);
      element.dataset.view = id;
      circuit.seen(id === "circuit");
    });
  const aside = h("div", { class: "aside" }, answer, h("div", { class: "stack more" }, side));
  element.classList.add("gatewood-explorer");
  fill(element, header(data), bar.bar, h("main", { class: "columns" }, panel, aside));
  bar.choose("try");
  state.changed();
  document.title = `${data.name || "A model"} — Gatewood explorer`;
  return state;
}

function header(data) {
  const { circuit, trained } = data;
  const kind = circuit.kind === "tree" ? "tree of gates" : `grove of ${whole(circuit.trees.length)} trees`;
  const theme = h("button", { type: "button", class: "button quiet", "aria-label": "Light or dark", title: "Light or dark", onclick: () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  } }, "◐");
  return h("header", { class: "top" },
    h("div", {}, h("p", { class: "brand" }, "Gatewood explorer"), h("h1", {}, named(data.name || "A model", 60)),
      h("p", { class: "note" }, `${kind}, ${whole(data.size.gates)} gates, ${circuit.value ? "says a value" : `${whole(data.classes.length)} classes`}`,
        trained.data ? [" · trained on ", named(trained.data, 40), `, ${whole(trained.rows)} rows`] : "")),
    theme);
}

function modelView(state) {
  const { data } = state;
  const order = data.inputs.map((input, place) => [input.importance, place]).sort((a, b) => b[0] - a[0]).slice(0, 40);
  const most = order[0]?.[0] || 1;
  const settings = Object.entries(data.settings ?? {}).filter(([, value]) => value !== null && typeof value !== "object");
  return h("div", { class: "stack" },
    h("section", { class: "card", "aria-label": "Importance" }, h("h2", {}, "What columns are worth"),
      h("p", { class: "note" }, "The share of all votes that hang on a column, over all rows that can be."),
      data.image ? heatOfImportance(data)
        : h("div", { class: "meters" }, order.map(([worth, input]) => meter(named(data.inputs[input].name, 30), worth / most, percent(worth, 1), "var(--accent)")))),
    h("section", { class: "card", "aria-label": "Facts" }, h("h2", {}, "Facts"),
      h("dl", { class: "facts" }, [
        ["made by", data.trained.program], ["data", data.trained.data], ["training rows", whole(data.trained.rows)],
        ["label", data.label], ["model file", `${whole(data.size.file_bytes / 1000)} kB`],
        ...settings.map(([name, value]) => [name, String(value)]),
      ].filter(([, value]) => value !== null && value !== "").map(([name, value]) => h("div", {}, h("dt", {}, named(name, 30)), h("dd", {}, named(value, 60)))))));
}

/** The worth of pixels, as a picture. */
function heatOfImportance(data) {
  const { width, height, places } = data.image;
  const scale = Math.max(1, Math.floor(336 / Math.max(width, height)));
  const canvas = h("canvas", { width: width * scale, height: height * scale, class: "heat", role: "img", "aria-label": "What each pixel is worth" });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#10141a";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const worth = new Float64Array(width * height);
  places.forEach((place, input) => { worth[place % worth.length] += data.inputs[input].importance; });
  const most = worth.reduce((a, b) => Math.max(a, b), 1e-12);
  worth.forEach((value, place) => {
    pen.fillStyle = `rgba(255, 160, 50, ${(value / most) ** 0.7})`;
    pen.fillRect(place % width * scale, Math.floor(place / width) * scale, scale, scale);
  });
  return canvas;
}
