//! Espresso PLA: a truth table as text, one line a cube of inputs and its output.

use std::io::BufRead;

use gatewood::bits::BitMatrix;
use gatewood::{Error, Result, memory};

use super::bytes::read_line;

/// The most rows that `-` inputs, or the rows a function leaves out, may be expanded to.
pub const PLA_ROWS: usize = 1 << 22;

/// The rows of a PLA file: every one with all its inputs known.
#[derive(Debug, Clone, PartialEq)]
pub struct Pla {
    /// The names of the inputs: those of `.ilb`, or `x0`, `x1`, …
    pub inputs: Vec<String>,
    /// The name of the output: that of `.ob`, or `y`.
    pub output: String,
    /// One row a line, `-` inputs expanded.
    pub bits: BitMatrix,
    /// The output of each row.
    pub classes: Vec<u32>,
}

/// What a line that is not listed means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `.type fr`: on and off rows are listed, all others are unknown.
    OnOff,
    /// `.type f` or `.type fd`: on rows (and rows that may be either) are listed, all others are off.
    On,
}

/// Bytes a line may have.
const LONGEST: usize = 1 << 22;

/// One line of the table.
#[derive(Clone, Copy)]
struct Cube<'a> {
    line: u32,
    inputs: &'a [u8],
    output: u8,
}

/// Reads a PLA file of one output.
///
/// Of `.type fr`, the lines with output `1` and `0` are the rows. Of `.type f` or `fd`, which list on rows alone,
/// every other row is off, so all rows of the function are made. Without `.type`, a file that lists an output `0` is read as `fr`, any
/// other as `fd`, espresso's default. A `-` input stands for both values. At most [`PLA_ROWS`] rows are made.
///
/// # Errors
/// When a line does not fit, naming it, or the rows are too many.
///
/// ```
/// let text = ".i 2\n.o 1\n.type fr\n1- 1\n00 0\n.e\n";
/// let pla = gatewood_data::read::read_pla(&mut text.as_bytes())?;
/// assert_eq!(pla.classes, [1, 1, 0]);
/// # Ok::<(), gatewood::Error>(())
/// ```
pub fn read_pla(reader: &mut dyn BufRead) -> Result<Pla> {
    let text = Text::read(reader)?;
    let columns = text.inputs;
    let rows = match text.kind() {
        Kind::OnOff => listed_rows(&text)?,
        Kind::On => all_rows(&text)?,
    };
    if rows.classes.is_empty() {
        return Err(Error::data("the PLA file has no rows"));
    }
    let bits = BitMatrix::from_packed_rows(rows.classes.len(), columns, &rows.bytes)?;
    Ok(Pla {
        inputs: text.names.unwrap_or_else(|| (0..columns).map(|i| format!("x{i}")).collect()),
        output: text.output.unwrap_or_else(|| "y".into()),
        bits,
        classes: rows.classes,
    })
}

/// Rows with all their inputs known: eight inputs a byte, whole bytes a row.
#[derive(Default)]
struct PackedRows {
    bytes: Vec<u8>,
    classes: Vec<u32>,
}

impl PackedRows {
    /// Makes room for so many rows more.
    fn reserve(&mut self, rows: usize, columns: usize) -> Result<()> {
        memory::reserve(&mut self.bytes, rows.saturating_mul(columns.div_ceil(8)))?;
        memory::reserve(&mut self.classes, rows)
    }

    fn push(&mut self, inputs: impl ExactSizeIterator<Item = bool>, is_on: bool) {
        let first = self.bytes.len();
        self.bytes.resize(first + inputs.len().div_ceil(8), 0);
        for (place, input) in inputs.enumerate() {
            self.bytes[first + place / 8] |= u8::from(input) << (place % 8);
        }
        self.classes.push(u32::from(is_on));
    }
}

