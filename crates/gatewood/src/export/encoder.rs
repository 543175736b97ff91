//! The encoder in front of a netlist: raw columns in, as integers or fixed-point numbers.

use std::collections::HashMap;

use super::fixed_point::FixedPoint;
use super::ports::{Line, Port, PortKind};
use crate::Result;
use crate::circuit::{Netlist, NetlistBuilder, Signal, TruthTable};
use crate::encode::{BitMeaning, Encoder, Kind, Test};

/// Inputs of a LUT of a comparison.
const LUT_INPUTS: usize = 6;

/// A netlist that reads raw columns in place of the bits that `netlist` reads.
///
/// A pixel is eight inputs, `NAME[0]` the lowest. A number (or a date, in seconds) is a [`FixedPoint`]. Where missing
/// values are asked for, `NAME is missing` is an input of its own, and a missing number is otherwise not above and not equal to
/// anything. Ready bits, and tests of texts and of parts of dates, stay inputs. Columns that the netlist does not ask for are
/// left out. The ports are the inputs, a number or pixel together.
///
/// # Errors
/// When a number needs more than 64 bits, or the encoder is not that of the netlist.
pub(super) fn attach(
    encoder: &Encoder,
    netlist: &Netlist,
    fraction: Option<u32>,
) -> Result<(Netlist, Vec<Port>)> {
    if encoder.bits() != netlist.inputs() {
        let (bits, inputs) = (encoder.bits(), netlist.inputs());
        return Err(crate::Error::data(format!(
            "the encoder has {bits} bits, but the netlist {inputs} inputs"
        )));
    }
    let read = netlist.reader_counts();
    let used: Vec<bool> = (0..encoder.bits()).map(|bit| read[netlist.input(bit).index()] > 0).collect();
    let mut lines = Lines::default();
    let columns: Vec<Raw> = (0..encoder.inputs().len())
        .map(|column| Raw::of(encoder, column, &used, fraction, &mut lines))
        .collect::<Result<_>>()?;
    let mut builder = NetlistBuilder::new(super::names::unique(lines.names))?;
    let mut signals = vec![Signal::ZERO; encoder.bits()];
    for (bit, meaning) in encoder.meanings().iter().enumerate().filter(|&(bit, _)| used[bit]) {
        let column = &columns[meaning.column as usize];
        signals[bit] = match meaning.test {
            Test::Exceeds { other, margin } if column.number.is_none() => {
                column.exceed(&mut builder, &columns[other as usize], margin)?
            }
            _ => column.test(&mut builder, &meaning.test, bit)?,
        };
    }
    append(&mut builder, netlist, &signals)?;
    Ok((builder.finish(), lines.ports))
}

/// The inputs of a netlist that are made, and the ports that they are.
#[derive(Default)]
struct Lines {
    names: Vec<String>,
    ports: Vec<Port>,
}

impl Lines {
    /// Adds the bits of a column; gives the first of them.
    fn number(&mut self, encoder: &Encoder, column: usize, width: u32, kind: PortKind) -> usize {
        let (first, name) = (self.names.len(), &encoder.inputs()[column].name);
        self.names.extend((0..width).map(|bit| format!("{name}[{bit}]")));
        if width > 0 {
            self.ports.push(Port::new(name, first..self.names.len(), kind, Line::Column(column)));
        }
        first
    }

    /// Adds a bit of the encoder; gives its place.
    fn bit(&mut self, encoder: &Encoder, bit: usize) -> usize {
        let (first, name) = (self.names.len(), encoder.describe(bit));
        self.ports.push(Port::new(&name, first..first + 1, PortKind::Bit, Line::Bit(bit)));
        self.names.push(name);
        first
    }
}

/// The inputs of a netlist that it reads; the first where it reads none, since a circuit without inputs is none.
pub(super) fn read_inputs(netlist: &Netlist) -> Vec<usize> {
    let counts = netlist.reader_counts();
    let read: Vec<usize> =
        (0..netlist.inputs()).filter(|&input| counts[netlist.input(input).index()] > 0).collect();
    if read.is_empty() { (0..netlist.inputs().min(1)).collect() } else { read }
}

/// A netlist with only those inputs that it reads.
pub(super) fn without_unread(netlist: &Netlist) -> Result<Netlist> {
    let read = read_inputs(netlist);
    let mut builder = NetlistBuilder::new(read.iter().map(|&input| netlist.input_names()[input].clone()))?;
    let mut signals = vec![Signal::ZERO; netlist.inputs()];
    read.iter().enumerate().for_each(|(place, &input)| signals[input] = builder.input(place));
    append(&mut builder, netlist, &signals)?;
    Ok(builder.finish())
}

