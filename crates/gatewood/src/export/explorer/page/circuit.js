// The circuit, evaluated one row at a time: spans, patterns, gates and votes, all in whole numbers.

/** A circuit made ready to run. */
export class Circuit {
  constructor(data) {
    const circuit = data.circuit;
    this.isTree = circuit.kind === "tree";
    this.inputs = circuit.inputs;
    this.spans = circuit.spans.map(([all, ...columns]) => ({ all: all === 1, columns }));
    this.patterns = circuit.patterns ? new Patterns(circuit.patterns) : null;
    this.firstPattern = this.inputs + this.spans.length;
    this.columns = this.firstPattern + (this.patterns ? this.patterns.columns.length : 0);
    this.bias = circuit.bias ?? [0];
    this.unit = circuit.unit ?? 1;
    this.margins = this.bias.length;
    // Where it says a value: what a margin of zero is, and what a vote is worth.
    this.value = circuit.value ?? null;
    this.quantiles = this.value?.quantiles ?? [];
    // The margin that stands for the value: the middle quantile.
    this.main = this.quantiles.length >> 1;
    this.trees = circuit.trees.map(tree => new GateTree(tree, this.isTree, this.margins));
    this.usedSpans = used(this.trees, this.inputs, this.firstPattern);
    if (this.patterns) this.patterns.use(used(this.trees, this.firstPattern, this.columns));
  }

  /** Room for what one row makes of the circuit. */
  room() {
    return {
      values: new Uint8Array(this.columns),
      addresses: new Uint16Array(this.trees.length),
      margins: new Int32Array(this.margins),
    };
  }

  /** Fills the columns that are made of bits. */
  widen(values) {
    for (const place of this.usedSpans) values[this.inputs + place] = this.span(place, values);
    if (this.patterns) this.patterns.write(values, this.firstPattern);
  }

  span(place, values) {
    const { all, columns } = this.spans[place];
    for (const column of columns) if ((values[column] === 1) !== all) return all ? 0 : 1;
    return all ? 1 : 0;
  }

  /** Runs a row whose bits are in the room. */
  run(room) {
    this.widen(room.values);
    const { margins, addresses } = room;
    margins.set(this.bias);
    this.trees.forEach((tree, place) => {
      addresses[place] = tree.address(room.values);
      tree.vote(addresses[place], margins, 1);
    });
    return room;
  }

  /** The class that margins stand for; that of a single tree is its address. */
  classOf(margins) {
    if (this.value) return 0;
    if (margins.length === 1) return margins[0] > 0 ? 1 : 0;
    let best = 0;
    for (let place = 1; place < margins.length; place++) if (margins[place] > margins[best]) best = place;
    return best;
  }

  /** The value that a margin stands for. */
  valueOf(margin) {
    const value = this.value.offset + this.value.scale * margin;
    return this.value.log ? Math.exp(Math.min(value, 709)) : value;
  }

  /** The value that the margins of a row stand for. */
  valueAt(margins) {
    return this.valueOf(margins[this.main]);
  }

  /** The margins as the model says them: those of quantiles in order. */
  said(margins) {
    return this.quantiles.length > 1 ? margins.slice().sort((a, b) => a - b) : margins;
  }

  /** The probability of each class. */
  probabilities(margins) {
    if (this.value) return [1];
    if (this.isTree) return margins[0] > 0 ? [0, 1] : [1, 0];
    if (margins.length === 1) {
      const one = 1 / (1 + Math.exp(-this.unit * margins[0]));
      return [1 - one, one];
    }
    const most = Math.max(...margins);
    const odds = Array.from(margins, margin => Math.exp(this.unit * (margin - most)));
    const sum = odds.reduce((a, b) => a + b, 0);
    return odds.map(odd => odd / sum);
  }
}

/** The places between two columns that leaves read. */
function used(trees, from, to) {
  const seen = new Set();
  for (const tree of trees) for (const leaf of tree.leaves) if (leaf >= from && leaf < to) seen.add(leaf - from);
  return Uint32Array.from([...seen].sort((a, b) => a - b));
}

