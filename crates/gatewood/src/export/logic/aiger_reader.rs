//! AIGER, ascii and binary, as far as it is combinational.

use crate::circuit::{Netlist, NetlistBuilder, Signal};
use crate::export::draft::{Draft, Wire};
use crate::{Error, Result};

/// The most inputs a file may claim: in the binary form they take no bytes, so nothing else bounds them.
const MAX_INPUTS: u64 = 1 << 20;

/// The numbers of the first line.
struct Header {
    variables: u64,
    inputs: u64,
    outputs: u64,
    ands: u64,
}

pub(in crate::export) fn read(bytes: &[u8]) -> Result<Netlist> {
    let mut reader = Reader { bytes, at: 0, line: 0 };
    let first = reader.text_line()?;
    let mut words = first.split(' ');
    let binary = match words.next() {
        Some("aig") => true,
        Some("aag") => false,
        _ => return Err(Error::file("byte 0: an AIGER file starts with aig or aag, but this does not")),
    };
    let numbers: Vec<u64> = words
        .map(|word| word.parse().map_err(|_| Error::file(format!("line 1: {word:?} is not a number"))))
        .collect::<Result<_>>()?;
    let &[variables, inputs, latches, outputs, ands, ref more @ ..] = numbers.as_slice() else {
        return Err(Error::file("line 1: the header has fewer than five numbers"));
    };
    if latches != 0 || more.iter().any(|&number| number != 0) {
        return Err(Error::file("line 1: only combinational circuits can be read, without latches"));
    }
    if inputs > MAX_INPUTS {
        return Err(Error::too_large(format!("line 1: {inputs} inputs are over the limit of {MAX_INPUTS}")));
    }
    // An and takes two bytes or more, an output two, so a count past the file's length is wrong.
    let length = bytes.len() as u64;
    if outputs > length || ands > length || inputs.checked_add(ands).is_none_or(|sum| sum > variables) {
        return Err(Error::file("line 1: the numbers of the header do not fit each other or the file"));
    }
    if binary && inputs + ands != variables {
        return Err(Error::file("line 1: in the binary form all variables are inputs or ands"));
    }
    let header = Header { variables, inputs, outputs, ands };
    if binary { read_binary(&mut reader, &header) } else { read_ascii(&mut reader, &header) }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn text_line(&mut self) -> Result<&'a str> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return Err(Error::file(format!("byte {}: the file ends too early", self.at)));
        }
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let text = std::str::from_utf8(&rest[..length])
            .map_err(|error| Error::file(format!("byte {}: not text", self.at + error.valid_up_to())))?;
        self.at += (length + 1).min(rest.len());
        self.line += 1;
        Ok(text.trim_end_matches('\r'))
    }

    /// A line of exactly `N` literals, none past the last variable.
    fn literals<const N: usize>(&mut self, header: &Header) -> Result<[u32; N]> {
        let start = self.at;
        let line = self.text_line()?;
        let mut words = line.split(' ');
        let mut literals = [0; N];
        for literal in &mut literals {
            let word = words.next().unwrap_or("");
            let number: u64 = word
                .parse()
                .map_err(|_| Error::file(format!("byte {start}: the line {line:?} is not {N} numbers")))?;
            if number / 2 > header.variables || number > u64::from(u32::MAX) {
                return Err(Error::file(format!("byte {start}: {number} is past the last variable")));
            }
            *literal = number as u32;
        }
        if words.next().is_some() {
            return Err(Error::file(format!("byte {start}: the line {line:?} is not {N} numbers")));
        }
        Ok(literals)
    }

    /// A number in groups of seven bits.
    fn delta(&mut self) -> Result<u32> {
        let start = self.at;
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let Some(&byte) = self.bytes.get(self.at) else {
                return Err(Error::file(format!("byte {}: the file ends too early", self.at)));
            };
            self.at += 1;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return u32::try_from(number)
                    .map_err(|_| Error::file(format!("byte {start}: a number is too large")));
            }
        }
        Err(Error::file(format!("byte {start}: a number is too long")))
    }

    /// The symbol table: names of inputs and outputs, `i0`, `o0` and so on where there is none.
    fn symbols(&mut self, header: &Header) -> Result<(Vec<String>, Vec<String>)> {
        let mut inputs: Vec<Option<String>> = vec![None; header.inputs as usize];
        let mut outputs: Vec<Option<String>> = vec![None; header.outputs as usize];
        while self.at < self.bytes.len() {
            let start = self.at;
            if matches!(self.bytes[start..], [b'c'] | [b'c', b'\n' | b'\r', ..]) {
                break;
            }
            let line = self.text_line()?;
            let fail = || Error::file(format!("byte {start}: {line:?} is no symbol"));
            let (place, name) = line.split_once(' ').ok_or_else(fail)?;
            let names = match place.chars().next() {
                Some('i') => &mut inputs,
                Some('o') => &mut outputs,
                _ => return Err(fail()),
            };
            let number: usize = place[1..].parse().map_err(|_| fail())?;
            let entry = names.get_mut(number).filter(|entry| entry.is_none()).ok_or_else(fail)?;
            *entry = Some(name.to_string());
        }
        let or_number = |names: Vec<Option<String>>, letter: char| {
            let name = |(index, name): (usize, Option<String>)| name.unwrap_or(format!("{letter}{index}"));
            names.into_iter().enumerate().map(name).collect()
        };
        Ok((or_number(inputs, 'i'), or_number(outputs, 'o')))
    }
}

