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

/// Samples of a function of several outputs: every row with all its inputs and outputs known.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaFunction {
    /// The names of the inputs: those of `.ilb`, or `x0`, `x1`, …
    pub inputs: Vec<String>,
    /// The names of the outputs: those of `.ob`, or `y` for one and `y0`, `y1`, … for several.
    pub outputs: Vec<String>,
    /// The inputs of each row, `-` inputs expanded.
    pub bits: BitMatrix,
    /// The outputs of each row.
    pub values: BitMatrix,
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
    outputs: &'a [u8],
}

impl Cube<'_> {
    /// Whether no output is known.
    fn is_free(&self) -> bool {
        self.outputs.iter().all(|&output| output == b'-')
    }
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
    let function = read(reader, false)?;
    let values = function.values.view();
    let classes = (0..values.rows()).map(|row| u32::from(values.get(row, 0))).collect();
    let output = function.outputs.into_iter().next().unwrap_or_default();
    Ok(Pla { inputs: function.inputs, output, bits: function.bits, classes })
}

/// Reads a PLA file of any number of outputs, as [`read_pla`] reads one. A row must say all outputs, or none.
///
/// # Errors
/// When a line does not fit, naming it, or the rows are too many.
///
/// ```
/// let text = ".i 2\n.o 2\n.type fr\n11 10\n0- 01\n.e\n";
/// let function = gatewood_data::read::read_pla_function(&mut text.as_bytes())?;
/// assert_eq!((function.values.rows(), function.outputs.len()), (3, 2));
/// # Ok::<(), gatewood::Error>(())
/// ```
pub fn read_pla_function(reader: &mut dyn BufRead) -> Result<PlaFunction> {
    read(reader, true)
}

fn read(reader: &mut dyn BufRead, several: bool) -> Result<PlaFunction> {
    let text = Text::read(reader, several)?;
    let (columns, outputs) = (text.inputs, text.outputs);
    let rows = match text.kind() {
        Kind::OnOff => listed_rows(&text)?,
        Kind::On => all_rows(&text)?,
    };
    if rows.rows == 0 {
        return Err(Error::data("the PLA file has no rows"));
    }
    let numbered = |letter: char, count: usize| (0..count).map(|i| format!("{letter}{i}")).collect();
    let usual = || if outputs == 1 { vec!["y".into()] } else { numbered('y', outputs) };
    Ok(PlaFunction {
        inputs: text.names.unwrap_or_else(|| numbered('x', columns)),
        outputs: text.output_names.unwrap_or_else(usual),
        bits: BitMatrix::from_packed_rows(rows.rows, columns, &rows.inputs)?,
        values: BitMatrix::from_packed_rows(rows.rows, outputs, &rows.outputs)?,
    })
}

/// Rows with all their inputs and outputs known: eight a byte, whole bytes a row.
#[derive(Default)]
struct PackedRows {
    rows: usize,
    inputs: Vec<u8>,
    outputs: Vec<u8>,
}

impl PackedRows {
    /// Makes room for so many rows more.
    fn reserve(&mut self, rows: usize, text: &Text) -> Result<()> {
        memory::reserve(&mut self.inputs, rows.saturating_mul(text.inputs.div_ceil(8)))?;
        memory::reserve(&mut self.outputs, rows.saturating_mul(text.outputs.div_ceil(8)))
    }

    fn push(
        &mut self,
        inputs: impl ExactSizeIterator<Item = bool>,
        outputs: impl ExactSizeIterator<Item = bool>,
    ) {
        push_packed(&mut self.inputs, inputs);
        push_packed(&mut self.outputs, outputs);
        self.rows += 1;
    }
}

fn push_packed(bytes: &mut Vec<u8>, bits: impl ExactSizeIterator<Item = bool>) {
    let first = bytes.len();
    bytes.resize(first + bits.len().div_ceil(8), 0);
    for (place, bit) in bits.enumerate() {
        bytes[first + place / 8] |= u8::from(bit) << (place % 8);
    }
}

/// The lines of the file, checked one by one.
#[derive(Default)]
struct Text {
    inputs: usize,
    outputs: usize,
    kind: Option<Kind>,
    names: Option<Vec<String>>,
    output_names: Option<Vec<String>>,
    /// The inputs and the outputs of each row of the table, one after the other.
    digits: Vec<u8>,
    /// The line of each.
    lines: Vec<u32>,
}

