// Raw values to bits, as the library's encoder does it. A value is a number, a text, or null where it is missing.

const DAY = 86400;
const LETTER = /[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}']+/gu;

/** The words of a text in lower case. */
export function words(text) {
  const found = text.match(LETTER) ?? [];
  return found.map(word => word.replace(/^'+|'+$/g, "").toLowerCase()).filter(word => word !== "");
}

/** Days since 1970-01-01. */
function daysFromCivil(year, month, day) {
  return Math.round(Date.UTC(2000, month - 1, day) / 1000 / DAY) + daysOfYears(year, month);
}

/** Days by which a date of a year is after that of the year 2000. */
function daysOfYears(year, month) {
  // Years count from March, so that the leap day is the last of its year.
  const before = y => y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return before(month <= 2 ? year - 1 : year) - before(month <= 2 ? 1999 : 2000);
}

/** A moment in parts; what is far out of range is cut. */
export function civil(moment) {
  const seconds = Math.floor(Math.min(6.4e12, Math.max(-6.4e12, moment)));
  const days = Math.floor(seconds / DAY);
  const time = seconds - days * DAY;
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor((dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524)
    - Math.floor(dayOfEra / 146096)) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = (fromMarch + 2) % 12 + 1;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
    hour: Math.floor(time / 3600),
    minute: Math.floor(time / 60) % 60,
    second: time % 60,
  };
}

function weekday(moment) {
  const days = Math.floor(Math.min(6.4e12, Math.max(-6.4e12, moment)) / DAY);
  return (((days + 3) % 7) + 7) % 7 + 1;
}

function datePart(part, moment) {
  if (part === "weekday") return weekday(moment);
  return civil(moment)[part];
}

/** A moment as text. */
export function showDate(moment) {
  const two = number => String(number).padStart(2, "0");
  const { year, month, day, hour, minute, second } = civil(moment);
  const date = `${year < 0 ? "-" + String(-year).padStart(3, "0") : String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  if (hour === 0 && minute === 0 && second === 0) return date;
  return `${date} ${two(hour)}:${two(minute)}${second === 0 ? "" : ":" + two(second)}`;
}

/** A text as a moment in seconds since 1970-01-01, or null. */
export function parseDate(text) {
  const found = text.trim().match(/^(\d{4})([-/])(\d\d)\2(\d\d)(?:[ Tt](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/);
  if (!found) return null;
  const [, year, , month, day, hour = 0, minute = 0, second = 0, fraction = "0", zone = "Z"] = found;
  const [y, m, d] = [year, month, day].map(Number);
  const leap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  const most = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m - 1];
  if (!most || d < 1 || d > most || hour > 23 || minute > 59 || second > 60) return null;
  let offset = 0;
  if (!/^z$/i.test(zone)) {
    const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
    offset = (zone[0] === "-" ? -1 : 1) * (Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2)) * 60);
  }
  const time = Number(hour) * 3600 + Number(minute) * 60 + Number(second) + Number(`0${fraction === "0" ? ".0" : fraction}`);
  return daysFromCivil(y, m, d) * DAY - offset + time;
}

/** A test of the encoder in words. */
export function describeBit(data, bit) {
  const [column, test, argument, other] = data.bits[bit];
  const { name, kind } = data.inputs[column];
  switch (test) {
    case "a": return `${name} > ${kind === "date" ? showDate(argument) : argument}`;
    case "e": return `${name} = ${argument}`;
    case "i": return `${name} = ${argument}`;
    case "o": return `${name} is another value`;
    case "m": return `${name} is missing`;
    case "w": return `${name} has the word ${argument}`;
    case "p": return `bit ${argument} of ${name}`;
    case "g": return `Gray bit ${argument} of ${name}`;
    case "d": return `${other} of ${name} > ${argument}`;
    case "x": {
      const than = data.inputs[other].name;
      return argument === 0 ? `${name} > ${than}` : `${name} > ${than} ${argument < 0 ? "−" : "+"} ${Math.abs(argument)}`;
    }
    default: return name;
  }
}

/** What each column of raw rows says as bits. */
export class Encoder {
  constructor(data) {
    this.data = data;
    this.inputs = data.inputs;
    this.count = data.bits.length;
    this.tests = data.bits.map(([, test, argument, part]) => ({ test, argument, part }));
    // The bits of each input; those that compare two inputs are apart.
    this.bitsOf = data.inputs.map(() => []);
    this.pairs = [];
    data.bits.forEach(([column, test, argument, other], bit) => {
      if (test === "x") this.pairs.push({ bit, column, other, margin: argument });
      else this.bitsOf[column].push(bit);
    });
    this.pairsOf = data.inputs.map(() => []);
    for (const pair of this.pairs) {
      this.pairsOf[pair.column].push(pair);
      if (pair.other !== pair.column) this.pairsOf[pair.other].push(pair);
    }
    this.categories = data.inputs.map(input => new Set(input.categories ?? []));
  }

  /** Writes the bits of one input, pairs left out. */
  writeInput(input, value, bits) {
    let inText = null;
    for (const bit of this.bitsOf[input]) {
      const { test, argument, part } = this.tests[bit];
      let holds = false;
      if (test === "m") holds = value === null;
      else if (value !== null) {
        switch (test) {
          case "a": holds = value > argument; break;
          case "e": holds = value === argument; break;
          case "i": holds = value === argument; break;
          case "o": holds = !this.categories[input].has(value); break;
          case "w": inText ??= new Set(words(value)); holds = inText.has(argument); break;
          case "p": holds = (value >> (argument & 7) & 1) !== 0; break;
          case "g": holds = ((value ^ value >> 1) >> (argument & 7) & 1) !== 0; break;
          case "d": holds = datePart(part, value) > argument; break;
          default: holds = value === 1 || value === true;
        }
      }
      bits[bit] = holds ? 1 : 0;
    }
  }

  /** Writes the bits that compare two inputs. */
  writePairs(pairs, row, bits) {
    for (const { bit, column, other, margin } of pairs) {
      const [one, two] = [row[column], row[other]];
      bits[bit] = one !== null && two !== null && one - two > margin ? 1 : 0;
    }
  }

  /** All bits of a row. */
  encode(row, bits = new Uint8Array(this.count)) {
    for (let input = 0; input < this.inputs.length; input++) this.writeInput(input, row[input], bits);
    this.writePairs(this.pairs, row, bits);
    return bits;
  }

  /** A value as it is shown. */
  show(input, value) {
    if (value === null) return "missing";
    return this.inputs[input].kind === "date" ? showDate(value) : String(value);
  }

  /** A typed text as a value of an input; undefined where it is none. */
  parse(input, text) {
    const { kind } = this.inputs[input];
    if (kind === "text") return text;
    if (text.trim() === "") return null;
    if (kind === "date") return parseDate(text) ?? undefined;
    const number = Number(text.trim());
    if (Number.isNaN(number)) return undefined;
    if (kind === "bit") return number === 0 || number === 1 ? number : undefined;
    if (kind === "pixel") return Number.isInteger(number) && number >= 0 && number < 256 ? number : undefined;
    return number;
  }
}
