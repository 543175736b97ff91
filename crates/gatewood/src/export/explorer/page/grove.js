// The circuit: the grove as tiles, a tree of gates, a gate's truth table, with the present row's path lit up.

import { fill, h, named, short, signed, svg, whole } from "./dom.js";
import { columnName } from "./image.js";

/** Tiles that are shown; more are left out. */
const TILES = 3000;
/** Gates of a tree that are drawn at once. */
const DRAWN = 40;

/** The view of the circuit. It is drawn while it is seen only. */
export function groveView(state) {
  const { data, machine } = state;
  const { circuit } = machine;
  const view = h("div", { class: "stack" });
  let [tree, focus, gate, isSeen] = [circuit.isTree ? 0 : null, null, null, false];
  const { size } = data;
  const facts = h("dl", { class: "facts" },
    [["trees", whole(circuit.trees.length)], ["gates", whole(size.gates)], ["depth", whole(size.depth)],
      circuit.spans.length ? ["spans", whole(circuit.spans.length)] : null,
      circuit.patterns ? ["patterns", whole(circuit.patterns.list.length)] : null,
      ["bits read", `${whole(size.bits_read)} of ${whole(data.bits.length)}`],
      size.luts ? [`LUT${size.luts.inputs}`, `${whole(size.luts.count)} in ${size.luts.levels} levels`] : null,
    ].filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  const tiles = circuit.isTree ? null : tileMap(state, place => { tree = place; focus = null; gate = null; draw(); });
  const detail = h("div", { class: "stack", "aria-live": "polite" });
  function draw() {
    if (!isSeen) return;
    tiles?.paint(tree);
    fill(detail, tree === null ? [] : treeCard(state, tree, focus, gate, {
      focus: at => { focus = at; gate = at; draw(); },
      gate: at => { gate = at; draw(); },
      close: circuit.isTree ? null : () => { tree = null; draw(); tiles.focus(); },
    }));
  }
  state.onChange(draw);
  fill(view, h("section", { class: "card", "aria-label": "Circuit" }, h("h2", {}, circuit.isTree ? "A tree of gates" : "The grove"),
    facts, tiles ? [h("p", { class: "note" }, "A tile is a tree, as large as its votes are far apart. Green votes for ",
      machine.circuit.value ? "a higher value" : machine.circuit.margins === 1 ? named(data.classes[1], 30) : "the present answer", " here, red against it. Choose one to look into it."), tiles.element] : null),
  detail);
  return { element: view, seen(now) { isSeen = now; draw(); } };
}

function tileMap(state, choose) {
  const { circuit, room } = state.machine;
  const count = Math.min(circuit.trees.length, TILES);
  const heaviest = Math.max(1, ...circuit.trees.slice(0, count).map(tree => tree.weight));
  const tiles = circuit.trees.slice(0, count).map((tree, place) => {
    const side = Math.round(7 + 17 * Math.sqrt(tree.weight / heaviest));
    return h("button", { type: "button", class: "tile", tabIndex: place === 0 ? 0 : -1, "data-tree": place,
      style: { width: `${side}px`, height: `${side}px` }, onclick: () => choose(place) });
  });
  const element = h("div", { class: "tiles", role: "group", "aria-label": "Trees; arrow keys move among them", onkeydown: event => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (!step) return;
    const from = tiles.indexOf(document.activeElement);
    const to = Math.max(0, Math.min(count - 1, from + step));
    tiles[from].tabIndex = -1;
    tiles[to].tabIndex = 0;
    tiles[to].focus();
    event.preventDefault();
  } }, tiles);
  return {
    element,
    focus: () => element.querySelector('[tabindex="0"]')?.focus(),
    paint(chosen) {
      const margin = state.margin();
      tiles.forEach((tile, place) => {
        const vote = circuit.trees[place].voteFor(room.addresses[place], margin);
        const strength = Math.min(1, Math.abs(vote) / heaviest * 2);
        tile.style.setProperty("background", vote === 0 ? "var(--line)" : vote > 0 ? "var(--up)" : "var(--down)");
        tile.style.setProperty("opacity", String(0.25 + 0.75 * strength));
        tile.classList.toggle("chosen", place === chosen);
        tile.setAttribute("aria-label", `Tree ${place + 1}: ${signed(vote)} votes`);
      });
    },
  };
}