impl Text {
    /// Reads the lines; of several outputs only where those are wanted.
    fn read(reader: &mut dyn BufRead, several: bool) -> Result<Self> {
        let mut text = Self::default();
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
                ".o" if text.outputs != 0 => return Err(wrong("a second .o")),
                ".i" => {
                    text.inputs =
                        size(&rest).ok_or_else(|| wrong(".i must give the number of inputs, 1 to 65536"))?;
                }
                ".o" => {
                    let count = size(&rest).ok_or_else(|| wrong(".o must give the number of outputs"))?;
                    if count != 1 && !several {
                        return Err(wrong(&format!(
                            "the file has {count} outputs, but one is wanted (gatewood learn takes several)"
                        )));
                    }
                    text.outputs = count;
                }
                ".ilb" => text.names = Some(rest.iter().map(ToString::to_string).collect()),
                ".ob" => text.output_names = Some(rest.iter().map(ToString::to_string).collect()),
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
                    if text.outputs == 0 {
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
        if let Some(names) = text.output_names.as_ref().filter(|names| names.len() != text.outputs) {
            return Err(Error::file(format!(
                ".ob names {} outputs, but .o says {}",
                names.len(),
                text.outputs
            )));
        }
        Ok(text)
    }

    /// Takes a row of the table.
    fn push(&mut self, line: usize, digits: impl Iterator<Item = u8> + Clone) -> Result<()> {
        let (inputs, outputs, count) = (self.inputs, self.outputs, digits.clone().count());
        if count != inputs + outputs {
            let outputs = if outputs == 1 { "1 output".into() } else { format!("{outputs} outputs") };
            return Err(Error::file(format!(
                "line {line}: {count} digits instead of {inputs} inputs and {outputs}"
            )));
        }
        memory::reserve(&mut self.digits, count)?;
        memory::reserve(&mut self.lines, 1)?;
        for (place, digit) in digits.enumerate() {
            let digit = match digit {
                b'2' => b'-',
                b'4' if place >= inputs => b'1',
                b'~' if place >= inputs => b'-',
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
        let width = (self.inputs + self.outputs).max(1);
        self.digits.chunks_exact(width).zip(&self.lines).map(|(digits, &line)| Cube {
            line,
            inputs: &digits[..self.inputs],
            outputs: &digits[self.inputs..],
        })
    }

    fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| {
            if self.cubes().any(|cube| cube.outputs.contains(&b'0')) { Kind::OnOff } else { Kind::On }
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
    for cube in text.cubes().filter(|cube| !cube.is_free()) {
        if let Some(place) = cube.outputs.iter().position(|&output| output == b'-') {
            return Err(Error::file(format!(
                "line {}: output {} is not known where others are; samples say all outputs of a row, or none",
                cube.line,
                place + 1
            )));
        }
        let open: Vec<usize> = (0..cube.inputs.len()).filter(|&i| cube.inputs[i] == b'-').collect();
        let count = u32::try_from(open.len()).ok().and_then(|open| 1usize.checked_shl(open));
        let count = count.filter(|count| rows.rows.saturating_add(*count) <= PLA_ROWS);
        let Some(count) = count else {
            return Err(Error::too_large(format!(
                "line {}: its {} inputs \"-\" stand for 2^{} rows, and at most {PLA_ROWS} rows are made of a file",
                cube.line,
                open.len(),
                open.len()
            )));
        };
        let at = |error: Error| error.at(format_args!("line {}", cube.line));
        rows.reserve(count, text).map_err(at)?;
        let mut inputs: Vec<bool> = cube.inputs.iter().map(|&digit| digit == b'1').collect();
        for value in 0..count {
            open.iter().enumerate().for_each(|(j, &i)| inputs[i] = value >> j & 1 != 0);
            rows.push(inputs.iter().copied(), cube.outputs.iter().map(|&output| output == b'1'));
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
    let count = 1usize << text.inputs;
    let mut outputs: Vec<u8> = Vec::new();
    memory::reserve(&mut outputs, count.saturating_mul(text.outputs))?;
    outputs.resize(count * text.outputs, b'0');
    // A row that is both on and free is on, as espresso has it.
    for output in [b'-', b'1'] {
        for cube in text.cubes().filter(|cube| cube.outputs.contains(&output)) {
            let ones =
                cube.inputs.iter().enumerate().fold(0usize, |a, (i, &c)| a | usize::from(c == b'1') << i);
            let free =
                cube.inputs.iter().enumerate().fold(0usize, |a, (i, &c)| a | usize::from(c == b'-') << i);
            // Walks the subsets of the free inputs.
            let mut subset = 0;
            loop {
                let row = &mut outputs[(ones | subset) * text.outputs..][..text.outputs];
                row.iter_mut()
                    .zip(cube.outputs)
                    .filter(|(_, said)| **said == output)
                    .for_each(|(row, _)| *row = output);
                subset = subset.wrapping_sub(free) & free;
                if subset == 0 {
                    break;
                }
            }
        }
    }
    let mut rows = PackedRows::default();
    rows.reserve(count, text)?;
    for (row, outputs) in outputs.chunks_exact(text.outputs).enumerate() {
        if outputs.contains(&b'-') {
            if text.outputs > 1 && outputs.iter().any(|&output| output != b'-') {
                return Err(Error::file(
                    "a row may have either value in one output and not in others; samples say all outputs of a row, or none",
                ));
            }
            continue;
        }
        rows.push((0..text.inputs).map(|i| row >> i & 1 != 0), outputs.iter().map(|&output| output == b'1'));
    }
    Ok(rows)
}

/// Whether a text starts like a PLA file: its first word is one of the format's.
pub(crate) fn looks_like_pla(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
    [".i ", ".o ", ".ilb ", ".ob ", ".type "].iter().any(|word| first.starts_with(word.as_bytes()))
}