/// The lines of the file, checked one by one.
#[derive(Default)]
struct Text {
    inputs: usize,
    kind: Option<Kind>,
    names: Option<Vec<String>>,
    output: Option<String>,
    /// The inputs and the output of each row of the table, one after the other.
    digits: Vec<u8>,
    /// The line of each.
    lines: Vec<u32>,
}

impl Text {
    fn read(reader: &mut dyn BufRead) -> Result<Self> {
        let mut text = Self::default();
        let mut outputs = None;
        let mut line = Vec::new();
        for number in 1usize.. {
            read_line(reader, &mut line, LONGEST).map_err(|error| error.at(format_args!("line {number}")))?;
            if line.is_empty() {
                break;
            }
            let line =
                std::str::from_utf8(&line).map_err(|_| Error::file(format!("line {number} is not text")))?;
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_whitespace();
            let Some(first) = words.next() else { continue };
            let wrong = |what: &str| Error::file(format!("line {number}: {what}"));
            let rest: Vec<&str> = words.collect();
            match first {
                ".i" if text.inputs != 0 => return Err(wrong("a second .i")),
                ".o" if outputs.is_some() => return Err(wrong("a second .o")),
                ".i" => {
                    text.inputs =
                        size(&rest).ok_or_else(|| wrong(".i must give the number of inputs, 1 to 65536"))?;
                }
                ".o" => {
                    let count = size(&rest).ok_or_else(|| wrong(".o must give the number of outputs"))?;
                    if count != 1 {
                        return Err(wrong(&format!("the file has {count} outputs, but one is wanted")));
                    }
                    outputs = Some(count);
                }
                ".ilb" => text.names = Some(rest.iter().map(ToString::to_string).collect()),
                ".ob" => text.output = rest.first().map(ToString::to_string),
                ".type" => {
                    text.kind = match rest[..] {
                        ["fr"] => Some(Kind::OnOff),
                        ["f" | "fd"] => Some(Kind::On),
                        _ => return Err(wrong(".type must be f, fd or fr")),
                    };
                }
                ".p" => {}
                ".e" | ".end" => break,
                _ if first.starts_with('.') => {
                    let first: String = first.chars().take(40).collect();
                    return Err(wrong(&format!("{first} is not a known keyword")));
                }
                _ => {
                    if text.inputs == 0 {
                        return Err(wrong("a row comes before .i gave the number of inputs"));
                    }
                    if outputs.is_none() {
                        return Err(wrong("a row comes before .o gave the number of outputs"));
                    }
                    let digits = content.bytes().filter(|c| !c.is_ascii_whitespace() && *c != b'|');
                    text.push(number, digits)?;
                }
            }
        }
        if text.inputs == 0 {
            return Err(Error::file("not a PLA file: no .i line gives the number of inputs"));
        }
        if let Some(names) = text.names.as_ref().filter(|names| names.len() != text.inputs) {
            return Err(Error::file(format!(
                ".ilb names {} inputs, but .i says {}",
                names.len(),
                text.inputs
            )));
        }
        Ok(text)
    }

    /// Takes a row of the table.
    fn push(&mut self, line: usize, digits: impl Iterator<Item = u8> + Clone) -> Result<()> {
        let (inputs, count) = (self.inputs, digits.clone().count());
        if count != inputs + 1 {
            return Err(Error::file(format!(
                "line {line}: {count} digits instead of {inputs} inputs and 1 output"
            )));
        }
        memory::reserve(&mut self.digits, count)?;
        memory::reserve(&mut self.lines, 1)?;
        for (place, digit) in digits.enumerate() {
            let digit = match digit {
                b'2' => b'-',
                b'4' if place == inputs => b'1',
                b'~' if place == inputs => b'-',
                digit => digit,
            };
            if !matches!(digit, b'0' | b'1' | b'-') {
                let what = char::from(digit).escape_default();
                return Err(Error::file(format!(
                    "line {line}, digit {}: \"{what}\" is not 0, 1 or -",
                    place + 1
                )));
            }
            self.digits.push(digit);
        }
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        Ok(())
    }

