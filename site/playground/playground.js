// The playground: rows, settings, learning, and the explorer on what was learned.

import { fill, h, named, percent, tabs, whole } from "../../crates/gatewood/src/export/explorer/page/dom.js";
import { explore } from "../../crates/gatewood/src/export/explorer/page/explorer.js";
import { unpack } from "./unpack.js";
import { Engine, decoded } from "./engine.js";
import { pointsView } from "./points.js";
import { curveView } from "./curve.js";
import { droppedFiles, readImages } from "./images.js";

/** What can be set: [name, words, least, most, step, usual]. Nothing is handed on where it is at its usual value. */
const SETTINGS = [
  ["rounds", "rounds", 10, 600, 10, null],
  ["learning_rate", "learning rate", 0.02, 1, 0.02, null],
  ["arity", "inputs of a gate", 2, 6, 1, null],
  ["depth", "levels of a tree", 1, 4, 1, null],
  ["vote_bits", "bits of a vote", 1, 12, 1, null],
  ["seed", "seed", 0, 99, 1, 0],
];

/** Steps in which rounds are learned one after the other. */
const PARTS = 24;
/** Rounds for painted points, where nothing else is said. */
const POINT_ROUNDS = 120;

/** Shows the playground in an element. */
export function playground(element, engine) {
  let [source, isBusy, isStopped, loaded, hasModel, shown] = ["points", false, false, null, false, null];
  const points = pointsView(() => { if (source === "points") learn(); });
  const curve = curveView();
  const status = h("p", { class: "status", role: "status", "aria-live": "polite", "data-test": "status" }, "Starting…");
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Learning" });
  const facts = h("dl", { class: "facts", "data-test": "facts" });
  const explorer = h("div", { class: "below" });
  const sliders = settingsView(() => {});
  const learnButton = h("button", { type: "button", class: "button strong", "data-test": "learn", onclick: () => learn() }, "Learn");
  const stopButton = h("button", { type: "button", class: "button", "data-test": "stop", onclick: stop }, "Stop");
  const goOnButton = h("button", { type: "button", class: "button", "data-test": "go-on", onclick: () => learn(true) }, "Go on");
  const downloads = h("div", { class: "tools left" }, [["model", ".gw"], ["c", "C"], ["verilog", "Verilog"]].map(([format, name]) =>
    h("button", { type: "button", class: "button", "data-test": `save-${format}`, onclick: () => download(format) }, name)));
  const panel = h("div", {});
  const drop = fileView(async (name, bytes, rest) => {
    await load({ ask: "load", file: name, holdout: 0.2, ...rest }, bytes);
    learn();
  });
  const sets = {
    points: points.element,
    mnist35: h("div", { class: "stack" }, h("p", {}, "2,276 handwritten 3s and 5s of MNIST to learn from, 9,662 to test on. The rows are in this page."),
      h("p", { class: "note" }, "With all settings at their usual values, the model is the one that gatewood train mnist35 writes, byte for byte.")),
    cubes: h("div", { class: "stack" }, h("p", {}, "CUBES of the paper: images of 32 by 32 bits with one cube or two, made from a seed."),
      h("label", { class: "inline" }, "Noise ", noiseInput())),
    file: drop.element,
  };
  let noise = 0.1;
  function noiseInput() {
    const input = h("input", { type: "range", min: 0, max: 0.3, step: 0.02, value: 0.1, "aria-label": "Noise", oninput: () => { noise = input.valueAsNumber; loaded = null; } });
    return input;
  }
  const bar2 = tabs([{ id: "points", name: "Points" }, { id: "mnist35", name: "Digits" }, { id: "cubes", name: "CUBES" }, { id: "file", name: "Your file" }], "Rows", id => {
    const isNew = id !== source;
    source = id;
    fill(panel, sets[id]);
    if (isNew) {
      loaded = null;
      keepLink();
      if (id === "mnist35" || id === "points") learn();
    }
  });

  async function load(request, bytes) {
    const { json } = await engine.ask(request, bytes);
    loaded = json;
    hasModel = false;
    if (json.note) status.textContent = json.note;
  }

  async function prepare() {
    if (source === "points") {
      if (points.classes() < 2) throw new Error("Paint points of two colours or more.");
      await load({ ask: "load", file: "points.csv", label: "class" }, new TextEncoder().encode(points.csv()));
    } else if (!loaded) {
      if (source === "file") throw new Error("Drop a file first.");
      if (source === "mnist35") await load({ ask: "load", set: source }, decoded(document.getElementById("digits").textContent));
      else await load({ ask: "load", set: `cubes:noise=${noise},train=1000,test=1000` });
    }
  }

  let turn = 0;
  /** Learns from the rows: in one go where the rounds are left to the library, else in steps that can be stopped. */
  async function learn(goesOn = false) {
    const mine = ++turn;
    if (isBusy && !goesOn) engine.restart(), loaded = source === "file" ? loaded : null;
    isBusy = true;
    isStopped = false;
    status.textContent = "Reading rows…";
    bar.value = 0;
    if (!goesOn) {
      hasModel = false;
      curve.clear();
      delete facts.dataset.rounds;
    }
    buttons();
    try {
      if (!goesOn) await prepare();
      const settings = sliders.values();
      const inSteps = source === "points" || settings.rounds !== undefined || goesOn;
      status.textContent = "Learning…";
      const started = performance.now();
      let told;
      if (!inSteps) {
        ({ json: told } = await engine.ask({ ask: "learn", settings }, undefined, ({ done, total }) => { bar.value = done / total; }));
        hasModel = true;
        curve.set(told.curve.map(point => ({ rounds: point.round, train: point.train_error })));
        curve.add(told.rounds, told.train_error, told.test_error);
      } else {
        const all = settings.rounds ?? POINT_ROUNDS;
        const each = Math.max(1, Math.ceil(all / PARTS));
        let rounds = goesOn ? Number(facts.dataset.rounds ?? 0) : 0;
        const until = rounds + all;
        while (rounds < until && !isStopped && mine === turn) {
          // Patterns would be learned anew in every step; those that are there stay.
          const request = { ask: "learn", settings: { patterns: 0, ...settings, rounds: Math.min(each, until - rounds) }, go_on: rounds > 0 };
          ({ json: told } = await engine.ask(request));
          hasModel = true;
          rounds += request.settings.rounds;
          facts.dataset.rounds = String(rounds);
          curve.add(rounds, told.train_error, told.test_error);
          bar.value = 1 - (until - rounds) / all;
          if (source === "points") await drawMap();
          tell(told, rounds);
        }
      }
      if (mine !== turn || !told) return;
      bar.value = 1;
      const seconds = (performance.now() - started) / 1000;
      tell(told, inSteps ? Number(facts.dataset.rounds) : told.rounds);
      status.textContent = `${isStopped ? "Stopped" : "Learned"} after ${seconds.toFixed(2)} s.`;
      status.dataset.milliseconds = String(told.learn_seconds * 1000);
      await show();
    } catch (error) {
      if (mine === turn && error.message !== "stopped") status.textContent = error.message;
    } finally {
      if (mine === turn) {
        isBusy = false;
        buttons();
      }
    }
  }

  function stop() {
    isStopped = true;
    // Learning in one go hears nothing: the library starts anew, and what it had is lost.
    if (!hasModel || curve.count() === 0) {
      turn++;
      engine.restart();
      isBusy = false;
      loaded = null;
      status.textContent = "Stopped; nothing was learned.";
    }
    buttons();
  }

  function buttons() {
    learnButton.disabled = isBusy;
    stopButton.disabled = !isBusy;
    goOnButton.disabled = isBusy || !hasModel;
    downloads.querySelectorAll("button").forEach(button => { button.disabled = isBusy || !hasModel; });
  }

  function tell(told, rounds) {
    fill(facts, [["rounds", whole(rounds ?? told.rounds)], ["trees", whole(told.trees)], ["gates", whole(told.gates)],
      ["training error", percent(told.train_error, 2)], told.test_error === undefined ? null : ["test error", percent(told.test_error, 2)],
      ["learned in", `${Math.round(told.learn_seconds * 1000)} ms`]].filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    facts.dataset.testError = told.test_error ?? "";
    facts.dataset.trainError = told.train_error;
  }

  async function drawMap() {
    const { json, bytes } = await engine.ask(points.request);
    points.map(json.classes, bytes);
  }

  /** Shows the explorer on what was learned. */
  async function show() {
    const { bytes } = await engine.ask({ ask: "explorer", name: `${loaded?.name ?? source}`, rows: 500 });
    const inner = h("div", {});
    fill(explorer, h("h2", { class: "section" }, "What was learned"), inner);
    shown = explore(inner, JSON.parse(new TextDecoder().decode(bytes)));
    document.title = "Gatewood playground";
  }

  async function download(format) {
    const before = status.textContent;
    // Simplifying a grove of many patterns takes a minute.
    if (format === "verilog") status.textContent = "Writing Verilog: the circuit is simplified first…";
    const { bytes } = await engine.ask(format === "model" ? { ask: "model" } : { ask: "export", format });
    status.textContent = before;
    const name = `${(loaded?.name ?? source).replace(/[^\w-]+/g, "_").slice(0, 40)}.${{ model: "gw", c: "c", verilog: "v" }[format]}`;
    const link = h("a", { href: URL.createObjectURL(new Blob([bytes])), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function keepLink() {
    const parts = Object.entries({ rows: source, ...sliders.values() });
    history.replaceState(null, "", `#${parts.map(([name, value]) => `${name}=${value}`).join("&")}`);
  }

  element.classList.add("gatewood-explorer", "playground");
  fill(element,
    h("header", { class: "top" }, h("div", {}, h("p", { class: "brand" }, "Gatewood playground"), h("h1", {}, "Learn a Boolean circuit in this page"),
      h("p", { class: "note" }, "The library itself, in WebAssembly. Rows never leave the page: it may ask for nothing."))),
    h("div", { class: "columns" },
      h("section", { class: "card", "aria-label": "Rows" }, bar2.bar, panel),
      h("div", { class: "stack" },
        h("section", { class: "card", "aria-label": "Learning" }, h("div", { class: "tools left" }, learnButton, stopButton, goOnButton), bar, status, curve.element, facts),
        h("section", { class: "card", "aria-label": "Settings" }, h("h2", {}, "Settings"), sliders.element,
          h("div", { class: "tools left" }, h("button", { type: "button", class: "button", onclick: () => { keepLink(); status.textContent = "The address of this page now holds the settings."; } }, "Keep in the address"))),
        h("section", { class: "card", "aria-label": "Downloads" }, h("h2", {}, "Take it along"), downloads))),
    explorer);
  const asked = new Map(location.hash.slice(1).split("&").map(part => part.split("=")));
  sliders.set(asked);
  buttons();
  source = null;
  const first = ["points", "mnist35", "cubes"].includes(asked.get("rows")) ? asked.get("rows") : "points";
  if (first === "points") {
    source = "points";
    fill(panel, sets.points);
    bar2.choose("points");
    points.show("moons");
  } else bar2.choose(first);
  return { engine, learn, state: () => shown, settings: sliders, show: name => bar2.choose(name), ask: (request, bytes) => engine.ask(request, bytes) };
}

/** Sliders that are at their usual values until they are moved. */
function settingsView(changed) {
  const chosen = {};
  const rows = SETTINGS.map(([name, words, least, most, step, usual]) => {
    const value = h("output", {}, usual === null ? "usual" : String(usual));
    const slider = h("input", { type: "range", min: least, max: most, step, value: usual ?? (least + most) / 2, "aria-label": words, "data-setting": name,
      oninput: () => {
        chosen[name] = slider.valueAsNumber;
        value.textContent = String(slider.valueAsNumber);
        changed();
      } });
    const back = h("button", { type: "button", class: "toggle", "aria-label": `Usual ${words}`, title: "Usual value", onclick: () => {
      delete chosen[name];
      value.textContent = usual === null ? "usual" : String(usual);
      changed();
    } }, "↺");
    return { name, slider, value, element: h("div", { class: "setting" }, h("span", {}, words), slider, value, back) };
  });
  return {
    element: h("div", { class: "settings" }, rows.map(row => row.element)),
    values: () => ({ ...chosen }),
    set(wanted) {
      for (const { name, slider, value } of rows) {
        const number = Number(wanted.get(name));
        if (wanted.get(name) === undefined || !Number.isFinite(number)) continue;
        slider.value = number;
        chosen[name] = slider.valueAsNumber;
        value.textContent = String(slider.valueAsNumber);
      }
    },
  };
}

/** A place to drop a file. */
function fileView(take) {
  const label = h("input", { type: "text", "aria-label": "Column of the label", placeholder: "label column: found by its name, else the last" });
  const words = h("p", {}, "Drop a CSV here (or NumPy, IDX; also .gz), or a folder of images that has a folder for each class. It stays in this page.");
  const read = async files => {
    const name = files.length === 1 ? files[0].file.name : `${files.length} files`;
    fill(words, "Reading ", named(name, 60), "…");
    try {
      const images = files.filter(({ file }) => /\.(png|jpe?g)$/i.test(file.name));
      const [{ bytes, ...rest }, source] = images.length > 0 ? [await readImages(images), images[0].path.split("/")[0]]
        : [{ bytes: new Uint8Array(await files[0].file.arrayBuffer()), label: label.value.trim() || undefined }, files[0].file.name];
      fill(words, named(name, 60), `: ${whole(bytes.length / 1000)} kB. A fifth of the rows is put aside for testing.`);
      await take(source, bytes, rest);
    } catch (error) {
      fill(words, named(error.message, 300));
    }
  };
  const chosen = input => [...input.files].map(file => ({ file, path: file.webkitRelativePath || file.name }));
  const input = h("input", { type: "file", "aria-label": "Choose a file", onchange: () => { if (input.files[0]) read(chosen(input)); } });
  const folder = h("input", { type: "file", webkitdirectory: true, "aria-label": "Choose a folder of images", onchange: () => { if (folder.files[0]) read(chosen(folder)); } });
  const element = h("div", { class: "stack drop", ondragover: event => { event.preventDefault(); element.classList.add("over"); },
    ondragleave: () => element.classList.remove("over"),
    ondrop: async event => {
      event.preventDefault();
      element.classList.remove("over");
      const files = await droppedFiles(event.dataTransfer);
      if (files[0]) read(files);
    } }, words, h("label", { class: "stack tight" }, h("span", { class: "note" }, "File"), input),
    h("label", { class: "stack tight" }, h("span", { class: "note" }, "Folder of images"), folder),
    h("label", { class: "stack tight" }, h("span", { class: "note" }, "Label"), label));
  return { element };
}

/** Starts the playground of a page that holds the library and its worker. */
export async function start() {
  const text = id => document.getElementById(id).textContent;
  const module = await WebAssembly.compile(unpack(decoded(text("library"))));
  return playground(document.getElementById("playground"), new Engine(module, text("worker")));
}