/// The table of an and whose inputs are inverted or not.
fn and_table(a: u32, b: u32) -> u64 {
    1 << ((a & 1 ^ 1) | (b & 1 ^ 1) << 1)
}

fn read_binary(reader: &mut Reader<'_>, header: &Header) -> Result<Netlist> {
    let outputs: Vec<u32> = (0..header.outputs)
        .map(|_| reader.literals::<1>(header).map(|[literal]| literal))
        .collect::<Result<_>>()?;
    let mut ands = Vec::with_capacity(header.ands as usize);
    for index in 0..header.ands {
        let start = reader.at;
        let this = 2 * (header.inputs + index + 1);
        let high = this.checked_sub(u64::from(reader.delta()?)).filter(|&high| high < this);
        let low =
            high.map(|high| Ok::<_, Error>(high.checked_sub(u64::from(reader.delta()?)))).transpose()?;
        let (Some(high), Some(Some(low))) = (high, low) else {
            return Err(Error::file(format!("byte {start}: and {index} does not read what is before it")));
        };
        ands.push((high as u32, low as u32));
    }
    let (input_names, output_names) = reader.symbols(header)?;
    let mut builder = NetlistBuilder::new(input_names)?;
    let signal = |literal: u32| match literal / 2 {
        0 => Signal::ZERO,
        variable => Signal::from_index(Signal::CONSTANTS + variable as usize - 1),
    };
    for &(high, low) in &ands {
        builder.add(&[and_table(high, low)], &[signal(high), signal(low)])?;
    }
    for (name, literal) in output_names.into_iter().zip(outputs) {
        let shown = match literal {
            0 | 1 => Signal::constant(literal == 1),
            _ if literal & 1 == 0 => signal(literal),
            _ => builder.add(&[0b01], &[signal(literal)])?,
        };
        builder.output(name, shown)?;
    }
    Ok(builder.finish())
}

fn read_ascii(reader: &mut Reader<'_>, header: &Header) -> Result<Netlist> {
    let mut draft = Draft::default();
    let mut shown = Vec::new();
    // Variables are numbered up to a count that the file need not fill: a map keeps memory in proportion to the file.
    let mut known = std::collections::HashMap::new();
    let mut wire = |draft: &mut Draft<'_>, literal: u32| -> Wire {
        *known.entry(literal / 2).or_insert_with(|| draft.fresh("a variable"))
    };
    let constant = wire(&mut draft, 0);
    draft.lut(constant, 1, Vec::new(), vec![0])?;
    for _ in 0..header.inputs {
        let [literal] = reader.literals(header)?;
        if literal < 2 || literal & 1 != 0 {
            return Err(Error::file(format!("line {}: {literal} cannot be an input", reader.line)));
        }
        let input = wire(&mut draft, literal);
        draft.input(input, reader.line)?;
    }
    for _ in 0..header.outputs {
        let [literal] = reader.literals(header)?;
        let from = wire(&mut draft, literal);
        shown.push((from, literal & 1 != 0, reader.line));
    }
    for _ in 0..header.ands {
        let [this, a, b] = reader.literals(header)?;
        if this < 2 || this & 1 != 0 {
            return Err(Error::file(format!("line {}: {this} cannot be an and", reader.line)));
        }
        let (this, reads) = (wire(&mut draft, this), vec![wire(&mut draft, a), wire(&mut draft, b)]);
        draft.lut(this, reader.line, reads, vec![and_table(a, b)])?;
    }
    let (input_names, output_names) = reader.symbols(header)?;
    let mut outputs = Vec::with_capacity(output_names.len());
    for (name, (mut from, inverted, line)) in output_names.into_iter().zip(shown) {
        if inverted {
            let inverse = draft.fresh("an output");
            draft.lut(inverse, line, vec![from], vec![0b01])?;
            from = inverse;
        }
        outputs.push((name, from));
    }
    draft.finish(input_names, outputs)
}
