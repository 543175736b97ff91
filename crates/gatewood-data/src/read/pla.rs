//! Espresso PLA: a truth table as text, one line a cube of inputs and its output.

use std::io::BufRead;

use gatewood::bits::BitMatrix;
use gatewood::{Error, Result};

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

struct Cube {
    line: usize,
    inputs: Vec<u8>,
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
        Kind::OnOff => listed_rows(&text.cubes)?,
        Kind::On => all_rows(&text)?,
    };
    if rows.is_empty() {
        return Err(Error::data("the PLA file has no rows"));
    }
    let row_bytes = columns.div_ceil(8);
    let bytes: Vec<u8> = rows.iter().flat_map(|(inputs, _)| pack(inputs)).collect();
    debug_assert_eq!(bytes.len(), rows.len() * row_bytes);
    let bits = BitMatrix::from_packed_rows(rows.len(), columns, &bytes)?;
    Ok(Pla {
        inputs: text.names.unwrap_or_else(|| (0..columns).map(|i| format!("x{i}")).collect()),
        output: text.output.unwrap_or_else(|| "y".into()),
        bits,
        classes: rows.into_iter().map(|(_, output)| output).collect(),
    })
}

fn pack(inputs: &[u8]) -> impl Iterator<Item = u8> {
    inputs
        .chunks(8)
        .map(|eight| eight.iter().enumerate().fold(0, |byte, (j, &c)| byte | u8::from(c == b'1') << j))
}

/// The lines of the file, checked one by one.
struct Text {
    inputs: usize,
    kind: Option<Kind>,
    names: Option<Vec<String>>,
    output: Option<String>,
    cubes: Vec<Cube>,
}

impl Text {
    fn read(reader: &mut dyn BufRead) -> Result<Self> {
        let mut text = Self { inputs: 0, kind: None, names: None, output: None, cubes: Vec::new() };
        let mut outputs = None;
        let mut line = String::new();
        for number in 1.. {
            line.clear();
            let read = reader.read_line(&mut line).map_err(|error| match error.kind() {
                std::io::ErrorKind::InvalidData => Error::file(format!("line {number} is not text")),
                _ => Error::io(error.to_string()),
            })?;
            if read == 0 {
                break;
            }
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_whitespace();
            let Some(first) = words.next() else { continue };
            let wrong = |what: &str| Error::file(format!("line {number}: {what}"));
            let rest: Vec<&str> = words.collect();
            match first {
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
                _ if first.starts_with('.') => return Err(wrong(&format!("{first} is not a known keyword"))),
                _ => {
                    if text.inputs == 0 {
                        return Err(wrong("a row comes before .i gave the number of inputs"));
                    }
                    if outputs.is_none() {
                        return Err(wrong("a row comes before .o gave the number of outputs"));
                    }
                    let digits: Vec<u8> =
                        content.bytes().filter(|c| !c.is_ascii_whitespace() && *c != b'|').collect();
                    text.cubes.push(cube(number, digits, text.inputs)?);
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

    fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| {
            if self.cubes.iter().any(|cube| cube.output == b'0') { Kind::OnOff } else { Kind::On }
        })
    }
}

fn size(words: &[&str]) -> Option<usize> {
    let [word] = words else { return None };
    word.parse().ok().filter(|size| (1..=65536).contains(size))
}

fn cube(line: usize, mut digits: Vec<u8>, inputs: usize) -> Result<Cube> {
    if digits.len() != inputs + 1 {
        return Err(Error::file(format!(
            "line {line}: {} digits instead of {inputs} inputs and 1 output",
            digits.len()
        )));
    }
    for (place, digit) in digits.iter_mut().enumerate() {
        *digit = match *digit {
            b'2' => b'-',
            b'4' if place == inputs => b'1',
            b'~' if place == inputs => b'-',
            digit => digit,
        };
        if !matches!(digit, b'0' | b'1' | b'-') {
            let what = char::from(*digit).escape_default();
            return Err(Error::file(format!(
                "line {line}, digit {}: \"{what}\" is not 0, 1 or -",
                place + 1
            )));
        }
    }
    let output = digits.pop().expect("inputs + 1 digits");
    Ok(Cube { line, inputs: digits, output })
}

type Row = (Vec<u8>, u32);

/// The rows of the lines with a known output, `-` inputs expanded, in the order of the file.
fn listed_rows(cubes: &[Cube]) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for cube in cubes.iter().filter(|cube| cube.output != b'-') {
        let open: Vec<usize> = (0..cube.inputs.len()).filter(|&i| cube.inputs[i] == b'-').collect();
        let count = u32::try_from(open.len()).ok().and_then(|open| 1usize.checked_shl(open));
        if count.and_then(|count| count.checked_add(rows.len())).is_none_or(|count| count > PLA_ROWS) {
            return Err(Error::too_large(format!(
                "line {}: its {} inputs \"-\" stand for 2^{} rows, and at most {PLA_ROWS} rows are made of a file",
                cube.line,
                open.len(),
                open.len()
            )));
        }
        for value in 0..1usize << open.len() {
            let mut inputs = cube.inputs.clone();
            open.iter().enumerate().for_each(|(j, &i)| inputs[i] = b'0' + (value >> j & 1) as u8);
            rows.push((inputs, u32::from(cube.output == b'1')));
        }
    }
    Ok(rows)
}

/// All rows of the function but those that may be either, in counting order.
fn all_rows(text: &Text) -> Result<Vec<Row>> {
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
        for cube in text.cubes.iter().filter(|cube| cube.output == output) {
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
    let digit = |row: usize, i: usize| b'0' + (row >> i & 1) as u8;
    Ok(outputs
        .iter()
        .enumerate()
        .filter(|(_, output)| **output != b'-')
        .map(|(row, &output)| ((0..text.inputs).map(|i| digit(row, i)).collect(), u32::from(output == b'1')))
        .collect())
}