/// Adds a netlist whose inputs are the given signals.
fn append(builder: &mut NetlistBuilder, netlist: &Netlist, inputs: &[Signal]) -> Result<()> {
    let mut signals = vec![Signal::ZERO, Signal::ONE];
    signals.extend_from_slice(inputs);
    for lut in netlist.iter() {
        let reads: Vec<Signal> = lut.inputs().iter().map(|input| signals[input.index()]).collect();
        signals.push(builder.add(lut.words(), &reads)?);
    }
    for (name, signal) in netlist.output_list() {
        builder.output(name.clone(), signals[signal.index()])?;
    }
    Ok(())
}

/// The inputs of a raw column, by the number of the first.
struct Raw {
    first: usize,
    /// Bits of the number or pixel.
    width: u32,
    /// How a number is written; nothing for a pixel.
    number: Option<FixedPoint>,
    /// The input that says that it is missing.
    missing: Option<usize>,
    /// The inputs of tests that stay as they are, by the number of the encoder's bit.
    direct: HashMap<usize, usize>,
}

impl Raw {
    fn of(
        encoder: &Encoder,
        column: usize,
        used: &[bool],
        fraction: Option<u32>,
        lines: &mut Lines,
    ) -> Result<Self> {
        let input = &encoder.inputs()[column];
        let is_number = matches!(input.kind, Kind::Number | Kind::Date);
        let tests = || {
            let meanings = encoder.meanings().iter().enumerate();
            meanings.filter(|&(bit, meaning)| meaning.column as usize == column && used[bit])
        };
        let number = match is_number {
            true => Some(
                FixedPoint::for_tests(tests().map(|(_, meaning)| &meaning.test), fraction)
                    .map_err(|error| error.at(format!("column \"{}\"", input.name)))?,
            ),
            false => None,
        };
        // A pixel that another is compared with.
        let is_other = |(bit, meaning): (usize, &BitMeaning)| match meaning.test {
            Test::Exceeds { other, .. } => used[bit] && other as usize == column,
            _ => false,
        };
        let is_pixel = |test: &Test| {
            matches!(test, Test::Above(_) | Test::PixelBit(_) | Test::GrayBit(_) | Test::Exceeds { .. })
        };
        let (width, kind) = match number {
            Some(number) => (number.width, PortKind::Number(number)),
            None if input.kind == Kind::Pixel
                && (tests().any(|(_, meaning)| is_pixel(&meaning.test))
                    || encoder.meanings().iter().enumerate().any(is_other)) =>
            {
                (8, PortKind::Pixel)
            }
            None => (0, PortKind::Pixel),
        };
        let first = lines.number(encoder, column, width, kind);
        let mut raw = Self { first, width, number, missing: None, direct: HashMap::new() };
        for (bit, meaning) in tests() {
            match meaning.test {
                Test::Missing => raw.missing = Some(lines.bit(encoder, bit)),
                Test::Exceeds { .. } if !is_number => {}
                Test::Is(_)
                | Test::Other
                | Test::Word(_)
                | Test::DatePart(..)
                | Test::Set
                | Test::Exceeds { .. } => {
                    raw.direct.insert(bit, lines.bit(encoder, bit));
                }
                _ => {}
            }
        }
        Ok(raw)
    }

    fn bit(&self, builder: &NetlistBuilder, bit: u32) -> Signal {
        builder.input(self.first + bit as usize)
    }

    /// The signal of a test of this column.
    fn test(&self, builder: &mut NetlistBuilder, test: &Test, bit: usize) -> Result<Signal> {
        let scaled = |value: f64| self.number.map_or(value.floor(), |number| number.scaled(value)) as i64;
        let signal = match test {
            Test::Above(value) if self.number.is_none() && *value < 0.0 => Signal::ONE,
            Test::Above(value) if self.number.is_none() && *value >= 255.0 => Signal::ZERO,
            Test::Above(value) => self.compare(builder, scaled(*value), |above, _| above)?,
            Test::Equals(value) => self.compare(builder, scaled(*value), |_, equal| equal)?,
            Test::PixelBit(place) => self.bit(builder, u32::from(*place)),
            Test::GrayBit(7) => self.bit(builder, 7),
            Test::GrayBit(place) => {
                let pair = [u32::from(*place), u32::from(*place) + 1].map(|bit| self.bit(builder, bit));
                builder.add(&[0b0110], &pair)?
            }
            Test::Missing => return Ok(builder.input(self.missing.expect("made for this test"))),
            Test::Is(_)
            | Test::Other
            | Test::Word(_)
            | Test::DatePart(..)
            | Test::Set
            | Test::Exceeds { .. } => {
                return Ok(builder.input(self.direct[&bit]));
            }
        };
        match self.missing {
            Some(missing) => builder.add(&[0b0010], &[signal, builder.input(missing)]),
            None => Ok(signal),
        }
    }