/** The names of gates: level and place from 0, the leaves being level -1. */
function treeCard(state, place, focus, gate, act) {
  const { machine, data } = state;
  const tree = machine.circuit.trees[place];
  const trace = tree.trace(machine.room.values);
  const top = tree.levels.length - 1;
  const address = machine.room.addresses[place];
  const margin = state.margin();
  const rootKey = tree.isTree ? [top, 0] : "root";
  const at = focus ?? rootKey;
  const votes = tree.isTree ? null : tree.voteFor(address, margin);
  const title = tree.isTree ? "The tree" : `Tree ${whole(place + 1)}`;
  const said = tree.isTree ? ["says ", named(data.classes[address], 30)]
    : [`votes ${signed(votes)}`, machine.circuit.margins > 1 ? [" for ", named(data.classes[tree.target < 0 ? margin : tree.target], 30)] : ""];
  const path = at === "root" ? [] : trail(tree, at);
  return [
    h("section", { class: "card", "aria-label": title, "data-test": "tree" },
      h("div", { class: "card-head" }, h("h2", {}, title, " ", said),
        act.close ? h("button", { type: "button", class: "button quiet", onclick: act.close }, "Close") : null),
      path.length > 0 ? h("nav", { class: "trail", "aria-label": "Where in the tree" },
        h("button", { type: "button", class: "link", onclick: () => act.focus(tree.isTree ? [top, 0] : null) }, "root"),
        path.map(step => [" › ", h("button", { type: "button", class: "link", onclick: () => act.focus(step) }, gateName(tree, step))])) : null,
      h("div", { class: "scroll" }, drawing(state, tree, trace, at, gate, act)),
      h("p", { class: "note" }, "Bright lines carry a 1 for the present row. Choose a gate to see its truth table.")),
    gateCard(state, tree, trace, address, gate ?? at),
  ];
}

function gateName(tree, at) {
  if (at === "root") return "root";
  const [level, place] = at;
  return level === tree.levels.length - 1 && tree.isTree ? "root" : `gate ${level + 1}.${place + 1}`;
}

/** The gates from the root down to one, the root left out. */
function trail(tree, [level, place]) {
  const steps = [];
  for (let at = place, up = level; up < tree.levels.length; up++) {
    steps.unshift([up, at]);
    if (up + 1 < tree.levels.length) at = Math.floor(at / tree.levels[up + 1].arity);
  }
  return tree.isTree ? steps.slice(1) : steps;
}

/** The inputs of a gate: gates of the level below, or leaves. */
function inputsOf(tree, at) {
  if (at === "root") {
    if (tree.levels.length === 0) return Array.from(tree.leaves, (_, leaf) => [-1, leaf]);
    return Array.from({ length: tree.levels[tree.levels.length - 1].count }, (_, place) => [tree.levels.length - 1, place]);
  }
  const [level, place] = at;
  const { arity } = tree.levels[level];
  return Array.from({ length: arity }, (_, input) => [level - 1, place * arity + input]);
}

const sameGate = (one, other) => String(one) === String(other);

