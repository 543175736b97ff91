// The learning curve: the error by rounds.

import { fill, h, percent, svg } from "../../crates/gatewood/src/export/explorer/page/dom.js";

/** A diagram of errors that grows. */
export function curveView() {
  const [wide, high, left, bottom] = [420, 170, 44, 24];
  const drawing = svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "curve-plot", role: "img", "aria-label": "Learning curve" });
  const words = h("p", { class: "note" }, "");
  let points = [];
  function draw() {
    const most = Math.max(1, points[points.length - 1]?.rounds ?? 1);
    const top = Math.max(0.01, ...points.flatMap(point => [point.train, point.test ?? 0]));
    const x = rounds => left + rounds / most * (wide - left - 10);
    const y = error => 10 + (1 - error / top) * (high - bottom - 10);
    const line = (key, name) => svg("polyline", { class: `curve-line ${name}`,
      points: points.filter(point => point[key] !== undefined).map(point => `${x(point.rounds).toFixed(1)},${y(point[key]).toFixed(1)}`).join(" ") });
    fill(drawing, [0, 0.5, 1].map(share => [
      svg("line", { x1: left, x2: wide - 10, y1: y(top * share), y2: y(top * share), class: "grid" }),
      svg("text", { x: left - 6, y: y(top * share) + 4, "text-anchor": "end" }, percent(top * share, top < 0.1 ? 1 : 0)),
    ]), line("train", "of-train"), line("test", "of-test"),
    svg("text", { x: wide - 10, y: high - 6, "text-anchor": "end" }, `${most} rounds`));
    const last = points[points.length - 1];
    words.textContent = last ? `Error on training rows ${percent(last.train, 2)}${last.test === undefined ? "" : `, on test rows ${percent(last.test, 2)} (dashed)`}.` : "";
    drawing.setAttribute("aria-label", `Learning curve. ${words.textContent}`);
  }
  draw();
  return {
    element: h("div", { class: "stack tight" }, drawing, words),
    clear() { points = []; draw(); },
    add(rounds, train, test) { points.push({ rounds, train, test }); draw(); },
    set(all) { points = all; draw(); },
    count: () => points.length,
  };
}
