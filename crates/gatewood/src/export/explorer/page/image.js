// Images: drawing, the pixels that matter, and the patterns that fire.

import { fill, h, named, signed, whole } from "./dom.js";
import { worthHere } from "./answer.js";
import { heat, literalBits } from "./explain.js";
import { describeBit } from "./encode.js";

/** The side of the drawing, in pixels of the screen's canvas. */
const SIDE = 392;

/** The view of a model of images. */
export function imageView(state) {
  const { data, machine } = state;
  const { width, height, channels, places } = data.image;
  const scale = Math.max(1, Math.floor(SIDE / Math.max(width, height)));
  const isBits = data.inputs.some(input => input.kind === "bit");
  const most = isBits ? 1 : 255;
  // The input of each place of each plane; some pixels are not read.
  const inputAt = new Int32Array(width * height * channels).fill(-1);
  places.forEach((place, input) => { inputAt[place] = input; });
  const canvas = h("canvas", {
    width: width * scale, height: height * scale, class: "drawing", tabIndex: 0, role: "application",
    "aria-label": `Image of ${width} by ${height} pixels: draw with the mouse or a finger. Arrow keys move the pen, Space draws, Delete erases.`,
  });
  const overlay = h("canvas", { width: width * scale, height: height * scale, class: "overlay", "aria-hidden": "true" });
  const [pen, layer] = [canvas.getContext("2d"), overlay.getContext("2d")];
  // What is drawn, also where the model does not look.
  const pixels = new Uint8Array(width * height * channels);
  let [brush, erasing, cursor, shown, isOwn] = [1.1, false, null, null, false];
  const heatBox = h("input", { type: "checkbox", checked: true, onchange: () => paintOverlay() });
  let [map, worth] = [null, null];

  function paint() {
    const image = pen.createImageData(width, height);
    for (let place = 0; place < width * height; place++) {
      for (let channel = 0; channel < 3; channel++) {
        const value = pixels[place + (channels === 3 ? channel * width * height : 0)];
        image.data[place * 4 + channel] = isBits ? value * 255 : value;
      }
      image.data[place * 4 + 3] = 255;
    }
    const small = new OffscreenCanvas(width, height);
    small.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, width * scale, height * scale);
  }

  function paintOverlay() {
    layer.clearRect(0, 0, overlay.width, overlay.height);
    if (heatBox.checked && map) {
      const most = map.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-9);
      map.forEach((value, place) => {
        const share = Math.abs(value) / most;
        if (share < 0.06) return;
        layer.fillStyle = value > 0 ? `rgba(255, 150, 30, ${0.85 * share ** 0.6})` : `rgba(60, 140, 255, ${0.85 * share ** 0.6})`;
        layer.fillRect(place % width * scale, Math.floor(place / width) * scale, scale, scale);
      });
    }
    if (shown) drawMatches(layer, machine.circuit.patterns, shown, scale);
    if (cursor) {
      layer.strokeStyle = "#e33";
      layer.lineWidth = 2;
      layer.strokeRect(cursor[0] * scale, cursor[1] * scale, scale, scale);
    }
  }

  /** Tells the model of the pixels. */
  function read() {
    const changes = [];
    inputAt.forEach((input, place) => {
      if (input >= 0 && machine.row[input] !== pixels[place]) changes.push([input, pixels[place]]);
    });
    isOwn = true;
    state.at = null;
    state.apply(changes);
    isOwn = false;
  }

  function dab(x, y) {
    const reach = Math.ceil(brush + 1);
    for (let row = Math.max(0, Math.floor(y - reach)); row <= Math.min(height - 1, y + reach); row++) {
      for (let column = Math.max(0, Math.floor(x - reach)); column <= Math.min(width - 1, x + reach); column++) {
        const away = Math.hypot(column + 0.5 - x, row + 0.5 - y);
        const ink = Math.max(0, Math.min(1, brush + 0.5 - away));
        for (let channel = 0; channel < channels; channel++) {
          const place = channel * width * height + row * width + column;
          if (erasing) {
            if (ink > 0.3) pixels[place] = 0;
          } else if (isBits) {
            if (ink >= 0.5) pixels[place] = 1;
          } else pixels[place] = Math.max(pixels[place], Math.round(ink * most));
        }
      }
    }
  }

  let last = null;
  const placeOf = event => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * width, (event.clientY - box.top) / box.height * height];
  };
  const stroke = to => {
    const from = last ?? to;
    const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) * 2));
    for (let step = 0; step <= steps; step++) {
      dab(from[0] + (to[0] - from[0]) * step / steps, from[1] + (to[1] - from[1]) * step / steps);
    }
    last = to;
    read();
  };
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    cursor = null;
    last = null;
    stroke(placeOf(event));
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", event => { if (last) stroke(placeOf(event)); });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { last = null; });
  canvas.addEventListener("keydown", event => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      const [x, y] = cursor ?? [width >> 1, height >> 1];
      cursor = [Math.min(width - 1, Math.max(0, x + step[0])), Math.min(height - 1, Math.max(0, y + step[1]))];
      paintOverlay();
    } else if (cursor && (event.key === " " || event.key === "Delete")) {
      const kept = erasing;
      erasing = event.key === "Delete";
      dab(cursor[0] + 0.5, cursor[1] + 0.5);
      erasing = kept;
      read();
    } else return;
    event.preventDefault();
  });

  const clear = () => {
    pixels.fill(0);
    read();
  };
  const eraser = h("button", { type: "button", class: "button", "aria-pressed": "false", onclick: () => {
    erasing = !erasing;
    eraser.setAttribute("aria-pressed", String(erasing));
  } }, "Erase");
  const thick = h("input", { type: "range", min: 0.6, max: 3, step: 0.1, value: brush, oninput: () => { brush = thick.valueAsNumber; } });

  /** Moves what is drawn to the middle, by its centre of mass, as MNIST has it. */
  function centre() {
    let [sum, x, y] = [0, 0, 0];
    for (let place = 0; place < width * height; place++) {
      sum += pixels[place];
      x += pixels[place] * (place % width);
      y += pixels[place] * Math.floor(place / width);
    }
    if (sum === 0) return;
    const [right, down] = [Math.round((width - 1) / 2 - x / sum), Math.round((height - 1) / 2 - y / sum)];
    const before = pixels.slice();
    pixels.fill(0);
    for (let plane = 0; plane < channels; plane++) {
      for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          const [toRow, toColumn] = [row + down, column + right];
          if (toRow < 0 || toRow >= height || toColumn < 0 || toColumn >= width) continue;
          pixels[(plane * height + toRow) * width + toColumn] = before[(plane * height + row) * width + column];
        }
      }
    }
    read();
  }

  const list = h("div", { class: "patterns" });
  state.onChange(() => {
    if (!isOwn) {
      pixels.fill(0);
      inputAt.forEach((input, place) => { if (input >= 0) pixels[place] = machine.row[input] ?? 0; });
    }
    map = null;
    paint();
    paintOverlay();
  });
  state.onQuiet(function* () {
    worth = worthHere(state);
    yield;
    map = heat(machine, worth);
    paintOverlay();
    yield;
    fill(list, firing(state, worth).map(item => featureCard(state, item, at => { shown = at; paintOverlay(); })));
  });
  const features = h("section", { class: "card", "aria-label": "What fires here" }, h("h2", {}, "What fires here"), list);
  const element = h("section", { class: "card image", "aria-label": "Image" },
    h("div", { class: "stage" }, canvas, overlay),
    h("div", { class: "tools" },
      h("button", { type: "button", class: "button", onclick: clear, "data-test": "clear" }, "Clear"), eraser,
      h("button", { type: "button", class: "button", onclick: centre }, "Centre"),
      h("label", { class: "inline" }, "Pen", thick),
      h("label", { class: "inline" }, heatBox, "Heat map")),
    h("p", { class: "note" }, "Orange: what speaks for the answer; blue: what speaks against it. Measured by the votes that would change if what a leaf reads here were the opposite."));
  return { element, features };
}