/** A gate and what is below it, as far as there is room. */
function drawing(state, tree, trace, at, chosen, act) {
  const { machine } = state;
  const layers = [[at]];
  const edges = [];
  while (layers.length < 4) {
    const next = layers[layers.length - 1].flatMap(gate => gate !== "root" && gate[0] < 0 ? [] : inputsOf(tree, gate).map(input => ({ gate, input })));
    if (next.length === 0 || next.length > DRAWN) break;
    edges.push(next);
    layers.push(next.map(({ input }) => input));
  }
  const isLeafLayer = layer => layer.length > 0 && layer[0] !== "root" && layer[0][0] < 0;
  const last = layers[layers.length - 1];
  const [gap, wide] = [22, isLeafLayer(last) ? 300 : 60];
  const high = Math.max(...layers.map(layer => layer.length)) * gap + 16;
  const across = 120;
  const width = (layers.length - 1) * across + wide + 60;
  // The root is on the right, the leaves are on the left.
  const x = depth => wide + (layers.length - 1 - depth) * across;
  const y = (depth, place) => high * (place + 0.5) / layers[depth].length;
  const value = gate => gate === "root" ? null : trace[gate[0] + 1][gate[1]];
  const lines = edges.flatMap((list, depth) => list.map(({ gate, input }, place) => {
    const [x1, y1, x2, y2] = [x(depth + 1), y(depth + 1, place), x(depth), y(depth, layers[depth].findIndex(other => sameGate(other, gate)))];
    return svg("path", { d: `M${x1 + 8},${y1} C${x1 + across / 2},${y1} ${x2 - across / 2},${y2} ${x2 - 10},${y2}`, class: value(input) ? "wire lit" : "wire" });
  }));
  const nodes = layers.flatMap((layer, depth) => layer.map((gate, place) => {
    const [left, top] = [x(depth), y(depth, place)];
    if (gate !== "root" && gate[0] < 0) {
      const name = columnName(machine, tree.leaves[gate[1]]);
      return svg("g", {}, svg("circle", { cx: left, cy: top, r: 5, class: value(gate) ? "leaf lit" : "leaf" }),
        svg("text", { x: left - 10, y: top + 4, "text-anchor": "end", class: "leaf-name" }, short(name, 42), svg("title", {}, name.slice(0, 500))));
    }
    const isOn = sameGate(gate, chosen ?? at);
    const label = `${gateName(tree, gate)}${value(gate) === null ? "" : `, says ${value(gate)}`}: show its truth table`;
    const pick = () => act.gate(gate);
    const open = () => gate !== "root" && depth === layers.length - 1 ? act.focus(gate) : act.gate(gate);
    return svg("g", { class: isOn ? "node on" : "node", tabindex: 0, role: "button", "aria-label": label, onclick: depth === layers.length - 1 ? open : pick,
      onkeydown: event => { if (event.key === "Enter" || event.key === " ") { open(); event.preventDefault(); } } },
    svg("rect", { x: left - 11, y: top - 10, width: 22, height: 20, rx: 5, class: value(gate) ? "gate lit" : "gate" }),
    svg("text", { x: left, y: top + 4, "text-anchor": "middle", class: "gate-name" }, value(gate) === null ? "Σ" : String(value(gate))));
  }));
  return svg("svg", { width, height: high, viewBox: `0 0 ${width} ${high}`, class: "tree", role: "group", "aria-label": "Gates of the tree" }, lines, nodes);
}

/** A gate's truth table, or the votes of a root, with the present address marked. */
function gateCard(state, tree, trace, address, at) {
  const { machine } = state;
  const inputs = inputsOf(tree, at);
  const arity = inputs.length;
  const bits = inputs.map(([level, place]) => trace[level + 1][place]);
  const here = bits.reduce((sum, bit, place) => sum | bit << place, 0);
  const isRoot = at === "root";
  const name = ([level, place]) => level < 0 ? columnName(machine, tree.leaves[place]) : gateName(tree, [level, place]);
  const shown = Math.min(1 << arity, 64);
  const from = Math.max(0, Math.min((1 << arity) - shown, here - (shown >> 1)));
  const margin = state.margin();
  const output = row => isRoot ? tree.voteFor(row, margin) : tree.levels[at[0]].table[at[1] * (1 << arity) + row];
  void address;
  return h("section", { class: "card", "aria-label": "Truth table", "data-test": "gate" },
    h("h2", {}, isRoot ? "Votes of the root" : `Truth table of ${gateName(tree, at)}`),
    h("ol", { class: "inputs" }, inputs.map((input, place) => h("li", { class: bits[place] ? "lit" : "" }, h("span", { class: "input-name" }, named(name(input), 80)), h("span", { class: "badge" }, String(bits[place]))))),
    h("div", { class: "scroll" }, h("table", { class: "truth" },
      h("thead", {}, h("tr", {}, inputs.map((_, place) => h("th", { scope: "col" }, String(place + 1))), h("th", { scope: "col" }, isRoot ? "vote" : "out"))),
      h("tbody", {}, Array.from({ length: shown }, (_, offset) => from + offset).map(row => h("tr", { class: row === here ? "here" : "", "aria-current": row === here ? "true" : null },
        inputs.map((_, place) => h("td", {}, String(row >> place & 1))), h("td", { class: "out" }, isRoot ? signed(output(row)) : String(output(row)))))))),
    shown < 1 << arity ? h("p", { class: "note" }, `${shown} of ${whole(1 << arity)} addresses, around the present one.`) : null);
}
