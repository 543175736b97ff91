// Why a row has its answer: what columns add, what would turn it, which pixels matter.

import { Circuit } from "./circuit.js";
import { Encoder } from "./encode.js";

/** A model and a row in it, which can be changed one column at a time. */
export class Machine {
  constructor(data) {
    this.data = data;
    this.encoder = new Encoder(data);
    this.circuit = new Circuit(data);
    this.room = this.circuit.room();
    this.treesOf = listed(this.circuit.columns, this.circuit.trees.map(tree => tree.leaves));
    this.spansOf = listed(this.circuit.inputs, this.circuit.spans.map(span => span.columns));
    this.stamps = new Uint32Array(this.circuit.trees.length);
    this.stamp = 0;
    this.cellsOf = data.inputs.map(() => null);
    this.setRow(data.inputs.map(() => null));
  }

  /** Puts a row in place. */
  setRow(row) {
    this.row = row.slice();
    this.encoder.encode(this.row, this.room.values);
    this.circuit.run(this.room);
  }

  /** Changes one column of the row. */
  set(input, value) {
    this.change([[input, value]], true);
  }

  /** The margins that some changes of columns would give; the row stays as it is. */
  peek(changes) {
    return this.change(changes, false);
  }

  change(changes, stay) {
    const { encoder, circuit, room } = this;
    const { values } = room;
    const kept = changes.map(([input]) => this.row[input]);
    const touched = new Map();
    const write = (column, bit) => {
      if (!touched.has(column)) touched.set(column, values[column]);
      values[column] = bit;
    };
    for (const [input, value] of changes) {
      const bits = encoder.bitsOf[input];
      const before = bits.map(bit => values[bit]);
      encoder.writeInput(input, value, values);
      bits.forEach((bit, place) => {
        if (values[bit] !== before[place] && !touched.has(bit)) touched.set(bit, before[place]);
      });
      this.row[input] = value;
    }
    for (const [input] of changes) {
      for (const pair of encoder.pairsOf[input]) {
        const before = values[pair.bit];
        encoder.writePairs([pair], this.row, values);
        if (values[pair.bit] !== before && !touched.has(pair.bit)) touched.set(pair.bit, before);
      }
    }
    if (touched.size > 0 && circuit.patterns) {
      const before = values.slice(circuit.firstPattern);
      circuit.patterns.write(values, circuit.firstPattern);
      before.forEach((bit, place) => {
        if (values[circuit.firstPattern + place] !== bit) touched.set(circuit.firstPattern + place, bit);
      });
    }
    for (const bit of [...touched.keys()]) {
      if (bit >= circuit.inputs) continue;
      for (const span of this.spansOf[bit]) {
        const now = circuit.span(span, values);
        if (now !== values[circuit.inputs + span]) write(circuit.inputs + span, now);
      }
    }
    const margins = stay ? room.margins : room.margins.slice();
    this.stamp++;
    for (const column of touched.keys()) {
      for (const tree of this.treesOf[column]) {
        if (this.stamps[tree] === this.stamp) continue;
        this.stamps[tree] = this.stamp;
        const address = circuit.trees[tree].address(values);
        if (address === room.addresses[tree]) continue;
        circuit.trees[tree].vote(room.addresses[tree], margins, -1);
        circuit.trees[tree].vote(address, margins, 1);
        if (stay) room.addresses[tree] = address;
      }
    }
    if (!stay) {
      touched.forEach((bit, column) => { values[column] = bit; });
      changes.forEach(([input], place) => { this.row[input] = kept[place]; });
    }
    return margins;
  }

  /** What the model says of the row. */
  answer(raw = this.room.margins) {
    const margins = this.circuit.said(raw);
    return { margins, place: this.circuit.classOf(margins), probabilities: this.circuit.probabilities(margins) };
  }

  /** The ranges or texts of a column that the model holds apart, each with a value out of it. */
  cells(input) {
    return this.cellsOf[input] ??= cellsOf(this.data, this.encoder, input);
  }
}

