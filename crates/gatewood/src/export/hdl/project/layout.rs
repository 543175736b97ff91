//! Where the ports of a row lie in the words of a stream, and so in the memory of a processor that sends it.

use std::fmt::Write;

use crate::export::{Port, PortKind, Ports, names};
use crate::{Error, Result};

/// A row as words of a stream: numbers first, each in 8, 16, 32 or 64 bits and the widest first, then single bits packed. It is what a
/// C struct of a little-endian processor has in memory.
pub(in crate::export) struct Layout {
    /// The place of the lowest bit of each input port.
    places: Vec<usize>,
    /// Inputs that are numbers, in the order of the struct.
    numbers: Vec<usize>,
    /// Inputs that are single bits, in the order of the struct.
    bits: Vec<usize>,
    /// Bits of a word.
    pub(super) word: usize,
    /// Words of a row.
    pub(super) words: usize,
}

/// Bits of the field that a number of so many bits is kept in.
fn storage(width: usize) -> usize {
    width.next_power_of_two().max(8)
}

impl Layout {
    /// The layout of ports in words of so many bits.
    ///
    /// # Errors
    /// When words are not of 8, 16, 32 or 64 bits.
    pub(in crate::export) fn new(ports: &Ports, word: usize) -> Result<Self> {
        if ![8, 16, 32, 64].contains(&word) {
            return Err(Error::setting(format!("words of {word} bits are not of 8, 16, 32 or 64")));
        }
        let inputs = &ports.inputs;
        let is_bit = |&port: &usize| inputs[port].kind == PortKind::Bit;
        let (bits, mut numbers): (Vec<usize>, Vec<usize>) = (0..inputs.len()).partition(is_bit);
        numbers.sort_by_key(|&port| std::cmp::Reverse(storage(inputs[port].width())));
        let mut places = vec![0; inputs.len()];
        let mut end = 0;
        for &port in &numbers {
            places[port] = end;
            end += storage(inputs[port].width());
        }
        for &port in &bits {
            places[port] = end;
            end += 1;
        }
        let widest = numbers.first().map_or(8, |&port| storage(inputs[port].width()));
        let words = end.next_multiple_of(word.max(widest)) / word;
        Ok(Self { places, numbers, bits, word, words })
    }

    /// Where the lowest bit of an input port is.
    pub(super) fn place(&self, port: usize) -> usize {
        self.places[port]
    }

    /// Bits of a row, those that fill its last word included.
    pub(super) fn bits(&self) -> usize {
        self.words * self.word
    }

    /// The row as C.
    pub(in crate::export) fn c_header(&self, ports: &Ports, module: &str, facts: &[String]) -> String {
        let upper = module.to_ascii_uppercase();
        let mut text = String::from("/*\n");
        for fact in facts {
            let _ = writeln!(text, " * {fact}");
        }
        let _ = writeln!(
            text,
            " * A row as the stream of {module} takes it, for a little-endian processor, and the parts of an answer\n */"
        );
        let _ = writeln!(text, "#ifndef {upper}_PORTS_H\n#define {upper}_PORTS_H\n\n#include <stdint.h>\n");
        let _ = writeln!(text, "#define {upper}_ROW_WORDS {} /* of {} bits each */\n", self.words, self.word);
        let _ = writeln!(text, "typedef struct {{");
        let mut end = 0;
        for &port in &self.numbers {
            let port = &ports.inputs[port];
            let (sign, bits) = (if port.is_signed() { "" } else { "u" }, storage(port.width()));
            let _ = writeln!(text, "    {sign}int{bits}_t {}; /* {} */", port.name, port.describe());
            end += bits;
        }
        if !self.bits.is_empty() {
            let bytes = self.bits.len().div_ceil(8);
            let _ = writeln!(text, "    uint8_t bits[{bytes}]; /* bit b is bit b % 8 of bits[b / 8] */");
            end += 8 * bytes;
        }
        if end < self.bits() {
            let _ = writeln!(text, "    uint8_t padding[{}];", (self.bits() - end) / 8);
        }
        let _ = writeln!(text, "}} {module}_row_t;\n");
        if !self.bits.is_empty() {
            let _ = writeln!(text, "enum {{");
            for (bit, &port) in self.bits.iter().enumerate() {
                let port = &ports.inputs[port];
                let _ = writeln!(text, "    {upper}_BIT_{} = {bit}, /* {} */", port.name, port.describe());
            }
            let _ = writeln!(text, "}};\n");
        }
        for port in &ports.outputs {
            let (start, width) = (port.lines.start, port.width());
            let meaning = names::safe(&port.meaning);
            let _ = writeln!(text, "#define {upper}_ANSWER_{}_START {start} /* {meaning} */", port.name);
            let _ = writeln!(text, "#define {upper}_ANSWER_{}_BITS {width}", port.name);
        }
        let _ = writeln!(text, "\n#endif");
        text
    }
}

/// The part of a row, as `row[9:2]`, that a port reads.
pub(super) fn part(port: &Port, place: usize, open: &str, down: &str, close: &str) -> String {
    match port.is_bit() {
        true => format!("row{open}{place}{close}"),
        false => format!("row{open}{}{down}{place}{close}", place + port.width() - 1),
    }
}
