// The form of a table's columns, in the user's units.

import { brief, classColour, fill, h, lockIcon, named, short } from "./dom.js";
import { valueColour } from "./answer.js";
import { profile } from "./explain.js";

/** Columns that are shown at first. */
const SHOWN = 24;
/** Steps of a slider. */
const STEPS = 1000;

/** The form with all columns, the most important first. */
export function tableForm(state) {
  const { data } = state;
  const order = data.inputs.map((_, input) => input)
    .sort((a, b) => data.inputs[b].importance - data.inputs[a].importance || a - b);
  const list = h("div", { class: "fields" });
  const made = new Map();
  const search = h("input", { type: "search", class: "search", placeholder: "Find a column", "aria-label": "Find a column", oninput: () => draw() });
  const more = h("button", { type: "button", class: "button quiet", onclick: () => { most += 100; draw(); } });
  let most = SHOWN;
  let visible = [];
  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const found = order.filter(input => data.inputs[input].name.toLowerCase().includes(wanted));
    visible = found.slice(0, most);
    visible.forEach(input => { if (!made.has(input)) made.set(input, field(state, input)); });
    fill(list, visible.map(input => made.get(input).element));
    visible.forEach(input => made.get(input).show());
    more.hidden = found.length <= most;
    more.textContent = `Show more of the ${found.length} columns`;
  }
  state.onChange(() => visible.forEach(input => made.get(input).show()));
  state.onQuiet(function* () {
    for (const input of visible) {
      made.get(input).strip(profile(state.machine, input));
      yield;
    }
  });
  draw();
  return h("section", { class: "card form", "aria-label": "Columns of the row" },
    h("div", { class: "card-head" }, h("h2", {}, data.inputs.length === 1 ? "One column" : `${data.inputs.length} columns`),
      data.inputs.length > 8 ? search : null),
    h("p", { class: "note" }, "Move a column: the answer follows. The band under it shows what the answer would be for each of its values, all else as it is."),
    list, more);
}

function field(state, input) {
  const { data, machine } = state;
  const { name, kind } = data.inputs[input];
  const id = `column-${input}`;
  const change = value => state.set(input, value);
  const control = kind === "text" ? textControl(state, input, id, change)
    : kind === "bit" ? bitControl(state, input, id, change)
    : numberControl(state, input, id, change);
  const missing = h("button", {
    type: "button", class: "toggle", title: "Missing", "aria-label": `${short(name)} is missing`, "aria-pressed": "false",
    onclick: () => change(machine.row[input] === null ? control.present() : null),
  }, "∅");
  const lock = h("button", {
    type: "button", class: "toggle", title: "Keep as it is when searching for a change", "aria-pressed": "false",
    "aria-label": `Keep ${short(name)} as it is when searching for a change`,
    onclick: () => {
      if (!state.fixed.delete(input)) state.fixed.add(input);
      lock.setAttribute("aria-pressed", String(state.fixed.has(input)));
      fill(lock, lockIcon(state.fixed.has(input)));
      state.changed();
    },
  }, lockIcon(false));
  const band = h("div", { class: "band", "aria-hidden": "true" });
  const element = h("div", { class: "field", "data-input": input },
    h("label", { class: "field-name", for: id }, named(name, 40)),
    h("div", { class: "field-control" }, control.slider ?? control.main, band),
    control.slider ? control.main : h("span", {}),
    h("div", { class: "field-toggles" }, missing, lock));
  return {
    element,
    show() {
      const value = machine.row[input];
      missing.setAttribute("aria-pressed", String(value === null));
      element.classList.toggle("is-missing", value === null);
      control.show(value);
    },
    strip(answers) {
      if (answers.length < 2 || !(control.slider || answers.length <= 64)) return fill(band);
      const count = data.classes.length;
      if (band.childElementCount !== answers.length) fill(band, answers.map(() => h("span")));
      const row = machine.row[input];
      const { value } = machine.circuit;
      answers.forEach(({ cell, place, probabilities, margins }, at) => {
        const part = band.children[at];
        part.style.setProperty("background", value ? valueColour(state, margins) : classColour(place, count));
        part.style.setProperty("opacity", value ? "1" : String(0.25 + 0.75 * certainty(probabilities[place], count)));
        part.title = `${short(cell.label, 30)}: ${value ? brief(machine.circuit.valueAt(margins)) : short(data.classes[place], 30)}`;
        part.classList.toggle("here", !control.slider && cell.value === row);
      });
      return band;
    },
  };
}