/** For each of so many columns, the lists that it is in. */
function listed(columns, lists) {
  const found = Array.from({ length: columns }, () => new Set());
  lists.forEach((list, place) => list.forEach(column => found[column].add(place)));
  return found.map(set => Uint32Array.from(set));
}

/** The least number of few digits between two others; the higher one may be it. */
export function between(low, high) {
  if (low === -Infinity) return high === Infinity ? 0 : Number.isInteger(high) ? high : Math.floor(high);
  if (high === Infinity) return Math.floor(low) + 1;
  const middle = (low + high) / 2;
  for (let digits = -12; digits <= 12; digits++) {
    const scale = 10 ** Math.abs(digits);
    const rounded = digits < 0 ? Math.round(middle / scale) * scale : Math.round(middle * scale) / scale;
    if (rounded > low && rounded <= high) return rounded;
  }
  return middle > low ? middle : high;
}

function cellsOf(data, encoder, input) {
  const { kind, categories } = data.inputs[input];
  const tests = encoder.bitsOf[input].map(bit => data.bits[bit]);
  if (kind === "text") {
    const texts = [...new Set(tests.filter(test => test[1] === "i").map(test => test[2]))];
    const cells = texts.map(text => ({ value: text, label: text }));
    if (tests.some(test => test[1] === "o")) {
      let other = "another value";
      while ((categories ?? []).includes(other)) other += "…";
      cells.push({ value: other, label: "another value" });
    }
    return cells;
  }
  if (kind === "bit") return [{ value: 0, label: "0" }, { value: 1, label: "1" }];
  const above = new Set(tests.filter(test => test[1] === "a").map(test => test[2]));
  const exact = new Set(tests.filter(test => test[1] === "e").map(test => test[2]));
  if (kind === "pixel" && tests.some(test => test[1] === "p" || test[1] === "g" || test[1] === "x")) {
    return [0, 64, 128, 192, 255].map(value => ({ value, label: String(value) }));
  }
  const points = [...new Set([...above, ...exact])].sort((a, b) => a - b);
  if (points.length === 0) return [];
  const cells = [];
  let low = -Infinity;
  for (const point of [...points, Infinity]) {
    // A number that is asked for by itself is a cell of its own.
    const value = between(low, exact.has(point) ? below(point) : point);
    if (!(exact.has(low) && value <= low) && value > low && (value < point || !exact.has(point))) {
      cells.push({ value, low, high: point, label: rangeLabel(encoder, input, low, point) });
    }
    if (exact.has(point)) cells.push({ value: point, low: below(point), high: point, label: encoder.show(input, point) });
    low = point;
  }
  return cells;
}

/** A number a little under another. */
function below(number) {
  return number - Math.max(Math.abs(number) * 1e-9, 1e-9);
}

function rangeLabel(encoder, input, low, high) {
  if (low === -Infinity) return `at most ${encoder.show(input, high)}`;
  if (high === Infinity) return `over ${encoder.show(input, low)}`;
  return `${encoder.show(input, low)} to ${encoder.show(input, high)}`;
}

/** What the model would say for each cell of a column. */
export function profile(machine, input) {
  return machine.cells(input).map(cell => ({ cell, ...machine.answer(machine.peek([[input, cell.value]])) }));
}

/** Whether contributions are to be had: no leaf reads two columns. */
export function hasContributions(machine) {
  const { circuit, encoder } = machine;
  return !circuit.isTree && !circuit.patterns && encoder.pairs.length === 0
    && circuit.spans.every(({ columns }) => new Set(columns.map(bit => machine.data.bits[bit][0])).size === 1);
}

/** Columns in which a row and a background row may differ as one tree sees them, for exact values. */
const EXACT = 10;

/** What each column adds to a margin against the mean of background rows: Shapley values, refined from pass to pass.
 *
 * Yields after each tenth of the background; the last values are exact, as `gatewood explain` gives them, unless `estimated`. */