    /// Whether this pixel less another is above a margin: two bits of each at a time, from the lowest up, and what is carried.
    fn exceed(&self, builder: &mut NetlistBuilder, other: &Self, margin: f64) -> Result<Signal> {
        if margin >= 255.0 {
            return Ok(Signal::ZERO);
        }
        if margin < -255.0 {
            return Ok(Signal::ONE);
        }
        // It is where the pixel, and 255 less the other, and 256 less the margin add up to 512 or more.
        let constant = 256 - margin.floor() as i32;
        let mut carry = Carry::default();
        for start in (0..8).step_by(2) {
            let part = match start {
                6 => constant >> 6,
                _ => constant >> start & 3,
            };
            let mut reads = carry.signals.clone();
            let carried = reads.len();
            reads.extend((start..start + 2).map(|bit| self.bit(builder, bit)));
            reads.extend((start..start + 2).map(|bit| other.bit(builder, bit)));
            let sum = |address: usize| {
                let bits = address >> carried;
                carry.value(address) + part + (bits & 3) as i32 + 3 - (bits >> 2 & 3) as i32
            };
            if start == 6 {
                // In units of 64.
                let table = TruthTable::from_fn(reads.len(), |address| sum(address) >= 8);
                return builder.add(table.words(), &reads);
            }
            let most = (0..1usize << reads.len()).map(sum).max().unwrap_or(0) >> 2;
            let mut signals = Vec::new();
            for place in 0..32 - most.leading_zeros() {
                let table = TruthTable::from_fn(reads.len(), |address| sum(address) >> (2 + place) & 1 != 0);
                signals.push(builder.add(table.words(), &reads)?);
            }
            carry = Carry { signals };
        }
        Ok(Signal::ZERO)
    }

    /// A function of whether the column is above and whether it is equal to a number, found from the lowest bits up.
    fn compare(
        &self,
        builder: &mut NetlistBuilder,
        number: i64,
        pick: fn(bool, bool) -> bool,
    ) -> Result<Signal> {
        // With the sign bit flipped, signed numbers are ordered as unsigned ones.
        let is_signed = self.number.is_some_and(|number| number.is_signed);
        let flip = if is_signed { 1u64 << (self.width - 1) } else { 0 };
        let number = (number as u64 ^ flip) & (u64::MAX >> (64 - self.width));
        let mut below: Option<Signal> = None;
        let mut start = 0;
        while start < self.width {
            let carried = usize::from(below.is_some());
            let count = (LUT_INPUTS - carried).min((self.width - start) as usize);
            let part = number >> start & ((1 << count) - 1);
            let flips = flip >> start & ((1 << count) - 1);
            // What the lower bits say decides where these are equal.
            let table = TruthTable::from_fn(carried + count, |address| {
                let value = (address >> carried) as u64 ^ flips;
                match below {
                    Some(_) if value == part => address & 1 != 0,
                    None if value == part => pick(false, true),
                    _ => pick(value > part, false),
                }
            });
            let bits = (start..start + count as u32).map(|bit| self.bit(builder, bit));
            let reads: Vec<Signal> = below.into_iter().chain(bits).collect();
            below = Some(builder.add(table.words(), &reads)?);
            start += count as u32;
        }
        Ok(below.unwrap_or(Signal::ZERO))
    }
}

/// A number that is carried from some bits of a sum to the next.
#[derive(Default)]
struct Carry {
    signals: Vec<Signal>,
}

