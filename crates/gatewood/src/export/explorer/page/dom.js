// Elements, numbers and colours. Text from a model reaches the page through text nodes only.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties and children. Children are elements or texts; texts are never read as markup. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  append(element, children);
  return element;
}

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  append(element, children);
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") Object.entries(value).forEach(([key, to]) => element.style.setProperty(key, to));
    else if (name.startsWith("aria-") || name.startsWith("data-") || name === "role" || name === "for") {
      element.setAttribute(name, value);
    } else element[name] = value;
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Puts children in place of those that are there. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A name that fits on a line: cut when it is long, with marks for what cannot be seen. */
export function short(text, most = 48) {
  const letters = [...String(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "␣")];
  const cut = letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
  return cut === "" ? "(no name)" : cut;
}

/** A name as an element of its own: its direction changes nothing around it, and the whole of it is shown on hovering. */
export function named(text, most = 48) {
  const shown = short(text, most);
  return h("bdi", { title: shown === text ? undefined : String(text).slice(0, 1000) }, shown);
}

/** A whole number with thousands apart. */
export function whole(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A number with a sign. */
export function signed(number, digits = 0) {
  const text = Math.abs(number).toFixed(digits);
  return (number < 0 ? "−" : "+") + text.replace(/\B(?=(\d{3})+(?!\d))/g, digits ? "" : ",");
}

/** A share in percent. */
export function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)} %`;
}

/** A number as short as it can be without losing what matters on a scale of this size. */
export function brief(number, scale = Math.abs(number)) {
  if (!Number.isFinite(number)) return String(number);
  const digits = scale > 0 ? Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(scale)))) : 0;
  return String(Number(number.toFixed(digits)));
}

/** The colour of a class, by its place. */
export function classColour(place, count) {
  if (count === 2) return place === 0 ? "var(--no)" : "var(--yes)";
  return `var(--class-${place % 10})`;
}

/** A lock, open or closed. */
export function lockIcon(closed) {
  return svg("svg", { viewBox: "0 0 16 16", width: 15, height: 15, class: "icon", "aria-hidden": "true" },
    svg("rect", { x: 3, y: 7, width: 10, height: 7, rx: 1.5, fill: "currentColor" }),
    svg("path", { d: closed ? "M5 7V5a3 3 0 0 1 6 0v2" : "M5 7V4.5a3 3 0 0 1 5.8-1", fill: "none", stroke: "currentColor", "stroke-width": 1.6 }));
}

/** The tabs of a view, which arrow keys move through. */
export function tabs(list, label, select) {
  const buttons = list.map(({ name, id }, place) =>
    h("button", {
      role: "tab", type: "button", class: "tab", "data-id": id, "aria-selected": "false", tabIndex: place === 0 ? 0 : -1,
      onclick: () => choose(place),
    }, name));
  const bar = h("div", { role: "tablist", class: "tabs", "aria-label": label, onkeydown: event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    choose(next);
    buttons[next].focus();
    event.preventDefault();
  } }, buttons);
  function choose(place) {
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === place));
      button.tabIndex = other === place ? 0 : -1;
    });
    select(list[place].id);
  }
  return { bar, choose: id => choose(Math.max(0, list.findIndex(item => item.id === id))) };
}

/** A bar of a diagram with what it says beside it. */
export function meter(label, share, text, colour, extra = {}) {
  return h("div", { class: "meter", ...extra },
    h("span", { class: "meter-label" }, label),
    h("span", { class: "meter-track", "aria-hidden": "true" },
      h("span", { class: "meter-bar", style: { width: `${100 * Math.max(0, Math.min(1, share))}%`, background: colour } })),
    h("span", { class: "meter-value" }, text));
}