export function* contributions(machine, background, margin) {
  const { circuit, data, room } = machine;
  const sums = new Float64Array(data.inputs.length);
  const columnOf = column => data.bits[column < circuit.inputs ? column : circuit.spans[column - circuit.inputs].columns[0]][0];
  const trees = circuit.trees.filter(tree => tree.target < 0 || tree.target === margin);
  const slots = trees.map(tree => {
    const columns = [...new Set(Array.from(tree.leaves, columnOf))];
    return { columns, of: Array.from(tree.leaves, leaf => columns.indexOf(columnOf(leaf))) };
  });
  const caches = trees.map(() => new Map());
  const mixed = new Uint8Array(circuit.columns);
  let mean = 0;
  let done = 0;
  let estimated = false;
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const stride = Math.max(1, Math.ceil(background.length / 10));
  for (let first = 0; first < stride; first++) {
    for (let at = first; at < background.length; at += stride) {
      const other = background[at];
      mean += other.margins[margin];
      for (let place = 0; place < trees.length; place++) {
        const tree = trees[place];
        const { columns, of } = slots[place];
        let key = "";
        let mask = 0;
        const { leaves } = tree;
        for (let leaf = 0; leaf < leaves.length; leaf++) {
          if (room.values[leaves[leaf]] !== other.values[leaves[leaf]]) mask |= 1 << (leaf & 31);
          if ((leaf & 31) === 31) { key += `${mask} `; mask = 0; }
        }
        key = leaves.length < 31 ? mask : key + mask;
        let values = caches[place].get(key);
        if (values === undefined) {
          values = shares(tree, of, columns, room.values, other.values, margin, random, mixed);
          caches[place].set(key, values);
        }
        for (const [column, value] of values.list) sums[column] += value;
        estimated ||= values.estimated;
      }
      done++;
    }
    yield { values: Array.from(sums, sum => sum / done), mean: mean / done, done, of: background.length, estimated };
  }
}

/** What the columns of one tree add, from one background row to the row. */
function shares(tree, of, columns, values, others, margin, random, mixed) {
  const { leaves } = tree;
  const different = columns.map(() => false);
  for (let leaf = 0; leaf < leaves.length; leaf++) {
    if (values[leaves[leaf]] !== others[leaves[leaf]]) different[of[leaf]] = true;
  }
  const places = [];
  columns.forEach((_, slot) => { if (different[slot]) places.push(slot); });
  const count = places.length;
  if (count === 0) return { list: [], estimated: false };
  const bitOf = columns.map((_, slot) => places.indexOf(slot));
  const vote = subset => {
    for (let leaf = 0; leaf < leaves.length; leaf++) {
      const bit = bitOf[of[leaf]];
      mixed[leaves[leaf]] = bit >= 0 && subset >> bit & 1 ? values[leaves[leaf]] : others[leaves[leaf]];
    }
    return tree.voteFor(tree.address(mixed), margin);
  };
  const added = new Float64Array(count);
  if (count > EXACT) {
    const passes = 24;
    const order = places.map((_, place) => place);
    for (let pass = 0; pass < passes; pass++) {
      for (let at = count - 1; at > 0; at--) {
        const to = Math.floor(random() * (at + 1));
        [order[at], order[to]] = [order[to], order[at]];
      }
      let subset = 0;
      let before = vote(0);
      for (const place of order) {
        subset |= 1 << place;
        const now = vote(subset);
        added[place] += (now - before) / passes;
        before = now;
      }
    }
    return { list: places.map((slot, place) => [columns[slot], added[place]]), estimated: true };
  }
  const votes = Array.from({ length: 1 << count }, (_, subset) => vote(subset));
  const weights = [];
  // |S|! (n - |S| - 1)! / n!
  for (let size = 0; size < count; size++) {
    let weight = 1 / count;
    for (let k = 1; k <= size; k++) weight *= k / (count - k);
    weights.push(weight);
  }
  for (let subset = 0; subset < 1 << count; subset++) {
    let size = 0;
    for (let rest = subset; rest; rest &= rest - 1) size++;
    for (let place = 0; place < count; place++) {
      if (!(subset >> place & 1)) added[place] += weights[size] * (votes[subset | 1 << place] - votes[subset]);
    }
  }
  return { list: places.map((slot, place) => [columns[slot], added[place]]), estimated: false };
}

