// Unpacks the library. Browsers unpack gzip by themselves; LZMA makes it smaller by a quarter.

/** What came last, literals and repeats, is one of so many states. */
const STATES = 12;
/** Where the odds of each kind of bit begin. */
const IS_MATCH = 0;
const IS_REPEAT = IS_MATCH + (STATES << 4);
const IS_NOT_FIRST = IS_REPEAT + STATES;
const IS_NOT_SECOND = IS_NOT_FIRST + STATES;
const IS_NOT_THIRD = IS_NOT_SECOND + STATES;
const IS_LONG = IS_NOT_THIRD + STATES;
const SLOTS = IS_LONG + (STATES << 4);
const NEAR = SLOTS + 4 * 64;
const ALIGN = NEAR + 115;
const LENGTH = ALIGN + 16;
const LENGTH_ODDS = 2 + 16 * 8 + 16 * 8 + 256;
const REPEAT_LENGTH = LENGTH + LENGTH_ODDS;
const LITERALS = REPEAT_LENGTH + LENGTH_ODDS;

/** Bits that are packed by their odds, which follow the bits. */
class Bits {
  constructor(bytes, at, odds) {
    this.bytes = bytes;
    // The first byte is zero.
    this.code = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1);
    this.at = at + 5;
    this.range = 0xffffffff;
    this.odds = new Uint16Array(odds).fill(1024);
  }

  grow() {
    if (this.range >= 0x1000000) return;
    if (this.at >= this.bytes.length) throw new Error("the packed library ends too early");
    this.range = this.range << 8 >>> 0;
    this.code = (this.code << 8 | this.bytes[this.at++]) >>> 0;
  }

  bit(place) {
    const odds = this.odds[place];
    const bound = (this.range >>> 11) * odds;
    const bit = this.code < bound ? 0 : 1;
    if (bit === 0) {
      this.range = bound;
      this.odds[place] = odds + (2048 - odds >> 5);
    } else {
      this.range -= bound;
      this.code -= bound;
      this.odds[place] = odds - (odds >> 5);
    }
    this.grow();
    return bit;
  }

  /** So many bits as a number, the highest first: the odds of each depend on those before it. */
  number(place, bits) {
    let number = 1;
    for (let i = 0; i < bits; i++) number = number << 1 | this.bit(place + number);
    return number - (1 << bits);
  }

  /** The same, the lowest first. */
  reversed(place, bits) {
    let [number, path] = [0, 1];
    for (let i = 0; i < bits; i++) {
      const bit = this.bit(place + path);
      path = path << 1 | bit;
      number |= bit << i;
    }
    return number;
  }

  /** Bits whose odds are even. */
  even(bits) {
    let number = 0;
    for (let i = 0; i < bits; i++) {
      this.range >>>= 1;
      const bit = this.code < this.range ? 0 : 1;
      if (bit === 1) this.code -= this.range;
      number = number << 1 | bit;
      this.grow();
    }
    return number;
  }

  /** How many bytes are repeated. */
  length(place, turn) {
    if (this.bit(place) === 0) return 2 + this.number(place + 2 + turn * 8, 3);
    if (this.bit(place + 1) === 0) return 10 + this.number(place + 2 + 128 + turn * 8, 3);
    return 18 + this.number(place + 2 + 256, 8);
  }

  /** How far back they are, less one. */
  distance(length) {
    const slot = this.number(SLOTS + Math.min(length - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const first = (2 | slot & 1) << bits >>> 0;
    if (slot < 14) return first + this.reversed(NEAR + first - slot, bits);
    return first + (this.even(bits - 4) << 4 >>> 0) + this.reversed(ALIGN, 4);
  }
}

/** The bytes of a stream of LZMA, whose header says how many there are. */
export function unpack(bytes) {
  const [context, turns] = [bytes[0] % 9, (bytes[0] - bytes[0] % 9) / 9];
  const [literalTurn, turnMask] = [(1 << turns % 5) - 1, (1 << (turns - turns % 5) / 5) - 1];
  const out = new Uint8Array(new DataView(bytes.buffer, bytes.byteOffset).getUint32(5, true));
  const bits = new Bits(bytes, 13, LITERALS + (0x300 << context + turns % 5));
  let [at, state, back] = [0, 0, [0, 0, 0, 0]];
  while (at < out.length) {
    const turn = at & turnMask;
    if (bits.bit(IS_MATCH + (state << 4) + turn) === 0) {
      const before = at === 0 ? 0 : out[at - 1];
      const place = LITERALS + 0x300 * (((at & literalTurn) << context) + (before >> 8 - context));
      let letter = 1;
      if (state >= 7) {
        // The byte that a match would have gone on with is a guess, as long as it is right.
        for (let guess = out[at - back[0] - 1], same = true; same && letter < 0x100; guess <<= 1) {
          const guessed = guess >> 7 & 1;
          const bit = bits.bit(place + (1 + guessed << 8) + letter);
          letter = letter << 1 | bit;
          same = bit === guessed;
        }
      }
      while (letter < 0x100) letter = letter << 1 | bits.bit(place + letter);
      out[at++] = letter;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let length = 1;
    if (bits.bit(IS_REPEAT + state) === 0) {
      length = bits.length(LENGTH, turn);
      back = [bits.distance(length), ...back.slice(0, 3)];
      state = state < 7 ? 7 : 10;
    } else {
      const which = bits.bit(IS_NOT_FIRST + state) === 0 ? 0
        : bits.bit(IS_NOT_SECOND + state) === 0 ? 1 : 2 + bits.bit(IS_NOT_THIRD + state);
      if (which === 0 && bits.bit(IS_LONG + (state << 4) + turn) === 0) {
        state = state < 7 ? 9 : 11;
      } else {
        back = [back[which], ...back.filter((_, place) => place !== which)];
        length = bits.length(REPEAT_LENGTH, turn);
        state = state < 7 ? 8 : 11;
      }
    }
    if (back[0] >= at || length > out.length - at) throw new Error("the packed library is damaged");
    for (const end = at + length; at < end; at++) out[at] = out[at - back[0] - 1];
  }
  return out;
}
