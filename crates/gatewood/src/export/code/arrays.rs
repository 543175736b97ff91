//! The constants of generated code: which arrays there are, and what is in them, whatever the language.

use super::program::{GroveProgram, Program};
use super::raw::Raw;
use super::{Body, Code};

/// A constant array. Its name is that in C; Rust's is the same in capitals.
pub(super) struct Array {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) values: Values,
}

/// What an array holds.
pub(super) enum Values {
    /// Numbers without sign, in so many bits.
    Numbers(u32, Vec<u64>),
    /// Truth tables, in so many bits.
    Tables(u32, Vec<u64>),
    /// Numbers with a sign, in 32 bits.
    Signed(Vec<u32>),
    /// Numbers with a fraction.
    Fractions(Vec<f64>),
    /// The same in 32 bits.
    Floats(Vec<f32>),
    /// Whole numbers in 32 bits.
    Integers(Vec<i32>),
    Texts(Vec<String>),
}

/// Bits of the narrowest type for numbers up to `largest`.
pub(super) fn width(largest: u64) -> u32 {
    match largest {
        0..0x100 => 8,
        0x100..0x1_0000 => 16,
        0x1_0000..0x1_0000_0000 => 32,
        _ => 64,
    }
}

impl Values {
    /// Bytes that they take, pointers to texts being of four.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Numbers(bits, values) | Self::Tables(bits, values) => values.len() * *bits as usize / 8,
            Self::Signed(values) => 4 * values.len(),
            Self::Fractions(values) => 8 * values.len(),
            Self::Floats(values) => 4 * values.len(),
            Self::Integers(values) => 4 * values.len(),
            Self::Texts(values) => values.iter().map(|text| 4 + text.len() + 1).sum(),
        }
    }
}

impl Array {
    fn numbers(name: &'static str, about: &'static str, values: impl IntoIterator<Item = u64>) -> Self {
        let values: Vec<u64> = values.into_iter().collect();
        Self {
            name,
            about,
            values: Values::Numbers(width(values.iter().copied().max().unwrap_or(0)), values),
        }
    }

    fn tables(name: &'static str, about: &'static str, values: Vec<u64>) -> Self {
        Self { name, about, values: Values::Tables(width(values.iter().copied().max().unwrap_or(0)), values) }
    }
}

impl Code {
    /// All arrays, in the order in which they are written.
    pub(super) fn arrays(&self) -> Vec<Array> {
        let mut arrays = program_arrays(self.program());
        if let Body::Grove(grove) = &self.body {
            arrays.extend(vote_arrays(grove));
            if !grove.patterns.is_empty() {
                arrays.extend(pattern_arrays(grove));
            }
        }
        arrays.extend(self.raw.iter().flat_map(raw_arrays));
        arrays
    }
}

fn program_arrays(program: &Program) -> Vec<Array> {
    let operations = &program.operations;
    let reads = operations.iter().flat_map(|operation| operation.reads.iter().map(|&read| read.into()));
    vec![
        Array {
            name: "reads",
            about: "What the LUTs read, one after the other: a number below COLUMNS is a column, others are slots.",
            values: Values::Numbers(program.read_width(), reads.collect()),
        },
        Array::numbers(
            "arities",
            "How many inputs each LUT has.",
            operations.iter().map(|operation| operation.reads.len() as u64),
        ),
        Array::tables(
            "tables",
            "The LUTs' tables: bit a is the output at address a.",
            operations.iter().map(|operation| operation.table).collect(),
        ),
        Array::numbers(
            "fills",
            "The slot that each LUT fills.",
            operations.iter().map(|operation| operation.slot.into()),
        ),
    ]
}