/** The thresholds nearest to the row, each with what crossing it does to a margin. */
export function nearThresholds(machine, margin, scaleOf) {
  const found = [];
  const { data, encoder, room, row } = machine;
  data.inputs.forEach((input, place) => {
    const value = row[place];
    if (value === null || (input.kind !== "number" && input.kind !== "date")) return;
    const tests = encoder.bitsOf[place].map(bit => data.bits[bit]).filter(test => test[1] === "a").map(test => test[2]);
    const scale = scaleOf(place);
    const over = tests.filter(threshold => value > threshold).reduce((a, b) => Math.max(a, b), -Infinity);
    const under = tests.filter(threshold => value <= threshold).reduce((a, b) => Math.min(a, b), Infinity);
    for (const [threshold, to, way] of [[over, over, "at most"], [under, scale.above(under), "over"]]) {
      if (!Number.isFinite(threshold)) continue;
      const margins = machine.peek([[place, to]]);
      const change = margins[margin] - room.margins[margin];
      if (change === 0) continue;
      const turns = machine.circuit.classOf(margins) !== machine.circuit.classOf(room.margins);
      found.push({ input: place, threshold, to, way, change, turns, distance: Math.abs(to - value) / scale.range });
    }
  });
  return found.sort((a, b) => a.distance - b.distance);
}

/** Searches for the least change that turns the answer: first one column, then more, from the most promising. Yields between
 * steps; returns the changes, or null when none was found. What it finds is found, not proven to be the least. */
export function* leastChange(machine, fixed, scaleOf) {
  const { data, row, circuit, room } = machine;
  const now = circuit.classOf(room.margins);
  const free = data.inputs.map((_, place) => place).filter(place => !fixed.has(place) && machine.cells(place).length > 0);
  const distance = (input, value) => {
    if (data.inputs[input].kind === "text" || row[input] === null) return value === row[input] ? 0 : 1;
    return Math.abs(value - row[input]) / scaleOf(input).range;
  };
  // How far the present class is ahead of the next.
  const lead = margins => {
    if (margins.length === 1) return now === 1 ? margins[0] : -margins[0];
    let next = -Infinity;
    margins.forEach((margin, place) => { if (place !== now) next = Math.max(next, margin); });
    return margins[now] - next;
  };
  let beam = [{ changes: [], lead: lead(room.margins) }];
  for (let columns = 1; columns <= 4; columns++) {
    const turned = [];
    const next = [];
    for (const { changes } of beam) {
      const taken = new Set(changes.map(([input]) => input));
      for (const input of free) {
        if (taken.has(input)) continue;
        let best = null;
        for (const cell of machine.cells(input)) {
          const value = nearest(cell, row[input], scaleOf(input));
          if (value === row[input]) continue;
          const all = [...changes, [input, value]];
          const margins = machine.peek(all);
          const cost = all.reduce((sum, [place, to]) => sum + distance(place, to), 0);
          if (circuit.classOf(margins) !== now) turned.push({ changes: all, cost, to: circuit.classOf(margins) });
          const ahead = lead(margins);
          if (best === null || ahead < best.lead) best = { changes: all, lead: ahead, cost };
        }
        if (best) next.push(best);
        yield;
      }
    }
    if (turned.length > 0) return turned.reduce((a, b) => b.cost < a.cost ? b : a);
    beam = next.sort((a, b) => a.lead - b.lead).slice(0, 6);
    if (beam.length === 0) return null;
  }
  return null;
}