function certainty(probability, count) {
  return Math.max(0, (probability - 1 / count) / (1 - 1 / count));
}

function numberControl(state, input, id, change) {
  const { machine, data } = state;
  const scale = state.scale(input);
  const isDate = data.inputs[input].kind === "date";
  const slider = h("input", {
    type: "range", min: 0, max: STEPS, step: "any", class: "slider", "aria-label": short(data.inputs[input].name),
    oninput: () => change(scale.valueAt(slider.valueAsNumber / STEPS)),
    onkeydown: event => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!way || machine.row[input] === null) return;
      // A key moves by one unit, or by a step where there are none.
      const unit = isDate ? 86400 : scale.step;
      change(Number((machine.row[input] + way * unit).toPrecision(12)));
      event.preventDefault();
    },
  });
  const main = h("input", {
    id, type: "text", inputMode: isDate ? "text" : "decimal", class: "number", autocomplete: "off", spellcheck: false,
    onchange: () => {
      const value = machine.encoder.parse(input, main.value);
      main.classList.toggle("is-bad", value === undefined);
      main.setAttribute("aria-invalid", String(value === undefined));
      if (value !== undefined) change(value);
    },
  });
  return {
    main, slider,
    present: () => machine.cells(input)[Math.floor(machine.cells(input).length / 2)]?.value ?? 0,
    show(value) {
      if (document.activeElement !== main) main.value = value === null ? "" : machine.encoder.show(input, value);
      main.placeholder = value === null ? "missing" : "";
      if (value !== null && document.activeElement !== slider) slider.value = scale.placeOf(value) * STEPS;
      else if (value !== null && Math.abs(scale.valueAt(slider.valueAsNumber / STEPS) - value) > 1e-9 * scale.range) {
        slider.value = scale.placeOf(value) * STEPS;
      }
      slider.setAttribute("aria-valuetext", machine.encoder.show(input, value));
    },
  };
}

function bitControl(state, input, id, change) {
  const main = h("select", { id, class: "menu", onchange: () => change(Number(main.value)) },
    h("option", { value: "0" }, "0"), h("option", { value: "1" }, "1"));
  return { main, present: () => 0, show: value => { main.value = value === null ? "" : String(value); } };
}

function textControl(state, input, id, change) {
  const { machine, data } = state;
  const cells = machine.cells(input);
  const hasWords = machine.encoder.bitsOf[input].some(bit => data.bits[bit][1] === "w");
  const seen = state.rows ? state.rows.texts(input) : [];
  const texts = [...new Set([...cells.filter(cell => cell.label !== "another value").map(cell => cell.value), ...seen])];
  if (hasWords || texts.length > 300 || texts.length === 0) {
    const main = h("input", { id, type: "text", class: "text", autocomplete: "off", oninput: () => change(main.value) });
    return { main, present: () => "", show: value => { if (document.activeElement !== main) main.value = value ?? ""; } };
  }
  texts.sort((a, b) => a < b ? -1 : 1);
  const other = cells.find(cell => cell.label === "another value" && !texts.includes(cell.value));
  const options = other ? [...texts, other.value] : texts;
  const main = h("select", { id, class: "menu", onchange: () => change(options[main.selectedIndex]) },
    options.map(text => h("option", {}, other && text === other.value ? "another value" : short(text, 60))));
  return {
    main,
    present: () => options[0],
    show(value) {
      const at = options.indexOf(value);
      main.selectedIndex = value === null ? -1 : at >= 0 ? at : other ? options.length - 1 : -1;
    },
  };
}