/** The columns of spans, patterns and bits that do most for the answer here. */
function firing(state, worth) {
  const { circuit } = state.machine;
  const { values } = state.machine.room;
  const items = [];
  worth.forEach((value, column) => { if (value !== 0) items.push({ column, value, on: values[column] === 1 }); });
  const key = item => (item.on ? 1 : 0.25) * (item.column >= circuit.firstPattern ? 2 : 1) * item.value;
  return items.sort((a, b) => key(b) - key(a)).slice(0, 12);
}

function featureCard(state, { column, value, on }, show) {
  const { machine, data } = state;
  const { circuit } = machine;
  const { width, height } = data.image;
  const scale = Math.max(2, Math.floor(72 / Math.max(width, height)));
  const canvas = h("canvas", { width: width * scale, height: height * scale, class: "thumb", "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#10141a";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  // The image itself, dimly.
  data.image.places.forEach((place, input) => {
    const shade = Math.round(90 * (machine.row[input] ?? 0) / (data.inputs[input].kind === "bit" ? 1 : 255));
    if (shade === 0) return;
    pen.fillStyle = `rgb(${shade + 16}, ${shade + 20}, ${shade + 26})`;
    pen.fillRect(place % width * scale, Math.floor(place / width) % height * scale, scale, scale);
  });
  const name = drawColumn(pen, machine, column, scale);
  const at = column >= circuit.firstPattern ? circuit.patterns.columns[column - circuit.firstPattern].pattern : null;
  return h("button", {
    type: "button", class: "feature", onmouseenter: () => show(at), onmouseleave: () => show(null), onfocus: () => show(at), onblur: () => show(null),
  }, canvas, h("span", { class: "feature-words" },
    h("strong", { class: value < 0 ? "down-text" : "up-text" }, `${signed(value)} votes`), h("span", { class: "feature-name" }, named(name, 90)),
    h("span", { class: on ? "badge on" : "badge" }, on ? "fires" : "does not hold")));
}

/** Draws what a column reads, and says it in words. */
function drawColumn(pen, machine, column, scale) {
  const { circuit, data } = machine;
  const { width, height, places } = data.image;
  const square = (place, colour) => {
    pen.fillStyle = colour;
    pen.fillRect(place % width * scale, Math.floor(place / width) % height * scale, scale, scale);
  };
  const bit = (at, colour) => {
    const [input, test, , other] = data.bits[at];
    square(places[input] % (width * height), colour);
    if (test === "x") square(places[other] % (width * height), "#48f");
  };
  if (column < circuit.inputs) {
    bit(column, "#fa3");
    return describeBit(data, column);
  }
  if (column < circuit.firstPattern) {
    const { columns } = circuit.spans[column - circuit.inputs];
    columns.forEach(at => bit(at, machine.room.values[at] ? "#fa3" : "#a0703a"));
    return columnName(machine, column);
  }
  const { pattern } = circuit.patterns.columns[column - circuit.firstPattern];
  circuit.patterns.matches(pattern).forEach(([x, y]) =>
    literalBits(circuit.patterns, pattern, x, y).forEach(at => bit(at, "#fa3")));
  return columnName(machine, column);
}

/** What a column is, in words. */
export function columnName(machine, column) {
  const { circuit, data } = machine;
  if (column < circuit.inputs) return describeBit(data, column);
  if (column < circuit.firstPattern) {
    const { all, columns } = circuit.spans[column - circuit.inputs];
    const word = all ? "all" : "any";
    const [[first, test, level], last] = [data.bits[columns[0]], data.bits[columns[columns.length - 1]]];
    // The bits of an image's line differ in their places only.
    if (data.image && columns.length > 2 && columns.every(bit => data.bits[bit][1] === test && data.bits[bit][2] === level)) {
      const bright = test === "a" ? ` > ${level}` : test === "s" ? "" : `, ${describeBit(data, columns[0])}`;
      return `${word} of ${columns.length} pixels from ${data.inputs[first].name} to ${data.inputs[last[0]].name}${bright}`;
    }
    return `${word} of ${columns.map(bit => describeBit(data, bit)).join(", ")}`;
  }
  const { pattern, threshold } = circuit.patterns.columns[column - circuit.firstPattern];
  const { literals, shifts } = circuit.patterns.list[pattern];
  return `pattern ${pattern + 1}: ${literals.length} pixels, at ${threshold} or more of ${whole(shifts[0] * shifts[1])} places`;
}

/** Frames around the places where a pattern matches. */
function drawMatches(layer, patterns, pattern, scale) {
  const { literals } = patterns.list[pattern];
  const xs = literals.map(literal => literal[1]);
  const ys = literals.map(literal => literal[2]);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(...xs) - left + 1, Math.max(...ys) - top + 1];
  layer.strokeStyle = "#ffd24a";
  layer.lineWidth = 2;
  patterns.matches(pattern).forEach(([x, y]) => layer.strokeRect((left + x) * scale, (top + y) * scale, wide * scale, high * scale));
}