fn vote_arrays(grove: &GroveProgram) -> Vec<Array> {
    let votes = &grove.votes;
    let reads = votes.iter().flat_map(|vote| vote.reads.iter().map(|&read| read.into()));
    vec![
        Array::numbers(
            "before",
            "How many LUTs run before each vote.",
            votes.iter().map(|vote| vote.operations.into()),
        ),
        Array::numbers(
            "targets",
            "The margin that each vote is added to.",
            votes.iter().map(|vote| vote.margin.into()),
        ),
        Array::numbers(
            "vote_arities",
            "How many address bits each vote has.",
            votes.iter().map(|vote| vote.reads.len() as u64),
        ),
        Array {
            name: "vote_reads",
            about: "The address bits of the votes, one after the other.",
            values: Values::Numbers(grove.program.read_width(), reads.collect()),
        },
        Array::numbers(
            "lifted",
            "The votes by address, lifted so that none is negative.",
            votes.iter().flat_map(|vote| vote.lifted.iter().map(|&vote| vote.into())),
        ),
        Array::tables(
            "planes",
            "The same votes, one table a bit.",
            votes.iter().flat_map(|vote| grove.planes(vote)).collect(),
        ),
        Array {
            name: "start",
            about: "What the sums start from; a margin is its sum and LIFT.",
            values: Values::Signed(grove.start.clone()),
        },
    ]
}

fn pattern_arrays(grove: &GroveProgram) -> Vec<Array> {
    let (planes, patterns) = (grove.patterns.planes(), grove.patterns.patterns());
    let literals = || patterns.iter().flat_map(|pattern| pattern.literals());
    let columns = planes.inputs().map(|input| input.unwrap_or(0).into());
    vec![
        Array::numbers("plane_columns", "The column of each place of the planes of an image.", columns),
        Array::numbers(
            "pattern_literals",
            "How many literals each pattern has.",
            patterns.iter().map(|pattern| pattern.literals().len() as u64),
        ),
        Array::numbers(
            "literal_places",
            "Where they are before the pattern is moved.",
            literals().map(|literal| planes.place(literal) as u64),
        ),
        Array::numbers(
            "literal_values",
            "What must be there.",
            literals().map(|literal| literal.value.into()),
        ),
        Array::numbers(
            "pattern_across",
            "How often each pattern is moved across.",
            patterns.iter().map(|pattern| pattern.shifts().0 as u64),
        ),
        Array::numbers(
            "pattern_down",
            "How often it is moved down.",
            patterns.iter().map(|pattern| pattern.shifts().1 as u64),
        ),
        Array::numbers(
            "pattern_slots",
            "How many slots it fills, the first ones in order.",
            patterns.iter().map(|pattern| pattern.thresholds().len() as u64),
        ),
        Array::numbers(
            "pattern_thresholds",
            "How many matches make each slot one.",
            patterns.iter().flat_map(|pattern| pattern.thresholds()).map(|&threshold| threshold.into()),
        ),
    ]
}

fn raw_arrays(raw: &Raw) -> Vec<Array> {
    let mut arrays = Vec::new();
    if !raw.number_tests.is_empty() {
        let tests = &raw.number_tests;
        arrays.extend([
            Array::numbers(
                "number_bits",
                "The column of the row that each test of a number fills.",
                tests.iter().map(|test| test.bit.into()),
            ),
            Array::numbers(
                "number_columns",
                "The number it reads.",
                tests.iter().map(|test| test.column.into()),
            ),
            Array::numbers(
                "number_others",
                "The number that is taken from it first, plus one; zero for none.",
                tests.iter().map(|test| test.other.map_or(0, |other| u64::from(other) + 1)),
            ),
            Array::numbers("number_kinds", "What it asks.", tests.iter().map(|test| test.kind as u64)),
            Array {
                name: "number_values",
                about: "What it compares with.",
                values: Values::Fractions(tests.iter().map(|test| test.value).collect()),
            },
        ]);
    }
    if !raw.text_tests.is_empty() {
        let tests = &raw.text_tests;
        arrays.extend([
            Array::numbers(
                "text_bits",
                "The column of the row that each test of a text fills.",
                tests.iter().map(|test| test.bit.into()),
            ),
            Array::numbers("text_columns", "The text it reads.", tests.iter().map(|test| test.column.into())),
            Array::numbers("text_kinds", "What it asks.", tests.iter().map(|test| test.kind as u64)),
            Array::numbers(
                "text_firsts",
                "The first of the values it knows.",
                tests.iter().map(|test| test.values.start as u64),
            ),
            Array::numbers(
                "text_ends",
                "The value after the last of them.",
                tests.iter().map(|test| test.values.end as u64),
            ),
            Array {
                name: "text_values",
                about: "All values that tests know.",
                values: Values::Texts(raw.values.clone()),
            },
        ]);
    }
    arrays
}