/** A tree of gates. The root of a single tree has a table like all others; the root of a tree of a grove has votes. */
export class GateTree {
  constructor({ arities, target = 0, leaves, tables, votes }, isTree, margins) {
    this.arities = arities;
    this.target = target;
    this.leaves = Uint32Array.from(leaves);
    this.isTree = isTree;
    // Votes address by address: one for one margin, one a margin for all.
    this.votes = Int32Array.from(isTree ? [-1, 1] : votes);
    this.width = target < 0 ? margins : 1;
    const depth = arities.length;
    this.levels = [];
    let gates = 1;
    const counts = arities.map(() => 0);
    for (let level = depth - 1; level >= 0; level--) {
      counts[level] = gates;
      gates *= arities[level];
    }
    let digit = 0;
    // The root of a grove's tree has no table.
    for (let level = 0; level < (isTree ? depth : depth - 1); level++) {
      const size = 1 << arities[level];
      const digits = Math.max(1, size >> 2);
      const table = new Uint8Array(counts[level] * size);
      for (let gate = 0; gate < counts[level]; gate++) {
        for (let place = 0; place < digits; place++, digit++) {
          const value = parseInt(tables[digit], 16);
          for (let bit = 0; bit < 4 && place * 4 + bit < size; bit++) {
            table[gate * size + place * 4 + bit] = value >> bit & 1;
          }
        }
      }
      this.levels.push({ arity: arities[level], count: counts[level], size, table });
    }
    this.rootArity = isTree ? 1 : arities[depth - 1];
    this.room = this.levels.map(level => new Uint8Array(level.count));
    this.weight = spreadOf(this.votes, this.width);
  }

  /** The address of the votes for a row: what the gates below the root say. */
  address(values) {
    const { leaves, levels, room } = this;
    if (levels.length === 0) {
      let address = 0;
      for (let leaf = 0; leaf < leaves.length; leaf++) address |= values[leaves[leaf]] << leaf;
      return address;
    }
    let { arity, count, size, table } = levels[0];
    let out = room[0];
    for (let gate = 0, leaf = 0; gate < count; gate++) {
      let address = 0;
      for (let place = 0; place < arity; place++, leaf++) address |= values[leaves[leaf]] << place;
      out[gate] = table[gate * size + address];
    }
    for (let level = 1; level < levels.length; level++) {
      const below = out;
      ({ arity, count, size, table } = levels[level]);
      out = room[level];
      for (let gate = 0, input = 0; gate < count; gate++) {
        let address = 0;
        for (let place = 0; place < arity; place++, input++) address |= below[input] << place;
        out[gate] = table[gate * size + address];
      }
    }
    let address = 0;
    for (let place = 0; place < out.length; place++) address |= out[place] << place;
    return address;
  }

  /** Adds the votes of an address so many times. */
  vote(address, margins, times) {
    if (this.target >= 0) margins[this.target] += times * this.votes[address];
    else for (let margin = 0; margin < this.width; margin++) margins[margin] += times * this.votes[address * this.width + margin];
  }

  /** The vote of an address for a margin. */
  voteFor(address, margin) {
    if (this.target < 0) return this.votes[address * this.width + margin];
    return this.target === margin ? this.votes[address] : 0;
  }

  /** All values of a row, level by level, the leaves first. */
  trace(values) {
    this.address(values);
    return [Array.from(this.leaves, leaf => values[leaf]), ...this.room.map(level => Array.from(level))];
  }
}

/** How far apart the votes of a tree are. */
function spreadOf(votes, width) {
  let most = 0;
  for (let margin = 0; margin < width; margin++) {
    let [low, high] = [Infinity, -Infinity];
    for (let at = margin; at < votes.length; at += width) {
      low = Math.min(low, votes[at]);
      high = Math.max(high, votes[at]);
    }
    most = Math.max(most, high - low);
  }
  return most;
}