    /// The rows of the table.
    fn cubes(&self) -> impl Iterator<Item = Cube<'_>> {
        self.digits.chunks_exact(self.inputs + 1).zip(&self.lines).map(|(digits, &line)| Cube {
            line,
            inputs: &digits[..self.inputs],
            output: digits[self.inputs],
        })
    }

    fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| {
            if self.cubes().any(|cube| cube.output == b'0') { Kind::OnOff } else { Kind::On }
        })
    }
}

fn size(words: &[&str]) -> Option<usize> {
    let [word] = words else { return None };
    word.parse().ok().filter(|size| (1..=65536).contains(size))
}

/// The rows of the lines with a known output, `-` inputs expanded, in the order of the file.
fn listed_rows(text: &Text) -> Result<PackedRows> {
    let mut rows = PackedRows::default();
    for cube in text.cubes().filter(|cube| cube.output != b'-') {
        let open: Vec<usize> = (0..cube.inputs.len()).filter(|&i| cube.inputs[i] == b'-').collect();
        let count = u32::try_from(open.len()).ok().and_then(|open| 1usize.checked_shl(open));
        let count = count.filter(|count| rows.classes.len().saturating_add(*count) <= PLA_ROWS);
        let Some(count) = count else {
            return Err(Error::too_large(format!(
                "line {}: its {} inputs \"-\" stand for 2^{} rows, and at most {PLA_ROWS} rows are made of a file",
                cube.line,
                open.len(),
                open.len()
            )));
        };
        let at = |error: Error| error.at(format_args!("line {}", cube.line));
        rows.reserve(count, text.inputs).map_err(at)?;
        let mut inputs: Vec<bool> = cube.inputs.iter().map(|&digit| digit == b'1').collect();
        for value in 0..count {
            open.iter().enumerate().for_each(|(j, &i)| inputs[i] = value >> j & 1 != 0);
            rows.push(inputs.iter().copied(), cube.output == b'1');
        }
    }
    Ok(rows)
}

/// All rows of the function but those that may be either, in counting order.
fn all_rows(text: &Text) -> Result<PackedRows> {
    if text.inputs > PLA_ROWS.ilog2() as usize {
        return Err(Error::too_large(format!(
            "the file lists on rows alone, so the off rows are all others of 2^{}, and at most {PLA_ROWS} rows are made of \
             a file; list both and say \".type fr\"",
            text.inputs
        )));
    }
    let mut outputs = vec![b'0'; 1 << text.inputs];
    // A row that is both on and free is on, as espresso has it.
    for output in [b'-', b'1'] {
        for cube in text.cubes().filter(|cube| cube.output == output) {
            let ones =
                cube.inputs.iter().enumerate().fold(0usize, |a, (i, &c)| a | usize::from(c == b'1') << i);
            let free =
                cube.inputs.iter().enumerate().fold(0usize, |a, (i, &c)| a | usize::from(c == b'-') << i);
            // Walks the subsets of the free inputs.
            let mut subset = 0;
            loop {
                outputs[ones | subset] = output;
                subset = subset.wrapping_sub(free) & free;
                if subset == 0 {
                    break;
                }
            }
        }
    }
    let mut rows = PackedRows::default();
    rows.reserve(outputs.iter().filter(|output| **output != b'-').count(), text.inputs)?;
    for (row, &output) in outputs.iter().enumerate().filter(|(_, output)| **output != b'-') {
        rows.push((0..text.inputs).map(|i| row >> i & 1 != 0), output == b'1');
    }
    Ok(rows)
}

/// Whether a text starts like a PLA file: its first word is one of the format's.
pub(crate) fn looks_like_pla(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
    [".i ", ".o ", ".ilb ", ".ob ", ".type "].iter().any(|word| first.starts_with(word.as_bytes()))
}