impl Carry {
    /// What it is worth where its signals are the lowest bits of an address.
    fn value(&self, address: usize) -> i32 {
        (address & ((1 << self.signals.len()) - 1)) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::{generator, random_tree};
    use crate::encode::{Column, EncodeSettings, Numbers, Table, Texts};
    use chacha20::rand_core::Rng;

    /// The bits of a number at the inputs named after a column.
    fn feed(netlist: &Netlist, row: &mut [bool], column: &str, value: i64, missing: bool) {
        for (input, name) in netlist.input_names().iter().enumerate() {
            let place = name.strip_prefix(column).and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
            if let Some(bit) = place.and_then(|bit| bit.parse::<u32>().ok()) {
                row[input] = value >> bit & 1 != 0;
            } else if *name == format!("{column} is missing") {
                row[input] = missing;
            }
        }
    }

    #[test]
    fn numbers_texts_and_gaps_are_compared_as_the_encoder_does() {
        let mut rng = generator(1);
        let rows = 400;
        let ages: Vec<f64> = (0..rows)
            .map(|_| {
                if rng.next_u32().is_multiple_of(9) {
                    f64::NAN
                } else {
                    f64::from(rng.next_u32() % 90) - 30.0
                }
            })
            .collect();
        let halves: Vec<f64> = (0..rows).map(|_| f64::from(rng.next_u32() % 4000) / 4.0).collect();
        let works: Vec<Option<&str>> =
            (0..rows).map(|_| [Some("a"), Some("b"), None][rng.next_u32() as usize % 3]).collect();
        let table = Table::new(vec![
            ("age".into(), Column::Number(Numbers::F64(ages.clone()))),
            ("pay".into(), Column::Number(Numbers::F64(halves.clone()))),
            ("work".into(), Column::Text(Texts::from_rows(works))),
        ])
        .unwrap();
        let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
        let bits = encoder.transform(&table).unwrap();
        let names: Vec<String> = (0..encoder.bits()).map(|bit| encoder.describe(bit)).collect();
        // Only a tree that asks for missing ages has an input that says so.
        let (tree, whole) = (7..)
            .map(|seed| {
                let tree = random_tree(seed, 4, 4, encoder.bits());
                let netlist = Netlist::from_tree(&tree, names.clone()).unwrap();
                let whole = attach(&encoder, &netlist, Some(2)).unwrap().0;
                (tree, whole)
            })
            .find(|(_, whole)| whole.input_names().iter().any(|name| name == "age is missing"))
            .unwrap();
        whole.validate().unwrap();
        assert!(whole.inputs() < 40, "{:?}", whole.input_names());
        for row in 0..rows {
            let mut raw = vec![false; whole.inputs()];
            let gap = ages[row].is_nan();
            feed(&whole, &mut raw, "age", if gap { -17 } else { (ages[row] * 4.0) as i64 }, gap);
            feed(&whole, &mut raw, "pay", (halves[row] * 4.0) as i64, false);
            for (bit, name) in names.iter().enumerate() {
                if let Some(input) = whole.input_names().iter().position(|input| input == name) {
                    raw[input] = bits.get(row, bit);
                }
            }
            let expected = tree.output(|column| bits.get(row, column));
            assert_eq!(whole.evaluate_row(&raw), [expected], "row {row}: {} {}", ages[row], halves[row]);
        }
    }

    #[test]
    fn two_pixels_are_compared_in_few_luts() {
        let bytes: Vec<u8> = (0..=255).flat_map(|byte: u8| [byte, byte.wrapping_mul(89)]).collect();
        let table = Table::from_pixels(2, bytes.clone()).unwrap();
        let settings = EncodeSettings { merge_equal: false, ..EncodeSettings::keep_all(1) };
        let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
        for margin in [-300.0, -256.0, -255.0, -40.5, -1.0, 0.0, 0.5, 8.0, 13.0, 16.0, 254.0, 255.0, 256.0] {
            let bits = [(0, 1), (1, 0)]
                .map(|(column, other)| BitMeaning { column, test: Test::Exceeds { other, margin } });
            let encoder = encoder.clone().with_bits(bits).unwrap().select(&[2, 3]).unwrap();
            let made = encoder.transform(&table).unwrap();
            let tree = crate::circuit::Tree::new(2, 1, 2, vec![0, 1], vec![0b0010]).unwrap();
            let names = ["a", "b"];
            let whole = attach(&encoder, &Netlist::from_tree(&tree, names).unwrap(), None).unwrap().0;
            assert!(whole.luts() <= 2 * 7 + 1, "{margin}: {}", whole.luts());
            for row in 0..256 {
                let pair = [bytes[2 * row], bytes[2 * row + 1]].map(i64::from);
                let holds = |a: i64, b: i64| (a - b) as f64 > margin;
                let expected = [holds(pair[0], pair[1]), holds(pair[1], pair[0])];
                assert_eq!([made.get(row, 0), made.get(row, 1)], expected);
                let mut raw = vec![false; whole.inputs()];
                feed(&whole, &mut raw, "pixel_0", pair[0], false);
                feed(&whole, &mut raw, "pixel_1", pair[1], false);
                assert_eq!(whole.evaluate_row(&raw), [expected[0] && !expected[1]], "{margin}: {pair:?}");
            }
        }
    }

    #[test]
    fn pixels_are_eight_inputs() {
        let bytes: Vec<u8> = (0..=255).flat_map(|byte: u8| [byte, byte.reverse_bits()]).collect();
        let table = Table::from_pixels(2, bytes).unwrap();
        let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
        let bits = encoder.transform(&table).unwrap();
        let tree = random_tree(3, 3, 3, encoder.bits());
        let names = crate::circuit::column_names(encoder.bits());
        let whole = attach(&encoder, &Netlist::from_tree(&tree, names).unwrap(), None).unwrap().0;
        for byte in 0..=255u8 {
            let mut raw = vec![false; whole.inputs()];
            feed(&whole, &mut raw, "pixel_0", byte.into(), false);
            feed(&whole, &mut raw, "pixel_1", byte.reverse_bits().into(), false);
            let expected = tree.output(|column| bits.get(byte.into(), column));
            assert_eq!(whole.evaluate_row(&raw), [expected], "{byte}: {:?}", whole.input_names());
        }
    }
}
