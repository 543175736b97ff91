// Tables and images for the browser tests, made from a seed.

import { deflateSync } from "node:zlib";

/** Numbers from a seed, from 0 to 1. */
export function numbers(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** A grey PNG. */
export function png(width, height, pixels) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  // Every line begins with the number of its filter: none.
  const lines = Array.from({ length: height }, (_, line) => [0, ...pixels.slice(line * width, (line + 1) * width)]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(Buffer.from(lines.flat()))), chunk("IEND", Buffer.alloc(0))]);
}

function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum >>> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** Rows as CSV, the first with the names. */
export function csv(rows) {
  const field = value => /[",\n\r]|^\s|\s$/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
  return rows.map(row => row.map(field).join(",")).join("\n") + "\n";
}

/** Numbers, categories, dates and texts with gaps, and three classes that hang on all of them. */
export function mixedTable(count) {
  const next = numbers(7);
  const rows = [["weight", "price", "colour", "day", "remark", "ready", "kind"]];
  const words = ["sweet", "sour", "It's", "ÜBER", "ripe", "soft", "green-ish", "Straße", "42"];
  for (let row = 0; row < count; row++) {
    const weight = Math.round(next() * 400) / 4;
    const price = (next() ** 3 * 1000).toFixed(2);
    const colour = ["red", "green", "blue", "dark, grey", "none \"at\" all"][Math.floor(next() * 5)];
    const day = new Date(Date.UTC(2019, 0, 1) + Math.floor(next() * 900) * 86400000).toISOString().slice(0, 10);
    const remark = Array.from({ length: 2 + Math.floor(next() * 6) }, () => words[Math.floor(next() * words.length)]).join(next() < 0.5 ? " " : ", ");
    const ready = next() < 0.5 ? "1" : "0";
    let score = weight / 25 + (colour === "red" ? 1.5 : 0) + (Number(day.slice(5, 7)) > 6 ? 1 : 0) + (/sweet/i.test(remark) ? 1 : 0)
      + (ready === "1" ? 0.5 : 0) + next();
    if (price > 200) score -= 1;
    const gap = value => next() < 0.06 ? "" : value;
    rows.push([gap(String(weight)), gap(price), gap(colour), gap(day), remark, ready, score < 2 ? "plum" : score < 4 ? "pear" : "fig"]);
  }
  return rows;
}

/** Numbers, a category and gaps, and a value that hangs on them. */
export function valueTable(count) {
  const next = numbers(11);
  const rows = [["weight", "age", "colour", "cost"]];
  for (let row = 0; row < count; row++) {
    const [weight, age] = [Math.round(next() * 1000) / 10, Math.floor(next() * 30)];
    const colour = ["red", "green", "blue"][Math.floor(next() * 3)];
    const cost = 12 + 0.4 * weight - 0.9 * age + (colour === "red" ? 8 : 0) + 3 * (next() - 0.5);
    rows.push([weight, next() < 0.05 ? "" : age, colour, cost.toFixed(2)]);
  }
  return rows;
}

const PIECES = [
  "<script>globalThis.hacked=1</script>", "</script>", "<!--", "-->", "<img src=x onerror=globalThis.hacked=1>", "\"", "'", "`", "${globalThis.hacked=1}", "&lt;b&gt;", "<b>",
  "\u2028", "\u2029", "\u202e", "\u200f", "עברית", "مرحبا", "\u0000".replace("\u0000", "\u0001"), "\n", "\t", "\\", "\\u003c", "javascript:globalThis.hacked=1", "]]>", "</style>",
  "__proto__", "constructor", "toString", "x".repeat(500), "😀", "é", "{{7*7}}", "%00", "<svg onload=globalThis.hacked=1>", "a", "0", " ", ";",
];

/** A table whose names, classes and texts are hostile. */
export function hostileTable(seed) {
  const next = numbers(seed * 7919);
  const pick = () => PIECES[Math.floor(next() * PIECES.length)];
  const name = () => Array.from({ length: 1 + Math.floor(next() * 4) }, pick).join("");
  const unique = count => {
    const seen = new Set();
    while (seen.size < count) {
      const text = name();
      if (text.trim() !== "" && !seen.has(text) && text.trim() === text) seen.add(text);
    }
    return [...seen];
  };
  const names = [...unique(7), "label <b>"];
  const classes = unique(3);
  const texts = unique(5);
  const rows = [names];
  for (let row = 0; row < 300; row++) {
    const values = Array.from({ length: 4 }, () => Math.round(next() * 100));
    const words = Array.from({ length: 3 }, () => Math.floor(next() * texts.length));
    const score = values[0] + values[1] / 2 + words[0] * 20 + values[2] * words[1] / 4;
    rows.push([...values, ...words.map(word => texts[word]), classes[score < 80 ? 0 : score < 140 ? 1 : 2]]);
  }
  return { rows, names, classes };
}
