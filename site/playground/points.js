// Points in a square, to be painted, with a map of what the model says everywhere.

import { classColour, fill, h } from "../../crates/gatewood/src/export/explorer/page/dom.js";

/** The side of the square on the screen, and the places of the map along it. */
const SQUARE = 420;
const MAP = 84;
const CLASSES = ["orange", "green", "blue"];
const COLOURS = [[221, 140, 70], [60, 150, 105], [80, 130, 215]];

/** Numbers from a seed, from 0 to 1. */
function seeded(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = Math.imul(state ^ state >>> 15, 2246822519) + 0x9e3779b9 >>> 0;
    return ((state ^ state >>> 13) >>> 0) / 2 ** 32;
  };
}

const SHAPES = {
  moons: (next, point) => {
    for (let at = 0; at < 300; at++) {
      const angle = Math.PI * next();
      const [wobble, lift] = [0.035 * (next() + next() - 1) * 2, 0.035 * (next() + next() - 1) * 2];
      if (at % 2) point(0.36 + 0.26 * Math.cos(angle) + wobble, 0.42 + 0.34 * Math.sin(angle) + lift, 0);
      else point(0.62 + 0.26 * Math.cos(angle) + wobble, 0.58 - 0.34 * Math.sin(angle) + lift, 1);
    }
  },
  rings: (next, point) => {
    for (let at = 0; at < 330; at++) {
      const [angle, ring] = [2 * Math.PI * next(), at % 3];
      const radius = 0.1 + 0.15 * ring + 0.05 * (next() - 0.5);
      point(0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle), ring);
    }
  },
  squares: (next, point) => {
    for (let at = 0; at < 400; at++) {
      const [x, y] = [0.05 + 0.9 * next(), 0.05 + 0.9 * next()];
      point(x, y, (Math.floor(x * 4) + Math.floor(y * 4)) % 2);
    }
  },
  spirals: (next, point) => {
    for (let at = 0; at < 360; at++) {
      const [turn, arm] = [next(), at % 2];
      const angle = 3.2 * Math.PI * turn + Math.PI * arm;
      const radius = 0.05 + 0.4 * turn;
      point(0.5 + radius * Math.cos(angle) + 0.012 * (next() - 0.5), 0.5 + radius * Math.sin(angle) + 0.012 * (next() - 0.5), arm);
    }
  },
};

/** The square. `changed` is called when points were added or taken away. */
export function pointsView(changed) {
  const canvas = h("canvas", { width: SQUARE, height: SQUARE, class: "square", tabIndex: 0, role: "application",
    "aria-label": "Points: click or drag to add some. Arrow keys move a cross, Space adds a point." });
  const pen = canvas.getContext("2d");
  let points = [];
  let [kind, map, cursor, isDown] = [0, null, null, false];
  const kinds = CLASSES.map((name, place) => h("button", { type: "button", class: "button kind", "aria-pressed": String(place === 0), onclick: () => {
    kind = place;
    kinds.forEach((button, other) => button.setAttribute("aria-pressed", String(other === place)));
  } }, h("span", { class: "dot-mark", style: { background: `rgb(${COLOURS[place]})` } }), name));
  const shapes = h("select", { class: "menu", "aria-label": "Points to start from", onchange: () => shape(shapes.value) },
    Object.keys(SHAPES).map(name => h("option", { value: name }, name)), h("option", { value: "" }, "none"));

  function shape(name) {
    points = [];
    SHAPES[name]?.(seeded(3), (x, y, place) => points.push([x, y, place]));
    map = null;
    draw();
    changed();
  }

  function draw() {
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, SQUARE, SQUARE);
    if (map) {
      const small = new OffscreenCanvas(MAP, MAP);
      const image = new ImageData(MAP, MAP);
      const { classes, values } = map;
      for (let place = 0; place < MAP * MAP; place++) {
        for (let channel = 0; channel < 3; channel++) {
          let sum = 0;
          classes.forEach((name, at) => { sum += values[place * classes.length + at] * COLOURS[CLASSES.indexOf(name)][channel]; });
          image.data[place * 4 + channel] = 255 - (255 - sum) * 0.62;
        }
        image.data[place * 4 + 3] = 255;
      }
      small.getContext("2d").putImageData(image, 0, 0);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(small, 0, 0, SQUARE, SQUARE);
    }
    for (const [x, y, place] of points) {
      pen.beginPath();
      pen.arc(x * SQUARE, (1 - y) * SQUARE, 4, 0, 7);
      pen.fillStyle = `rgb(${COLOURS[place]})`;
      pen.fill();
      pen.lineWidth = 1.4;
      pen.strokeStyle = "#fff";
      pen.stroke();
    }
    if (cursor) {
      pen.strokeStyle = "#c22";
      pen.beginPath();
      pen.moveTo(cursor[0] * SQUARE - 8, (1 - cursor[1]) * SQUARE);
      pen.lineTo(cursor[0] * SQUARE + 8, (1 - cursor[1]) * SQUARE);
      pen.moveTo(cursor[0] * SQUARE, (1 - cursor[1]) * SQUARE - 8);
      pen.lineTo(cursor[0] * SQUARE, (1 - cursor[1]) * SQUARE + 8);
      pen.stroke();
    }
  }

  const add = (x, y) => {
    points.push([Math.min(1, Math.max(0, x)), Math.min(1, Math.max(0, y)), kind]);
    draw();
  };
  const paint = event => {
    const box = canvas.getBoundingClientRect();
    const spread = () => (Math.random() - 0.5) * 0.05;
    for (let at = 0; at < 2; at++) add((event.clientX - box.left) / box.width + spread(), 1 - (event.clientY - box.top) / box.height + spread());
  };
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    isDown = true;
    cursor = null;
    paint(event);
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", event => { if (isDown) paint(event); });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      if (isDown) changed();
      isDown = false;
    });
  }
  canvas.addEventListener("keydown", event => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step) {
      const [x, y] = cursor ?? [0.5, 0.5];
      cursor = [Math.min(1, Math.max(0, x + step[0] / 40)), Math.min(1, Math.max(0, y + step[1] / 40))];
      draw();
    } else if (event.key === " " && cursor) {
      add(...cursor);
      changed();
    } else return;
    event.preventDefault();
  });
  const element = h("div", { class: "stack" },
    h("div", { class: "tools left" }, h("label", { class: "inline" }, "Start from", shapes), kinds,
      h("button", { type: "button", class: "button", onclick: () => { shapes.value = ""; shape(""); } }, "Clear")),
    canvas, h("p", { class: "note" }, "Drag to paint points. The ground takes the colour of the answer, paler where it is unsure."));
  draw();
  return {
    element, shape,
    show(name) { shapes.value = name; shape(name); },
    count: () => points.length,
    classes: () => new Set(points.map(point => point[2])).size,
    csv: () => `x,y,class\n${points.map(([x, y, place]) => `${x},${y},${CLASSES[place]}`).join("\n")}\n`,
    request: { ask: "map", x: "x", y: "y", width: MAP, height: MAP },
    map(classes, bytes) {
      map = { classes, values: new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)) };
      canvas.dataset.mapped = String(Number(canvas.dataset.mapped ?? 0) + 1);
      draw();
    },
  };
}

/** Names the classes with their colours. */
export function legend(element, classes) {
  fill(element, classes.map((name, place) => h("span", { class: "inline" },
    h("span", { class: "dot-mark", style: { background: classColour(place, classes.length) } }), name)));
}