/** The value of a cell that is nearest to another. */
function nearest(cell, value, scale) {
  if (cell.low === undefined || value === null || typeof value !== "number") return cell.value;
  if (value > cell.low && value <= cell.high) return value;
  if (value <= cell.low) {
    const over = scale.above(cell.low);
    return over <= cell.high ? over : cell.value;
  }
  return cell.high;
}

/** What each column that leaves read does for a difference of margins here: what would be lost if it were the opposite. */
export function columnWorth(machine, value) {
  const { circuit, room } = machine;
  const worth = new Float64Array(circuit.columns);
  for (const tree of circuit.trees) {
    if (tree.target >= 0 && value.every(([margin]) => margin !== tree.target)) continue;
    const address = tree.address(room.values);
    const said = at => value.reduce((sum, [margin, sign]) => sum + sign * tree.voteFor(at, margin), 0);
    const here = said(address);
    // What is lost when an output of the top level of gates turns; below, when every gate on the way passes it on.
    let lost = [];
    const top = tree.levels.length === 0 ? tree.leaves.length : tree.levels[tree.levels.length - 1].count;
    for (let input = 0; input < top; input++) lost.push(here - said(address ^ 1 << input));
    for (let level = tree.levels.length - 1; level >= 0; level--) {
      const { arity, count, size, table } = tree.levels[level];
      const inputs = new Array(count * arity).fill(0);
      for (let gate = 0; gate < count; gate++) {
        if (lost[gate] === 0) continue;
        let at = 0;
        for (let place = 0; place < arity; place++) {
          const input = gate * arity + place;
          at |= (level === 0 ? room.values[tree.leaves[input]] : tree.room[level - 1][input]) << place;
        }
        for (let place = 0; place < arity; place++) {
          if (table[gate * size + at] !== table[gate * size + (at ^ 1 << place)]) inputs[gate * arity + place] = lost[gate];
        }
      }
      lost = inputs;
    }
    for (let leaf = 0; leaf < tree.leaves.length; leaf++) worth[tree.leaves[leaf]] += lost[leaf];
  }
  return worth;
}

/** What each pixel does for a difference of margins: the worth of the columns that read it, shared among their pixels. */
export function heat(machine, worth) {
  const { circuit, data, room } = machine;
  const { width, height, places } = data.image;
  const map = new Float64Array(width * height);
  const add = (bits, amount) => {
    if (amount === 0 || bits.length === 0) return;
    for (const bit of bits) {
      const [column, test, , other] = data.bits[bit];
      if (test === "x") {
        map[places[column] % map.length] += amount / bits.length / 2;
        map[places[other] % map.length] += amount / bits.length / 2;
      } else map[places[column] % map.length] += amount / bits.length;
    }
  };
  for (let bit = 0; bit < circuit.inputs; bit++) add([bit], worth[bit]);
  circuit.spans.forEach(({ all, columns }, span) => {
    const at = circuit.inputs + span;
    if (worth[at] === 0) return;
    // Where any is one, those that are count; where not all are, those that are not.
    const deciding = (room.values[at] === 1) === all ? columns : columns.filter(bit => (room.values[bit] === 1) !== all);
    add(deciding, worth[at]);
  });
  if (circuit.patterns) {
    circuit.patterns.columns.forEach(({ pattern }, column) => {
      const at = circuit.firstPattern + column;
      if (worth[at] === 0 || room.values[at] === 0) return;
      const matches = circuit.patterns.matches(pattern);
      add(matches.flatMap(([x, y]) => literalBits(circuit.patterns, pattern, x, y)), worth[at]);
    });
  }
  return map;
}

/** The bits that a pattern reads at a shift. */
export function literalBits(patterns, pattern, x, y) {
  return patterns.list[pattern].literals.map(([plane, left, top]) =>
    patterns.planes[(plane * patterns.height + top + y) * patterns.width + left + x]).filter(bit => bit >= 0);
}