/** The ones of a word of 32 bits. */
function ones(word) {
  word -= word >>> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >>> 2 & 0x33333333);
  return Math.imul(word + (word >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Little pictures that are looked for all over an image. */
export class Patterns {
  constructor({ width, height, planes, list }) {
    this.width = width;
    this.height = height;
    this.planes = Int32Array.from(planes);
    this.list = list;
    this.columns = list.flatMap(({ thresholds }, pattern) => thresholds.map(threshold => ({ pattern, threshold })));
    this.first = [];
    let column = 0;
    for (const { thresholds } of list) {
      this.first.push(column);
      column += thresholds.length;
    }
    // Lines of a plane as words of 32 places.
    this.words = Math.ceil(width / 32);
    this.lines = new Int32Array(planes.length / width * this.words);
    // Of each literal: its line before it is moved, its place in the line, and what is turned for a one to mean that it holds.
    this.literals = list.map(({ literals }) => Int32Array.from(literals.flatMap(([plane, x, top, value]) => [plane * height + top, x, value === 1 ? 0 : -1])));
    this.use(this.columns.map((_, column) => column));
  }

  /** Says which columns are read; the others are left out. */
  use(columns) {
    const patterns = new Set(Array.from(columns, column => this.columns[column].pattern));
    this.active = Uint32Array.from([...patterns].sort((a, b) => a - b));
  }

  fillLines(values) {
    const { planes, lines, width, words } = this;
    lines.fill(0);
    for (let line = 0, at = 0; at < planes.length; line++) {
      for (let x = 0; x < width; x++, at++) {
        if (planes[at] >= 0 && values[planes[at]] === 1) lines[line * words + (x >> 5)] |= 1 << (x & 31);
      }
    }
  }

  /** The places where a pattern matches, a word of shifts at a time, given to `show`. */
  scan(pattern, show) {
    const { lines, words, height } = this;
    const { literals, shifts: [across, down] } = this.list[pattern];
    for (let y = 0; y < down; y++) {
      for (let word = 0; word * 32 < across; word++) {
        const left = across - word * 32;
        let match = left >= 32 ? -1 : (1 << left) - 1;
        for (const [plane, x, top, value] of literals) {
          const line = (plane * height + top + y) * words;
          const at = word * 32 + x;
          const [place, bit] = [at >> 5, at & 31];
          let read = place < words ? lines[line + place] >>> bit : 0;
          if (bit > 0 && place + 1 < words) read |= lines[line + place + 1] << (32 - bit);
          match &= value === 1 ? read : ~read;
          if (match === 0) break;
        }
        if (match !== 0) show(match, word * 32, y);
      }
    }
  }

  /** How often a pattern matches. */
  count(pattern) {
    if (this.words === 1) return this.countInWords(pattern);
    let count = 0;
    this.scan(pattern, match => { count += ones(match); });
    return count;
  }

  /** The same where a line is one word; most of the time goes in here. */
  countInWords(pattern) {
    const { lines } = this;
    const [literals, [across, down]] = [this.literals[pattern], this.list[pattern].shifts];
    const places = across >= 32 ? -1 : (1 << across) - 1;
    let count = 0;
    for (let y = 0; y < down; y++) {
      let match = places;
      for (let at = 0; at < literals.length && match !== 0; at += 3) match &= lines[literals[at] + y] >>> literals[at + 1] ^ literals[at + 2];
      if (match !== 0) count += ones(match);
    }
    return count;
  }

  /** The shifts at which a pattern matches. */
  matches(pattern) {
    const found = [];
    this.scan(pattern, (match, x, y) => {
      for (let bit = 0; bit < 32; bit++) if (match >>> bit & 1) found.push([x + bit, y]);
    });
    return found;
  }

  write(values, first) {
    this.fillLines(values);
    for (const pattern of this.active) {
      const count = this.count(pattern);
      this.list[pattern].thresholds.forEach((threshold, place) => {
        values[first + this.first[pattern] + place] = count >= threshold ? 1 : 0;
      });
    }
  }
}
