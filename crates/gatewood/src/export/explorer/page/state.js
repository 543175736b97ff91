// What the page shows now: a model, a row, and the work that follows each change.

import { Machine, profile } from "./explain.js";

/** Milliseconds of work between two looks at the user. */
const SLICE = 8;

/** The page's state. Listeners are told of every change at once; slow work follows in slices, and stops at the next change. */
export class State {
  constructor(data) {
    this.data = data;
    this.machine = new Machine(data);
    this.rows = data.rows ? readRows(data) : null;
    this.scales = data.inputs.map(() => null);
    this.fixed = new Set();
    this.listeners = [];
    this.slow = [];
    this.turn = 0;
    this.at = null;
    this.isUnchanged = true;
    this.machine.setRow(this.typical());
    this.predictions = this.rows ? this.rows.predictions : [];
  }

  /** Is told of each change, at once. */
  onChange(listener) {
    this.listeners.push(listener);
  }

  /** A generator that is run after each change, in slices. */
  onQuiet(generator) {
    this.slow.push(generator);
  }

  /** Changes one column of the row. */
  set(input, value) {
    this.apply([[input, value]]);
  }

  /** Changes some columns of the row. */
  apply(changes) {
    this.machine.change(changes, true);
    this.isUnchanged = false;
    this.changed();
  }

  /** Changes all columns of the row; `at` is its place among the rows of the page. */
  setRow(row, at = null) {
    this.at = at;
    this.isUnchanged = true;
    this.machine.setRow(row);
    this.changed();
  }

  /** Shows a row of the page. */
  show(at) {
    this.setRow(this.rows.list(at), at);
  }

  changed() {
    const started = performance.now();
    this.answer = this.machine.answer();
    this.listeners.forEach(listener => listener(this));
    this.lastMilliseconds = performance.now() - started;
    const turn = ++this.turn;
    let work = null;
    let next = 0;
    const slice = () => {
      if (turn !== this.turn) return;
      const until = performance.now() + SLICE;
      while (performance.now() < until) {
        if (work === null) {
          if (next === this.slow.length) return;
          work = this.slow[next++](this);
        }
        if (!work || work.next().done) work = null;
      }
      setTimeout(slice, 0);
    };
    setTimeout(slice, 0);
  }

  /** A row to start with: the first of the page, or the middle cell of each column. */
  typical() {
    if (this.rows && this.rows.count > 0) {
      this.at = 0;
      return this.rows.list(0);
    }
    return this.data.inputs.map((input, place) => {
      if (input.kind === "pixel" || input.kind === "bit") return 0;
      const cells = this.machine.cells(place);
      if (cells.length === 0) return input.kind === "text" ? "" : 0;
      return cells[Math.floor(cells.length / 2)].value;
    });
  }

  /** The margin that is spoken of: that of the present class, or the only one. */
  margin() {
    const { circuit } = this.machine;
    if (circuit.value) return circuit.main;
    return circuit.margins === 1 ? 0 : this.answer.place;
  }

  /** How a column of numbers is laid out: its range, and steps of whole numbers where it has them. */
  scale(input) {
    return this.scales[input] ??= scaleOf(this, input);
  }

  /** The least and the most value that the model says of the rows of the page, or could say. */
  valueRange() {
    if (this.valueBounds) return this.valueBounds;
    const { circuit } = this.machine;
    const values = this.predictions.map(({ margins }) => circuit.valueAt(margins));
    if (values.length === 0) {
      const sums = [0, 0];
      circuit.trees.forEach(tree => {
        sums[0] += tree.votes.reduce((a, b) => Math.min(a, b));
        sums[1] += tree.votes.reduce((a, b) => Math.max(a, b));
      });
      values.push(...sums.map(sum => circuit.valueOf(circuit.bias[0] + sum / 2)));
    }
    const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    return this.valueBounds = { low, range: Math.max(high - low, 1e-12) };
  }

  /** The profile of a column, for the row as it is now. */
  profile(input) {
    return profile(this.machine, input);
  }
}

function scaleOf(state, input) {
  const cells = state.machine.cells(input);
  const points = cells.filter(cell => Number.isFinite(cell.high)).map(cell => cell.high);
  let [low, high] = [points[0] ?? 0, points[points.length - 1] ?? 1];
  let integer = points.every(point => Number.isInteger(2 * point));
  const values = state.rows ? state.rows.numbers(input) : [];
  if (values.length > 0) {
    integer = values.every(Number.isInteger);
    low = Math.min(low, values.reduce((a, b) => Math.min(a, b)));
    high = Math.max(high, values.reduce((a, b) => Math.max(a, b)));
  } else {
    const margin = Math.max((high - low) * 0.1, integer ? 1 : Math.abs(high) * 0.01, 1e-6);
    [low, high] = [low - margin, high + margin];
    if (integer) [low, high] = [Math.floor(low), Math.ceil(high)];
  }
  if (state.data.inputs[input].kind === "date") integer = true;
  const range = Math.max(high - low, 1e-12);
  // The step of a fraction: a thousandth of the range, in few digits.
  const step = integer ? 1 : 10 ** Math.floor(Math.log10(range / 200));
  const above = number => {
    if (integer) return Math.floor(number) + 1;
    const next = Number((Math.floor(number / step) * step + step).toPrecision(12));
    return next > number ? next : number + step;
  };
  const anchors = [...new Set([Math.min(low, below1(points[0])), ...points, Math.max(high, above1(points[points.length - 1]))])]
    .filter(Number.isFinite).sort((a, b) => a - b);
  function below1(point) { return point === undefined ? low : point - (integer ? 1 : step); }
  function above1(point) { return point === undefined ? high : point + (integer ? 1 : step); }
  const round = number => integer ? Math.round(number) : Number((Math.round(number / step) * step).toPrecision(12));
  /** A value for a place from 0 to 1, each range between two thresholds as wide as the others. */
  const valueAt = place => {
    const at = Math.min(anchors.length - 2, Math.max(0, Math.floor(place * (anchors.length - 1))));
    const [from, to] = [anchors[at], anchors[at + 1]];
    const rounded = round(from + (to - from) * (place * (anchors.length - 1) - at));
    if (at > 0 && rounded <= from) return Math.min(to, above(from));
    return Math.min(to, rounded);
  };
  const placeOf = value => {
    if (anchors.length < 2) return 0;
    if (value <= anchors[0]) return 0;
    for (let at = 0; at + 1 < anchors.length; at++) {
      if (value <= anchors[at + 1]) return (at + (value - anchors[at]) / (anchors[at + 1] - anchors[at])) / (anchors.length - 1);
    }
    return 1;
  };
  return { low, high, range, integer, step, above, valueAt, placeOf, cells: anchors.length - 1 };
}

/** The rows of the page. */
function readRows(data) {
  const { columns, numbers, labels, predicted, margins, total, background } = data.rows;
  const count = numbers.length;
  const width = data.inputs.length;
  const bytes = columns.bytes === undefined ? null : Uint8Array.from(atob(columns.bytes), letter => letter.charCodeAt(0));
  const value = (row, input) => {
    if (bytes) return bytes[row * width + input];
    const column = columns.list[input];
    if (column.texts) return column.codes[row] < 0 ? null : column.texts[column.codes[row]];
    const number = column.numbers[row];
    return typeof number === "string" ? Number(number) : number;
  };
  const list = row => data.inputs.map((_, input) => value(row, input));
  const wide = margins ? margins.length / Math.max(1, count) : 0;
  return {
    count, total, labels, background, value, list,
    number: row => numbers[row],
    predictions: numbers.map((_, row) => ({
      place: predicted[row] ?? 0, margins: margins ? margins.slice(row * wide, row * wide + wide) : [predicted[row] ? 1 : -1],
    })),
    numbers: input => {
      if (bytes || columns.list[input].texts) return [];
      return columns.list[input].numbers.map(Number).filter((number, row) => columns.list[input].numbers[row] !== null && Number.isFinite(number));
    },
    texts: input => bytes ? [] : columns.list[input].texts ?? [],
  };
}
